#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandLineState {
  mutating func open() {
    if fault == nil { editor.replace(with: "") }
    recalled = nil
    completion = nil
  }

  mutating func edit(_ change: (inout LineEditor) -> Void) {
    let before = editor.characters
    change(&editor)
    completion = nil
    if editor.characters != before { fault = nil }
  }

  mutating func submitted(_ line: String) {
    remember(line)
    running.append(line)
    fault = nil
    answer = nil
    editor.replace(with: "")
  }

  mutating func rejected(_ line: String, reason: String, column: Int?) {
    if let place = running.firstIndex(of: line) { running.remove(at: place) }
    editor.replace(with: line)
    fault = Fault(text: reason, column: column)
    answer = Answer(isGood: false, text: reason)
  }

  mutating func finished(_ result: CommandResult) {
    let place = running.firstIndex { Self.verb(of: $0) == result.command } ?? running.indices.first
    let line = place.map { running.remove(at: $0) } ?? result.command
    answer = Answer(isGood: result.outcome != .error, text: Self.sentence(line, result))
  }

  private static func verb(of line: String) -> String {
    String(line.drop { $0 == " " }.prefix { $0 != " " })
  }

  private static func sentence(_ line: String, _ result: CommandResult) -> String {
    var text = "\(line) → "
    switch result.outcome {
    case .hit:
      text += result.value.map { Format.bytes($0.count) } ?? "a value"
      if let level = result.level { text += " from \(level.uppercased())" }
    case .miss: text += "miss" + (result.reason.map { " (\($0))" } ?? "")
    case .ok: text += "done"
    case .error: text += "failed: \(result.error ?? "no reason given")"
    }
    if result.microseconds > 0 {
      text +=
        " in \(Format.latency(nanoseconds: Int64(clamping: result.microseconds.multipliedReportingOverflow(by: 1_000).partialValue)))"
    }
    return text + (result.note.map { ", \($0)" } ?? "")
  }
}

extension Command {
  /// The word that begins the line which means this.
  var verb: String {
    switch self {
    case .get: "get"
    case .set: "set"
    case .delete: "del"
    case .clear: "clear"
    case .expire: "expire"
    case .warn: "warn"
    case .run: "run"
    case .stop: "stop"
    case .log: "log"
    case .stats: "stats"
    case .help: "help"
    case .quit: "quit"
    }
  }
}
