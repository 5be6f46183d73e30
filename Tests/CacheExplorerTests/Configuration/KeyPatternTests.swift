import Testing

@testable import ExplorerText

struct KeyPatternTests {
  private static let patterns = [
    "a", "ab", "^a", "b$", "^$", "a|b", "^(a|b|)c$", "a*", "^a*$", "a+b", "^a?b$", "(ab)+c", "^(?:a|b)*c$", "a{2}",
    "^a{2,}$", "^a{0,2}$", "^(ab){1,2}c?$", "a{0}b", ".", "^.$", "^..$", "[ab]", "[^ab]", "^[a-c]+$", "[a-]", "[-a]",
    "[\\]]",
    "\\d", "^\\D+$", "\\w", "\\W", "\\s", "\\S", "\\bab\\b", "\\Ba", "\\.", "\\\\", "^a*?b$", "(a*)*b", "((a|b)+)+c",
    "(?i)A", "(?i)^[A-C]+$", "\\Aa", "c\\z", "[\\d:]+$", "^[^\\d:]+$", "a(b(c|)|)a", "()", "|a", "[日-本]", "^(a?){3}$",
    "^a{,2}$", "(?i)[A-z]", "(?i)[0-Z]", "(?i)[Z-a]", "(?i)[^A-z]", "[a~b]", "[-~]", "[é]", "\\r\\n", "a\\r\\nb",
    "^[^\\r\\n]$", "[\\r\\n+]", "^\\r\\n{2}$", "a\\r\\n?b", "^(\\r\\n)+$",
  ]
  private static let keys =
    ["", "é", "e\u{301}", "ä", "日本", "A", "aB", "user:42", "a.b", "a\\b", "x ab y", "]", "-", "a\nb", "\r\n", "_", "C"]
    + ["a\r\nb", "a\rb", "\r\n\r\n", "^", "Z", "z", "~", "+", "²", "½", "一", "Ⅷ", "‿", "1\u{301}"]
    + ["a", "b", "c"].flatMap { first in
      ["", "a", "b", "c"].flatMap { second in ["", "a", "b", "c"].map { first + second + $0 } }
    }

  @Test("a pattern finds what Swift's regular expressions find", arguments: patterns)
  func agrees(_ text: String) throws {
    let pattern = try KeyPattern(text)
    let regex = try Regex(text)
    for key in Self.keys {
      #expect(pattern.matches(key) == (try regex.firstMatch(in: key) != nil), "/\(text)/ in “\(key)”")
    }
  }

  @Test("a range of letters in any case holds both cases of what it names, and no more")
  func anyCase() throws {
    let pattern = try KeyPattern("(?i)[À-Þ]")
    for key in ["É", "é", "×"] { #expect(pattern.matches(key), "\(key)") }
    for key in ["÷", "e", "ß"] { #expect(!pattern.matches(key), "\(key)") }
    #expect(try KeyPattern("(?i)[\u{2100}-\u{214f}]").matches("\u{212a}"))
    #expect(try !KeyPattern("(?i)[A-Z]").matches("ß"))
  }

  @Test("an end of a line in a range is one of its two signs")
  func lineEnds() throws {
    for key in ["\t", "\n", "\r"] { #expect(try KeyPattern("^[\\t-\\r\\n]$").matches(key)) }
    #expect(try KeyPattern("[\\r\\n-z]").matches("b"))
    #expect(try KeyPattern("[\\r\\n-]").matches("\r\n"))
  }

  @Test("what is repeated is counted as often as it is compared")
  func counted() throws {
    let letters = String((0..<900).compactMap { Unicode.Scalar(0x4e00 + $0).map(Character.init) })
    #expect(try !KeyPattern("[\(letters)]b").matches(String(repeating: "a", count: 4_000)))
    #expect(throws: QuantityError.self) { try KeyPattern("[\(letters)]{500}b") }
    #expect(throws: QuantityError.self) { try KeyPattern("[\(letters)][\(letters)]") }
    #expect(try KeyPattern("a{1000}").matches(String(repeating: "a", count: 1_000)))
    #expect(try KeyPattern("a{0,500}").matches(String(repeating: "a", count: 500)))
    #expect(throws: QuantityError.self) { try KeyPattern("a{0,501}") }
  }

  @Test("a search ends however many ways there are through the pattern", .timeLimit(.minutes(1)))
  func ends() throws {
    let key = String(repeating: "a", count: 2_000) + "!"
    for text in ["(a+)+b", "(a|a)*b", "^(\\w+\\s?)*$", "a.*a.*a.*b", "(a?){300}b"] {
      #expect(try !KeyPattern(text).matches(key), "/\(text)/")
      #expect(try KeyPattern(text).matches(key.replacing("!", with: "b")), "/\(text)/")
    }
  }

  @Test(
    "what is no pattern is rejected, with the remedy",
    arguments: [
      ("(", "close"), (")", "close"), ("[a", "close"), ("[]", "close"), ("a**", "close"), ("*a", "close"),
      ("a{", "close"),
      ("a{2", "close"), ("a{+2}", "close"), ("a{-0}", "close"), ("a{2,+3}", "close"), ("a{,}", "close"),
      ("a{70000}", "repeat less"),
      ("[\\w&&\\d]", "use"), ("[a-z--b]", "use"), ("[a--b]", "use"), ("[a~~b]", "use"),
      ("\\x41", "use"), ("a(?i)b", "use"), ("a{x}", "close"), ("a{3,2}", "close"), ("[b-a]", "close"), ("\\", "close"),
      ("a|*", "close"),
      ("[[:digit:]]", "close"), ("[a-\\d]", "close"), ("a{}", "close"), ("(?=a)", "use"), ("(?<x>a)", "use"),
      ("(a)\\1", "use"),
      ("a++", "use"), ("\\p{L}", "use"), ("a{1001}", "repeat less"), ("(a{100}){100}", "repeat less"),
      ("((a{999}){999}){999}", "repeat less"),
      (String(repeating: "(", count: 10_000), "nest less"), (String(repeating: "a", count: 1_001), "repeat less"),
      ("[\(String(repeating: "a", count: 1_001))]", "repeat less"),
      ("\(String(repeating: "a", count: 500))\\p{L}", "use"), ("\(String(repeating: "a", count: 500))(", "close"),
      ("(a\(String(repeating: "\u{301}", count: 500))", "close"),
    ])
  func rejects(_ text: String, _ remedy: String) {
    let error = #expect(throws: QuantityError.self) { try KeyPattern(text) }
    #expect(error?.remedy.contains(remedy) == true, "\(error?.remedy ?? "")")
    // A row of the screen has room for the remedy, however long the pattern.
    #expect((error?.message.count ?? 0) < 62, "\(error?.message ?? "")")
  }
}
