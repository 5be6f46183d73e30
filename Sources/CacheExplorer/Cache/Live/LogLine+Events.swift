package import CacheEngine
package import ExplorerState
import Logging

extension LogLine {
  /// The lines that the engine's logger writes for events.
  ///
  /// `now`: This moment by the clock of the events.
  /// `wall`: This moment by the time of day.
  /// `first`: The number of the first event.
  /// `levels`: Those of the cache, which may know keys by other names.
  package static func lines(
    for events: [CacheEvent], now: CacheInstant, wall: Duration, first: Int, levels: [LiveCache.Level] = []
  ) -> [LogLine] {
    events.enumerated().compactMap { index, event in
      guard let severity = event.severity else { return nil }
      let word = event.kind.description
      let padded = word + String(repeating: " ", count: max(0, 6 - word.count))
      return LogLine(
        time: wall - event.time.duration(to: now), level: LogLevel(severity), source: event.level ?? "cache",
        text: ([padded] + event.particulars).joined(separator: " "),
        keys: event.keys(in: levels), request: event.request, event: first + index)
    }
  }
}

extension LogLevel {
  init(_ severity: Logger.Level) {
    self =
      switch severity {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error, .critical: .error
      }
  }
}
