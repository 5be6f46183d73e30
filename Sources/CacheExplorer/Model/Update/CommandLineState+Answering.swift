package import ExplorerCommands
package import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CommandLineState {
  /// Puts a character into the line, or into the search for an older one.
  package mutating func type(_ text: String) {
    if let query = search {
      find(query + text, from: 0)
    } else {
      edit { $0.insert(text) }
    }
  }

  package mutating func open() {
    search = nil
    if fault == nil { editor.replace(with: "") }
    recalled = nil
    completion = nil
  }

  /// Releases a line that was not understood, which would be there again at the next one; the history has it.
  mutating func givenUp() { fault = nil }

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

  package mutating func rejected(_ line: String, reason: String, column: Int?) {
    if let place = running.firstIndex(of: line) { running.remove(at: place) }
    editor.replace(with: line)
    fault = Fault(text: reason, column: column)
    answer = Answer(isGood: false, text: reason)
  }

  /// `line`: What was asked; two commands of one verb may end in another order than they began.
  package mutating func finished(_ result: CommandResult, line: String?) {
    if let place = running.firstIndex(of: line ?? result.command) { running.remove(at: place) }
    let shown = line.map { $0.isEmpty ? result.command : $0 } ?? result.command
    answer = Answer(
      isGood: result.outcome != .error, text: Self.sentence(shown, result), lineLength: shown.count,
      reason: result.outcome == .error ? result.error : nil, secrets: grammar.secrets(shown))
  }

  private static func sentence(_ line: String, _ result: CommandResult) -> String {
    var text = "\(line) → "
    switch result.outcome {
    case .hit:
      text += result.value.map { Format.bytes(result.size ?? $0.count) } ?? "a value"
      if let level = result.level { text += " from \(level.uppercased())\(result.isStale ? ", stale," : "")" }
    case .miss: text += "miss" + (result.reason.map { " (\($0))" } ?? "")
    case .ok: text += "done"
    case .error: text += "failed"
    }
    if result.microseconds > 0 {
      text += " in \(Format.latency(nanoseconds: Int64(min(result.microseconds * 1_000, 9e18))))"
    }
    if result.outcome == .error { text += ": \(result.error ?? "no reason given")" }
    // There is one row: what stands on lines of its own elsewhere stands side by side here.
    let note = result.note?.split(separator: "\n").map { $0.trimmingPrefix(while: { $0 == " " }) }.joined(
      separator: " · ")
    return text + (note.map { ", \($0)" } ?? "")
  }
}
