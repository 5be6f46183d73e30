import Foundation
import Testing

@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct CommandTextTests {
  /// Texts that have hurt readers of JSON and terminals.
  private static let hostile: [String] = {
    var texts = (0...0x9f as ClosedRange<UInt32>).compactMap(UnicodeScalar.init).map { "a\(Character($0))b" }
    texts += ["", "\"", "\\", "\\\"", "\\u0041", "/", "</script>", "\r\n", "\u{2028}\u{2029}", "\u{202e}abc\u{202c}"]
    texts += ["\u{feff}", "\u{200b}", "\u{e0041}", "👩‍👩‍👧‍👦", "e\u{301}", "\u{10ffff}", "\u{d7ff}\u{e000}", "\u{fffd}", "日本"]
    texts.append(texts.joined())
    return texts
  }()

  /// Whether a terminal would do anything but show this.
  private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.isInvisibleControl
  }

  @Test("Every text comes back from JSON as it was, and its line holds nothing invisible")
  func text() throws {
    for text in Self.hostile {
      let line = JSONText.array([.text(text)]).line
      #expect(!line.unicodeScalars.contains(where: isControl), "\(text.debugDescription)")
      let array = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String])
      #expect(array.map { Array($0.unicodeScalars) } == [Array(text.unicodeScalars)], "\(text.debugDescription)")
    }
  }

  @Test("Hostile names of fields come back as well")
  func names() throws {
    for text in Self.hostile {
      let line = JSONText.object([(text, .number(1))]).line
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Int])
      #expect(object.map { Array($0.key.unicodeScalars) } == [Array(text.unicodeScalars)], "\(text.debugDescription)")
    }
  }

  @Test("Fields keep their order, and what is absent is left out")
  func order() {
    #expect(
      JSONText.object([("b", .number(.min)), ("c", nil), ("a", .array([.text("x"), .object([])]))]).line
        == #"{"b":-9223372036854775808,"a":["x",{}]}"#)
  }

  @Test("An answer is one line of JSON with its fields in a fixed order")
  func answer() {
    let result = CommandResult(
      command: "get", outcome: .hit, level: "disk", reason: nil, value: Data("{\"a\":1}\n".utf8), microseconds: 412,
      error: nil, note: "back-filled memory")
    #expect(
      result.json
        == #"{"command":"get","outcome":"hit","level":"disk","value":"{\"a\":1}\n","microseconds":412,"#
        + #""note":"back-filled memory"}"#)
  }

  @Test("A value that is not text goes into JSON as base64")
  func binary() {
    let result = CommandResult(command: "get", outcome: .hit, value: Data([0xff, 0x00]), microseconds: 1)
    #expect(result.json == #"{"command":"get","outcome":"hit","value":{"base64":"/wA="},"microseconds":1}"#)
  }

  @Test("An answer of hostile texts comes back from JSON as it was")
  func hostileAnswer() throws {
    for text in Self.hostile {
      let result = CommandResult(
        command: "get", outcome: .error, level: text, reason: text, value: Data(text.utf8), microseconds: 1,
        error: text, note: text)
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(result.json.utf8)) as? [String: Any])
      for name in ["level", "reason", "value", "error", "note"] {
        let back = try #require(object[name] as? String)
        #expect(Array(back.unicodeScalars) == Array(text.unicodeScalars), "\(name) \(text.debugDescription)")
      }
    }
  }

  @Test(
    "Outside text is shown with everything in it visible",
    arguments: [
      ("plain — “text” é 👩", "plain — “text” é 👩"), ("\u{1b}[2J", "\\u{1b}[2J"),
      ("a\r\nb\tc\0", "a\\u{d}\\u{a}b\\u{9}c\\u{0}"),
      ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"), ("\u{202e}x\u{2066}", "\\u{202e}x\\u{2066}"), ("\u{2028}", "\\u{2028}"),
      ("\u{feff}\u{200b}", "\\u{feff}\\u{200b}"), ("", ""),
    ])
  func visible(text: String, shown: String) {
    #expect(harmless(text) == shown)
  }

  @Test("A sentence never holds a control character but the ends of its lines")
  func sentence() {
    for text in Self.hostile {
      let result = CommandResult(
        command: "get", outcome: .error, level: text, reason: text, value: Data(text.utf8), microseconds: 1,
        error: text, note: text)
      let harmful = result.sentence.unicodeScalars.filter { isControl($0) && $0 != "\n" }
      #expect(harmful.isEmpty, "\(text.debugDescription)")
    }
  }

  @Test("A sentence says what was found, where, and how long it took")
  func sentenceText() {
    let hit = CommandResult(
      command: "get", outcome: .hit, level: "disk", value: Data("one\ntwo".utf8), microseconds: 9, note: "noted")
    #expect(hit.sentence == "get: hit from disk 7 bytes in 9µs; noted\n  one\n  two")
    let windows = CommandResult(command: "get", outcome: .hit, value: Data("one\r\ntwo".utf8), microseconds: 9)
    #expect(windows.sentence == "get: hit 8 bytes in 9µs\n  one\n  two")
    let miss = CommandResult(command: "get", outcome: .miss, reason: "expired", microseconds: 3)
    #expect(miss.sentence == "get: miss (expired) in 3µs")
    let binary = CommandResult(command: "get", outcome: .hit, value: Data([0xff]), microseconds: 3)
    #expect(binary.sentence == "get: hit 1 byte in 3µs\n  (1 byte that is not text)")
    let failed = CommandResult(command: "set", outcome: .error, microseconds: 3, error: "there is no level “x”")
    #expect(failed.sentence == "set: error after 3µs: there is no level “x”")
    let refused = CommandResult(
      command: "load", outcome: .error, microseconds: 0, error: "c.yaml: error: no\nc.yaml: error: nor that")
    #expect(refused.sentence == "load: c.yaml: error: no\n  c.yaml: error: nor that")
  }

  @Test("A long value is shown by its beginning")
  func preview() {
    let lines = CommandResult(
      command: "get", outcome: .hit, value: Data(String(repeating: "x\n", count: 500).utf8), microseconds: 1)
    #expect(lines.sentence.split(separator: "\n").count == 5)
    #expect(lines.sentence.hasSuffix("\n  x\n  …"))
    let long = CommandResult(
      command: "get", outcome: .hit, value: Data(String(repeating: "x", count: 100_000).utf8), microseconds: 1)
    #expect(long.sentence.count < 2_100)
    #expect(long.sentence.hasSuffix("\n  …"))
  }
}
