import Testing

@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct KeyConditionTests {
  @Test("A condition holds for the keys that it describes")
  func holds() throws {
    let cases: [(KeyCondition, String, String)] = [
      (.prefix("img:"), "img:a", "user:img:"), (.suffix(".png"), "a.png", ".png2"),
      (.contains("x"), "axb", "ab"), (.equals("a"), "a", "A"), (.length(1...2), "日本", "abc"),
      (.not(.equals("a")), "b", "a"), (.any([.equals("a"), .equals("b")]), "b", "c"),
      (.all([.prefix("a"), .suffix("b")]), "acb", "ac"), (.matches(try KeyPattern("[0-9]")), "a1", "a"),
      // As with removals, what a key begins with is its bytes, in any form of its text.
      (.prefix("img:"), "img:\u{301}a", "im"), (.contains(":"), "img:\u{301}a", "img"),
      (.suffix("\u{301}"), ":\u{301}", ":"),
      (.prefix("e\u{301}"), "\u{E9}a", "e"), (.prefix("e"), "ea", "\u{E9}"),
    ]
    for (condition, good, bad) in cases {
      #expect(condition.holds(good), "\(condition.text) \(good)")
      #expect(!condition.holds(bad), "\(condition.text) \(bad)")
    }
  }

  private static let conditions: [KeyCondition] = [
    .prefix("a"), .prefix("ab"), .prefix("b"), .suffix("b"), .suffix("ab"), .contains("a"), .contains("ba"),
    .equals("ab"), .equals("ba"), .length(0...1), .length(2...3), .length(1...1), .prefix("a\u{323}"),
    .suffix("\u{323}b"),
  ]

  @Test("What is said to exclude one another never holds at once, however it is nested")
  func excludes() {
    let nested =
      Self.conditions
      + Self.conditions.flatMap { first in
        Self.conditions.flatMap { [KeyCondition.all([first, $0]), .any([first, $0]), .not(.any([first, $0]))] }
      } + Self.conditions.map { .not($0) }
    let letters = ["", "a", "b", "c", "\u{323}"]
    let keys = Set(letters.flatMap { a in letters.flatMap { b in letters.map { a + b + $0 } } })
    var found = 0
    for left in nested {
      let held = keys.filter { left.holds($0) }
      if left.isImpossible { #expect(held.isEmpty, "\(left.text)") }
      for right in Self.conditions + Self.conditions.map({ .not($0) }) where left.excludes(right) {
        found += 1
        let both = held.filter { right.holds($0) }
        #expect(both.isEmpty, "\(left.text) / \(right.text): \(both)")
      }
    }
    #expect(found > 500)
  }

  @Test("A part that joins its neighbour to one character excludes no length")
  func joined() {
    let (rocket, short) = (KeyCondition.suffix("\u{200D}\u{1F680}"), KeyCondition.length(0...1))
    #expect(rocket.holds("\u{1F469}\u{200D}\u{1F680}") && short.holds("\u{1F469}\u{200D}\u{1F680}"))
    #expect(!rocket.excludes(short))
  }

  @Test(
    "What plainly excludes one another is seen",
    arguments: [
      (.prefix("img:"), .prefix("user:")), (.equals("a"), .prefix("b")), (.prefix("abc"), .length(0...2)),
      (.not(.prefix("a")), .prefix("ab")), (.suffix(".png"), .suffix(".txt")),
      (.any([.prefix("a"), .prefix("b")]), .prefix("c")), (.not(.length(0...5)), .length(1...2)),
      (.not(.all([.prefix("a"), .suffix("c")])), .all([.prefix("ab"), .suffix("c")])),
    ] as [(KeyCondition, KeyCondition)])
  func seen(left: KeyCondition, right: KeyCondition) {
    #expect(left.excludes(right))
    #expect(right.excludes(left))
    #expect(KeyCondition.all([left, right]).isImpossible)
  }

  @Test("Digests are those of FIPS 180-4 and of NIST's vectors, at every length around a block")
  func digests() {
    #expect(
      SHA256.hexadecimal(of: "".utf8) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hexadecimal(of: "abc".utf8) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hexadecimal(of: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      SHA256.hexadecimal(of: repeatElement(0x61, count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    // One digest over the digests of all lengths: printf 'a%.0s' … | sha256sum, joined.
    let all = (0...130).map { SHA256.hexadecimal(of: repeatElement(0x61, count: $0)) }.joined()
    #expect(SHA256.hexadecimal(of: all.utf8) == "5eee4c50e1b5ec4f1a47f34c25ca988850b49da7904f5ab1b3abc5cc0ae66ef9")
  }

  @Test("Steps turn a key in their order")
  func steps() {
    let steps: [KeyStep] = [.lowercase, .prefix("v1/"), .template("users/{key}.json"), .suffix("?"), .uppercase]
    #expect(steps.reduce("Ab") { $1.apply(to: $0) } == "USERS/V1/AB.JSON?")
    #expect(KeyStep.sha256.apply(to: "abc").count == 64)
  }
}
