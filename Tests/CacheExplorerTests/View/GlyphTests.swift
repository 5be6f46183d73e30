import Testing

@testable import ExplorerText

struct GlyphTests {
  @Test(
    "A glyph gives back the text that it was made of",
    arguments: [
      "", "a", "─", "日", "😀", "\0", "\u{10ffff}", "e\u{301}", "日\u{20dd}", "e\u{301}\u{302}\u{303}\u{10ffff}", "a\0",
    ])
  func roundTrip(text: String) {
    let glyph = Glyph(text)
    #expect(glyph.text == text)
    #expect(Array(glyph.text.unicodeScalars) == Array(text.unicodeScalars))
    #expect(glyph.isEmpty == text.isEmpty)
    #expect([glyph.base].compactMap(\.self) + glyph.marks == Array(text.unicodeScalars))
    #expect(glyph.hasMarks == (text.unicodeScalars.count > 1))
  }

  @Test("Glyphs are equal where their texts are", arguments: ["a", "日", "e\u{301}\u{302}\u{303}\u{304}"])
  func equality(text: String) {
    #expect(Glyph(text) == DisplayText(text).glyphs.first)
    for other in ["b", "e\u{301}", "e\u{302}\u{301}\u{303}\u{304}", "e\u{301}\u{302}\u{304}\u{303}"] {
      #expect(Glyph(text) != Glyph(other))
    }
  }

  @Test("More than four marks are no glyph")
  func tooMany() {
    #expect(Glyph("e\u{301}\u{302}\u{303}\u{304}\u{305}") == "?")
  }

  @Test("An escape is told apart, and nothing else changes with that")
  func escape() {
    for text in ["a", "日\u{301}\u{302}\u{303}\u{304}"] {
      var glyph = Glyph(text)
      #expect(!glyph.isEscape)
      glyph.isEscape = true
      #expect(glyph.isEscape && glyph.text == text && glyph.width == Glyph(text).width)
      glyph.isEscape = false
      #expect(glyph == Glyph(text))
    }
  }
}
