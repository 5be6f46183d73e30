package import CacheEngine

/// How severe a line of the log is.
package enum LogLevel: Int, Sendable, CaseIterable, Comparable, Codable {
  case trace, debug, info, notice, warning, error

  /// Five cells.
  package var label: String {
    switch self {
    case .trace: "TRACE"
    case .debug: "DEBUG"
    case .info: "INFO"
    case .notice: "NOTE"
    case .warning: "WARN"
    case .error: "ERROR"
    }
  }

  package var name: String { "\(self)" }

  package init?(name: String) {
    guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// What the engine's logger said.
package struct LogLine: Sendable, Equatable, Codable {
  /// Since 1970-01-01 00:00 UTC.
  package var time: Duration
  package var level: LogLevel
  /// The name of the level of the cache, or of whatever else spoke.
  package var source: String
  /// Untrusted.
  package var text: String
  /// The keys that occur in the text.
  package var keys: [String] = []
  package var request: RequestID?
  /// The number of the event that it tells of.
  package var event: Int?

  package init(
    time: Duration, level: LogLevel, source: String, text: String, keys: [String] = [], request: RequestID? = nil,
    event: Int? = nil
  ) {
    self.time = time
    self.level = level
    self.source = source
    self.text = text
    self.keys = keys
    self.request = request
    self.event = event
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    time = try fields.decode(Duration.self, forKey: .time)
    level = try fields.decode(LogLevel.self, forKey: .level)
    source = try fields.decode(String.self, forKey: .source)
    text = try fields.decode(String.self, forKey: .text)
    // Recordings of older programs do not have them.
    keys = try fields.decodeIfPresent([String].self, forKey: .keys) ?? []
    request = try fields.decodeIfPresent(RequestID.self, forKey: .request)
    event = try fields.decodeIfPresent(Int.self, forKey: .event)
  }

  private enum CodingKeys: CodingKey { case time, level, source, text, keys, request, event }
}

/// The last lines of the log.
///
/// A line keeps its number for as long as it is kept, so that a reader stays where it reads.
package struct LogRing: Sendable {
  package static let capacity = 5_000

  private var kept: [LogLine] = []
  /// The number of the first line that is kept.
  private var dropped = 0
  private let capacity: Int
  /// Lines that never came here.
  package private(set) var lost = 0

  package init(capacity: Int = LogRing.capacity) { self.capacity = max(1, capacity) }

  /// The numbers of the lines that can be read.
  package var numbers: Range<Int> { max(dropped, end - capacity)..<end }
  private var end: Int { dropped + kept.count }

  package subscript(number: Int) -> LogLine? { numbers.contains(number) ? kept[number - dropped] : nil }

  /// The line that tells of an event, or of the next one that has a line.
  package func line(ofEvent event: Int) -> Int? {
    var (low, high) = (numbers.lowerBound, numbers.upperBound)
    // Lines without an event are rare, and take the place of the event before them.
    while low < high {
      let middle = (low + high) / 2
      var probe = middle
      while probe < high, self[probe]?.event == nil { probe += 1 }
      if probe == high {
        high = middle
      } else if self[probe]?.event ?? .max < event {
        low = probe + 1
      } else {
        high = middle
      }
    }
    while low < numbers.upperBound, self[low]?.event == nil { low += 1 }
    return low < numbers.upperBound ? low : nil
  }

  package mutating func append(_ lines: [LogLine], lost: Int) {
    self.lost += min(max(0, lost), .max - self.lost)
    kept += lines
    // Twice the room, so that lines move once in a while and not with every new one.
    guard kept.count >= capacity * 2 else { return }
    dropped += kept.count - capacity
    kept.removeFirst(kept.count - capacity)
  }
}
