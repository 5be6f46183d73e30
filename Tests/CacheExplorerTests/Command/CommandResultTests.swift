import Foundation
import Testing

@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

@Suite struct CommandResultTests {
  @Test("an answer is one line of JSON with its fields in order, absent ones left out")
  func json() {
    var result = CommandResult(command: "get", outcome: .hit, microseconds: 12)
    result.level = "memory"
    result.value = Data("a\"b\n".utf8)
    #expect(result.json == #"{"command":"get","outcome":"hit","level":"memory","value":"a\"b\n","microseconds":12}"#)
    result.value = Data([0xff, 0x00])
    #expect(result.json.contains(#""value":{"base64":"/wA="}"#))
  }

  @Test("any text comes back from JSON as it was, and its line holds no control character")
  func hostileText() throws {
    let scalars = (0...0x2100).compactMap { UnicodeScalar(UInt32($0)) } + ["\u{1F600}", "\u{E0001}"]
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    let line = JSONText.object([("text", .text(text))]).line
    #expect(
      !line.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) || $0.isInvisibleControl })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    #expect(object["text"].map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
  }

  @Test("a sentence shows what is hostile and obeys none of it")
  func sentence() {
    var result = CommandResult(command: "get", outcome: .hit, microseconds: 5)
    result.value = Data("\u{1b}[2J\u{202e}\u{9b}x".utf8)
    result.error = "\u{7}bell"
    result.note = "line\nline\u{1b}"
    #expect(
      !result.sentence.unicodeScalars.contains {
        $0.value != 0x0a && ($0.value < 0x20 || $0.isInvisibleControl || $0.value == 0x9b)
      })
    #expect(result.sentence.contains("\\u{1b}[2J"))
  }
}
