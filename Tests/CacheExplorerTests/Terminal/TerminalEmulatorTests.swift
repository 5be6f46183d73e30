import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import PseudoTerminal

@Suite("Terminal emulator of the tests")
struct TerminalEmulatorTests {
  private func screen(_ text: String, width: Int = 10, height: Int = 4) -> EmulatedScreen {
    var emulator = TerminalEmulator(width: width, height: height)
    emulator.feed(Array(text.utf8))
    #expect(emulator.unknown == [])
    return emulator.screen
  }

  @Test(
    "a sequence does what an xterm does",
    arguments: [
      ("ab\u{1b}[2;3Hc", ["ab", "  c", "", ""]),  // CUP
      ("\u{1b}[2;5Ha\u{1b}[Ab\u{1b}[3Dc\u{1b}[2Bd\u{1b}[Ce", ["   c b", "    a", "    d e", ""]),  // CUU CUB CUD CUF
      ("abcdef\u{1b}[3Gx\u{1b}[3dy", ["abxdef", "", "   y", ""]),  // HPA VPA
      ("abcdef\u{1b}[3G\u{1b}[K", ["ab", "", "", ""]),  // EL
      ("abcdef\u{1b}[3G\u{1b}[1K", ["   def", "", "", ""]),
      ("abcdef\u{1b}[3G\u{1b}[2X", ["ab  ef", "", "", ""]),  // ECH
      ("abcdef\u{1b}[3G\u{1b}[2P", ["abef", "", "", ""]),  // DCH
      ("abcdef\u{1b}[3G\u{1b}[2@", ["ab  cdef", "", "", ""]),  // ICH
      ("abcdef\u{1b}[3G\u{1b}[4hXY\u{1b}[4l", ["abXYcdef", "", "", ""]),  // IRM
      ("a\r\nb\r\nc\u{1b}[2H\u{1b}[L", ["a", "", "b", "c"]),  // IL
      ("a\r\nb\r\nc\u{1b}[1H\u{1b}[M", ["b", "c", "", ""]),  // DL
      ("a\r\nb\r\nc\u{1b}[2H\u{1b}[J", ["a", "", "", ""]),  // ED
      ("a\r\nb\r\nc\u{1b}[2H\u{1b}[1J", ["", "", "c", ""]),
      ("a\r\nb\u{1b}[2J", ["", "", "", ""]),
      ("x\u{1b}[4by", ["xxxxxy", "", "", ""]),  // REP
      ("a\r\nb\r\nc\r\nd\r\ne", ["b", "c", "d", "e"]),  // scrolling
      ("a\r\nb\r\nc\r\nd\u{1b}[2;3r\u{1b}[3H\n\u{1b}[r", ["a", "c", "", "d"]),  // DECSTBM
      ("a\r\nb\r\nc\u{1b}[H\u{1b}M", ["", "a", "b", "c"]),  // RI
      ("a\r\nb\r\nc\u{1b}[S", ["b", "c", "", ""]),  // SU
      ("a\tb", ["a       b", "", "", ""]),
      ("0123456789ab", ["0123456789", "ab", "", ""]),  // autowrap
      ("012345678日", ["012345678", "日", "", ""]),
      ("\u{1b}[?7l0123456789ab", ["012345678b", "", "", ""]),
      ("0123456789\u{1b}[Gab", ["ab23456789", "", "", ""]),  // the wrap that was due is off
      ("日本\u{1b}[2Gx", [" x本", "", "", ""]),  // half of a wide character
      ("e\u{301}x", ["e\u{301}x", "", "", ""]),
      ("\u{1b}7abc\u{1b}8x", ["xbc", "", "", ""]),
      ("a\u{1b}]0;title\u{7}b\u{1b}_apc\u{1b}\\c\u{1b}(Bd", ["abcd", "", "", ""]),
    ])
  func sequences(text: String, rows: [String]) {
    #expect(screen(text).rows == rows)
  }

  @Test("looks are set and reset")
  func looks() {
    let screen = screen("\u{1b}[1;38;5;71;7ma\u{1b}[22;27;4mb\u{1b}[93;48;5;200mc\u{1b}[md")
    #expect(screen[0, 0].look == .init(foreground: 71, isBold: true, isReversed: true))
    #expect(screen[1, 0].look == .init(foreground: 71, isUnderlined: true))
    #expect(screen[2, 0].look == .init(foreground: 11, background: 200, isUnderlined: true))
    #expect(screen[3, 0].look == .init())
  }

  @Test("the alternate screen hides the main one and gives it back")
  func alternate() {
    #expect(screen("shell\u{1b}[?1049happ").rows[0] == "     app")
    let after = screen("shell\u{1b}[?1049happ\u{1b}[?1049l")
    #expect(after.rows[0] == "shell")
    #expect(!after.isAlternate)
    #expect(after.cursor == (5, 0))
  }

  @Test("cursor, paste and synchronizing are tracked")
  func modes() {
    let on = screen("\u{1b}[?25l\u{1b}[?2004h\u{1b}[?2026h")
    #expect(!on.isCursorVisible && on.isPasteBracketed && on.isSynchronizing)
    let off = screen("\u{1b}[?25l\u{1b}[?2004h\u{1b}[?2026h\u{1b}[?2026l\u{1b}[?2004l\u{1b}[?25h")
    #expect(off.isCursorVisible && !off.isPasteBracketed && !off.isSynchronizing)
  }

  @Test("a sequence that it does not know is reported")
  func unknown() {
    var emulator = TerminalEmulator(width: 4, height: 1)
    emulator.feed(Array("\u{1b}[5yok".utf8))
    #expect(emulator.unknown == ["CSI 5y"])
    #expect(emulator.screen.rows == ["ok"])
  }

  @Test("a text is found by its column in cells")
  func position() {
    let place = screen("日本 x").position(of: "x")
    #expect(place?.x == 5 && place?.y == 0)
  }
}
