import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

@Suite("Glyphs on their way to the terminal")
struct DrawnGlyphTests {
  /// As the C library counts, for the characters used here.
  private func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x300...0x36f, 0x200b...0x200f, 0x202a...0x202e, 0xfe0f: 0
    case 0x3000...0x9fff, 0x1f300...0x1faff: 2
    case 0xe000: -1
    default: 1
    }
  }

  private func draw(_ glyph: String, room: Int = 1) -> DrawnGlyph {
    DrawnGlyph.resolve(Glyph(glyph), room: room, widthOf: width)
  }

  @Test(
    "no control character gets through",
    arguments: ["\u{1b}", "\u{0}", "\n", "\r\n", "\u{7f}", "\u{9b}", "\u{85}", "a\u{1b}", "e\u{301}\u{9b}"])
  func controls(glyph: String) {
    let drawn = draw(glyph)
    #expect(drawn.base == "?")
    #expect(drawn.marks.isEmpty)
    #expect(ASCIIGlyphs.lookAlike(of: glyph) == "?")
  }

  @Test("what the C library sees wider than its cell is not drawn")
  func tooWide() {
    #expect(draw("日", room: 1) == .unknown)
    #expect(draw("日", room: 2) == DrawnGlyph(base: "日", width: 2))
  }

  @Test("what the C library cannot print is not drawn")
  func unprintable() {
    #expect(draw("\u{e000}") == .unknown)
  }

  @Test("a joined emoji, a direction control and a lone mark are not drawn")
  func joined() {
    #expect(draw("👨\u{200d}👩", room: 2) == .unknown)
    #expect(draw("a\u{202e}") == .unknown)
    #expect(draw("\u{301}") == .unknown)
  }

  @Test("up to four marks stay with their letter")
  func marks() {
    #expect(draw("e\u{301}") == DrawnGlyph(base: "e", marks: ["\u{301}"]))
    #expect(draw("e\u{301}\u{302}\u{303}\u{304}").marks.count == 4)
    #expect(draw("e\u{301}\u{302}\u{303}\u{304}\u{305}") == .unknown)
  }

  @Test(
    "in ASCII a picture keeps its meaning",
    arguments: [
      ("─", "-"), ("│", "|"), ("┌", "+"), ("╭", "+"), ("┼", "+"), ("█", "#"), ("░", "."), ("●", "o"), ("○", "O"),
      ("·", "."), ("✕", "x"), ("▸", ">"), ("▲", "^"), ("µ", "u"), ("×", "x"), ("a", "a"), ("日", "?"), ("é", "?"),
      ("±", "~"), ("‖", "|"), ("▾", "v"), ("÷", "/"), ("≠", "!"), ("∞", "*"),
    ] as [(String, Unicode.Scalar)])
  func ascii(glyph: String, expected: Unicode.Scalar) {
    #expect(ASCIIGlyphs.lookAlike(of: glyph) == expected)
  }

  @Test("in ASCII a hit, a miss and an error stay different")
  func asciiMarks() {
    let marks = ["●", "○", "✕", "·"].map { ASCIIGlyphs.lookAlike(of: $0) }
    #expect(Set(marks).count == marks.count)
  }

  @Test("nothing but printable ASCII is left in ASCII")
  func onlyASCII() {
    for value in UInt32(0)...0x2fff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let shown = ASCIIGlyphs.lookAlike(of: String(scalar))
      #expect((0x20...0x7e).contains(shown.value), "for U+\(String(value, radix: 16))")
    }
  }

  @Test("in ASCII a sign takes the blanks behind it where one of them is left, and a comparison that before its number")
  func asciiRows() {
    let rows = [
      ("long…    9", "long...  9"), ("long… 9", "long. 9"), ("long…   9", "long... 9"), ("long…", "long."),
      ("≥ debug · 日本", ">=debug - ? ?"), ("≥80%", ">80%"), ("told 3 ≤ 4ms", "told 3 <=4ms"), ("a → b", "a > b"),
      ("hit ··▁ 3", "hit .._ 3"), ("24m · ∞ 7", "24m - * 7"),
    ]
    for (row, expected) in rows { #expect(Canvas(lines: [row]).asciiLines == [expected]) }
    #expect(ASCIIGlyphs.text("80% ≥ 79%, …\na→b · 日") == "80% >= 79%, ...\na->b - ?")
  }
}
