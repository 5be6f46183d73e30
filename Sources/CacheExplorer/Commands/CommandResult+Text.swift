import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CommandResult {
  /// The answer as one line of JSON; what is absent is left out.
  package var json: String {
    JSONText.object([
      ("command", .text(command)), ("outcome", .text(outcome.rawValue)), ("level", level.map(JSONText.text)),
      ("stale", isStale ? .flag(true) : nil),
      ("reason", reason.map(JSONText.text)), ("value", value.map(Self.json)), ("microseconds", .fraction(microseconds)),
      ("error", error.map(JSONText.text)), ("note", note.map(JSONText.text)), ("expectation", expectation?.json),
      ("levels", details),
    ]).line
  }

  private static func json(_ value: Data) -> JSONText {
    if let text = String(validating: value, as: UTF8.self) { return .text(text) }
    return .object([("base64", .text(value.base64EncodedString()))])
  }

  /// The answer as a sentence, in which nothing from outside can do harm on a terminal.
  package var sentence: String {
    if let expectation {
      guard !expectation.holds else { return "expect: ok \(harmless(expectation.sentence))" }
      return
        (["expect: failed \(harmless(expectation.expectation.text))"]
        + expectation.lines.map { "  " + harmless($0) }).joined(separator: "\n")
    }
    if outcome == .error {
      let time = took.map { " after \($0)" } ?? ""
      let why = error ?? "no reason given"
      // What is written as a compiler writes it has the word, and several lines if several things are wrong.
      guard why.contains(": error: ") else { return harmless("\(command): error\(time): \(why)") }
      return "\(command): " + why.split(separator: "\n").map { harmless(String($0)) }.joined(separator: "\n  ")
    }
    var parts = ["\(command): \(outcome.rawValue)"]
    if let level { parts.append("from \(level)\(isStale ? ", stale," : "")") }
    if let reason { parts.append("(\(reason))") }
    if let error { parts.append(error) }
    if let value { parts.append(Format.counted(size ?? value.count, "byte", isGrouped: false)) }
    if let took { parts.append("in \(took)") }
    var text = harmless(parts.joined(separator: " "))
    if let note { text += "; " + note.split(separator: "\n").map { harmless(String($0)) }.joined(separator: "\n  ") }
    guard let value, !value.isEmpty else { return text }
    return text + "\n" + Self.preview(value, of: size ?? value.count)
  }

  /// How long it took, as people say it; `nil` where nothing was measured.
  private var took: String? {
    microseconds > 0 ? Format.latency(nanoseconds: Int64(min(microseconds * 1_000, 9e18))) : nil
  }

  /// The beginning of a value, on lines of its own.
  private static func preview(_ value: Data, of size: Int) -> String {
    let isWhole = size == value.count
    // A cut may go through a character.
    let known = isWhole ? value : value.prefix(2_000)
    let text = isWhole ? String(validating: known, as: UTF8.self) : String(decoding: known, as: UTF8.self)
    guard let text else {
      let bytes = Format.counted(value.count, "byte", isGrouped: false)
      return "  (\(bytes) that \(value.count == 1 ? "is" : "are") not text)"
    }
    let shown = text.prefix(2_000)
    let lines = shown.lines.map { "  " + harmless(String($0)) }
    return lines.prefix(3).joined(separator: "\n")
      + (lines.count > 3 || shown.endIndex < text.endIndex || !isWhole ? "\n  …" : "")
  }
}
