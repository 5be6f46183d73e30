import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct DisplayTextTests {
  private func shown(_ raw: String) -> String { DisplayText(raw).glyphs.map(\.text).joined() }

  @Test(
    "What moves the cursor, hides or turns the direction is spelled out",
    arguments: [
      ("a\u{1b}[2Jb", #"a\e[2Jb"#), ("a\nb\tc\rd\0", #"a\nb\tc\rd\0"#), ("\r\n", #"\r\n"#), ("\u{7f}", #"\u{7f}"#),
      ("\u{9b}31m", #"\u{9b}31m"#), ("x\u{2028}y\u{2029}", #"x\u{2028}y\u{2029}"#),
      ("\u{202e}abc\u{2066}", #"\u{202e}abc\u{2066}"#), ("a\u{200b}b", #"a\u{200b}b"#), ("a\u{a0}b", #"a\u{a0}b"#),
      ("\u{feff}x", #"\u{feff}x"#), ("a\u{e0041}", #"a\u{e0041}"#), ("a\u{ad}b", #"a\u{ad}b"#),
      ("a\u{200d}b", #"a\u{200d}b"#), ("\u{301}x", #"\u{301}x"#),
    ])
  func spellsOutTheInvisible(raw: String, expected: String) {
    #expect(shown(raw) == expected)
  }

  @Test(
    "Sequences whose width no two terminals agree on are one box",
    arguments: [
      "👨‍👩‍👧", "❤️", "🇩🇪", "👍🏽", "\u{1100}\u{1161}", "\u{e000}", "\u{378}", "\u{1fae8}",
    ])
  func boxesTheUncertain(raw: String) {
    #expect(shown(raw) == "□")
    #expect(DisplayText(raw).width == 1)
  }

  @Test(
    "Lines end between words, and within a number only where it has no room on one line",
    arguments: [
      ("of 2 000 reads", 6, ["of", "2 000", "reads"]), ("of 2 000 reads", 13, ["of 2 000", "reads"]),
      ("1 234 567 reads", 6, ["1 234", "567", "reads"]), ("at 1 23 in", 5, ["at 1", "23 in"]),
      ("one two three", 7, ["one two", "three"]), ("of 2 000 reads", 8, ["of 2 000", "reads"]),
      ("1 234 567 reads", 5, ["1 234", "567", "reads"]), ("of 2 000", 4, ["of", "2", "000"]),
    ])
  func wraps(raw: String, room: Int, expected: [String]) {
    #expect(DisplayText(raw).wrapped(to: room).map { $0.glyphs.map(\.text).joined() } == expected)
  }

  @Test(
    "Width is counted in cells",
    arguments: [
      ("abc", 3), ("日本語", 6), ("e\u{301}", 1), ("é", 1), ("한글", 4), ("😀", 2), ("ａ", 2), ("─█µ", 3), ("─\u{301}x", 2),
    ])
  func countsCells(raw: String, cells: Int) {
    #expect(DisplayText(raw).width == cells)
  }

  @Test("What is taken without asking Unicode is one cell, and joins with nothing of its kind")
  func standsAlone() {
    let alone = (UInt32(0)...0x10ffff).compactMap { Unicode.Scalar($0) }.filter(DisplayWidth.standsAlone)
    #expect(alone.count > 200)
    #expect(alone.filter { DisplayWidth.classify($0) != .narrow } == [])
    let neighbours: [Unicode.Scalar] = ["a", "─", "▶", "→", "·"]
    let joining = alone.filter { scalar in
      var text = String.UnicodeScalarView()
      for neighbour in neighbours { text += [scalar, neighbour] }
      return String(text).count != 2 * neighbours.count
    }
    #expect(joining == [])
  }

  @Test("Of many marks on one character four are kept")
  func keepsFourMarks() {
    let text = DisplayText("a" + String(repeating: "\u{301}", count: 50))
    #expect(text.width == 1)
    #expect(text.glyphs[0].text.unicodeScalars.count == 5)
  }

  @Test("A character of a million marks is looked at only at its beginning")
  func isBounded() {
    let text = DisplayText("a" + String(repeating: "\u{301}", count: 1_000_000) + "b")
    #expect(text.width == 2)
    #expect(text.glyphs.last?.text == "…")
  }

  @Test("Clipping never splits a wide character and never exceeds the room", arguments: 0...8)
  func clips(room: Int) {
    let text = DisplayText("日本語ab").clipped(to: room)
    #expect(text.width <= room)
    #expect(text.width == text.glyphs.reduce(0) { $0 + $1.width })
    #expect(text.glyphs.isEmpty || room == 8 || text.glyphs.last?.text == "…")
  }

  @Test("Shortening keeps both ends")
  func shortens() {
    #expect(DisplayText("session:7f3a9e12bc91").shortened(to: 12) == "session:…c91")
    #expect(DisplayText("short").shortened(to: 12) == "short")
  }

  @Test("Padding fills to the cell", arguments: 0...12)
  func pads(length: Int) {
    #expect(DisplayText("日本語ab").padded(to: length).width == length)
    #expect(DisplayText("日本語ab").rightAligned(to: length).width == length)
  }

  @Test("Text longer than any screen is cut and says so")
  func cutsLongText() {
    let text = DisplayText(String(repeating: "x", count: 100_000), atMost: 10)
    #expect(text == "xxxxxxxxx…")
    #expect(DisplayText(String(repeating: "ü", count: 100_000), atMost: 10) == "üüüüüüüüü…")
  }
}
