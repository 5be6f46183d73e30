import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct KeyMaskTests {
  @Test("a key has one name, another key another one, and both are others with another salt")
  func names() {
    let (mask, other) = (KeyMask(salt: 7), KeyMask(salt: 8))
    #expect(mask.name(of: "user:1") == mask.name(of: "user:1"))
    #expect(mask.name(of: "user:1") != mask.name(of: "user:2"))
    #expect(mask.name(of: "user:1") != other.name(of: "user:1"))
    let names = Set((0..<1_000).map { mask.name(of: "user:\($0)") })
    #expect(names.count == 1_000)
    for name in names { #expect(name.hasPrefix("key-") && name.utf8.count == 10) }
  }

  @Test("in a text every key is hidden, also one that begins with another")
  func texts() {
    let mask = KeyMask(salt: 7)
    let text = mask.hide(["user:1", "user:12"], in: "evict user:12 for user:1 (user:1)")
    #expect(!text.contains("user"))
    #expect(text == "evict \(mask.name(of: "user:12")) for \(mask.name(of: "user:1")) (\(mask.name(of: "user:1")))")
    #expect(mask.hide([""], in: "as it was") == "as it was")
    let name = mask.name(of: "a b/ü")
    #expect(mask.hide(["a b/ü"], in: "x://y/a%20b%2F%C3%BC x://y/a%20b/%C3%BC") == "x://y/\(name) x://y/\(name)")
    let hostile = mask.name(of: "k\u{1b}[2J")
    #expect(mask.hide(["k\u{1b}[2J"], in: "no \(harmless("k\u{1b}[2J"))") == "no \(hostile)")
    // What combines makes one character with the sign before a key, or with the last one of it.
    let combining = [("\u{301}key", "“\u{301}key”", "”"), ("a", "“a\u{301}", "\u{301}"), ("é", "“e\u{301}”", "”")]
    for (key, text, end) in combining {
      let hidden = mask.hide([key], in: text)
      #expect(hidden.unicodeScalars.elementsEqual("“\(mask.name(of: key))\(end)".unicodeScalars), "\(hidden)")
    }
  }

  @Test("A name that stands for a key is not looked through for a short one")
  func namesInNames() {
    let mask = KeyMask(salt: 7)
    for key in ["k", "key", "e", "-"] + mask.name(of: "0").suffix(6).map({ String($0) }) {
      let name = mask.name(of: key)
      #expect(mask.hide([key, key], in: "<\(key)> \(key)") == "<\(name)> \(name)")
      #expect(mask.hide(["user:1", key], in: "<user:1>") == "<\(mask.name(of: "user:1"))>")
    }
    // In front of an ellipsis as well.
    let (key, other) = ("abcdefgh", "\(mask.name(of: "abcdefgh").suffix(4))zz")
    #expect(mask.hide([key, other], in: "abcdefgh…") == "\(mask.name(of: key))…")
    #expect(mask.hide([String(repeating: "long ", count: 9), "k"], in: "long l…").hasPrefix("key-"))
    #expect(mask.hide([String(repeating: "long ", count: 9), "k"], in: "long l…").unicodeScalars.count == 11)
  }

  @Test("Where an error shows the beginning of a long key, or of an address that ends with it, that is hidden as well")
  func beginnings() {
    let mask = KeyMask(salt: 7)
    let key = "owner/" + String(repeating: "secret ", count: 50)
    let name = mask.name(of: key)
    let error = CacheError(missing: key, reason: .absent).message
    #expect(error.contains("secret") && error.contains("…"))
    #expect(mask.hide([key], in: error) == "there is no value for the key \(name)… (356 bytes) (absent)")
    #expect(mask.hide([key], in: "http://h/owner%2Fsecr… is no answer") == "http://h/\(name)… is no answer")
    #expect(mask.hide([key], in: "the owner…, and so on…") == "the \(name)…, and so on…")
    #expect(mask.hide([key], in: "an own…") == "an own…")
  }

  @Test("Hidden, no key is on any screen, nor in what is inspected, asked, answered or exported")
  func nowhere() throws {
    var scene = try ScreensScene.make(Size(width: 200, height: 60))
    scene.press(.character("P"))
    let secrets = ["user:", "feed:", "日本語", "img:", "thumb:", "search:"]
    func expectHidden(_ text: String, _ location: SourceLocation = #_sourceLocation) {
      for secret in secrets { #expect(!text.contains(secret), "\(secret) in\n\(text)", sourceLocation: location) }
    }
    for page in Page.allCases where page != .config {
      scene.type("\(page.key)")
      expectHidden(scene.lines.joined(separator: "\n"))
      for _ in 0..<8 {
        scene.press(.enter)
        expectHidden(scene.lines.joined(separator: "\n"))
        scene.press(.escape, .down)
      }
    }
    scene.type("2d")
    expectHidden(scene.lines.joined(separator: "\n"))
    #expect(scene.lines.contains { $0.contains("delete key-") })
    scene.type("n:")
    scene.send(.finished(CommandResult(command: "set", outcome: .ok, microseconds: 3), line: "set user:42 secretvalue"))
    expectHidden(scene.lines.joined(separator: "\n"))
    #expect(!scene.lines.contains { $0.contains("secretvalue") })
    scene.press(.escape)
    for (key, formats) in [("2", ExportFormat.allCases), ("3", ExportFormat.allCases), ("6", ExportFormat.allCases)] {
      scene.type(key)
      for format in formats { expectHidden(try #require(ViewExport(scene.model, as: format)).text) }
    }
    scene.type("1P")
    #expect(scene.lines.contains { $0.contains("user:42") })
  }
}
