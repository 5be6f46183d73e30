import CPseudoTerminal
import CStore
import CacheEngineTesting
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal on one end of a pseudo-terminal, the test on the other.
///
/// Signals, crashes and suspending need a process of
/// their own and are tested with the program.
@Suite("Terminal", .serialized, .timeLimit(.minutes(10)))
@MainActor
struct TerminalTests {
  private func canvas(_ rows: [String], _ size: Size = Size(width: 20, height: 4)) -> Canvas {
    var canvas = Canvas(size)
    for (y, row) in rows.enumerated() {
      for (x, character) in row.enumerated() { canvas[x, y] = Cell(glyph: Glyph(String(character)), style: .plain) }
    }
    return canvas
  }

  @Test("a canvas appears as it is, on the alternate screen, and close gives everything back")
  func showsAndCloses() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    #expect(rig.modes != rig.before)
    terminal.show(canvas(["┌─┐ hit", "│é│", "└─┘"]))
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows == ["┌─┐ hit", "│é│", "└─┘", ""])
    #expect(rig.emulator.screen.isAlternate && !rig.emulator.screen.isCursorVisible)
    #expect(rig.emulator.screen.isPasteBracketed)
    terminal.close()
    terminal.close()
    _ = rig.read(terminal)
    #expect(!rig.emulator.screen.isAlternate && rig.emulator.screen.isCursorVisible)
    #expect(!rig.emulator.screen.isPasteBracketed && !rig.emulator.screen.isSynchronizing)
    #expect(rig.modes == rig.before)
    #expect(rig.emulator.unknown == [])
  }

  @Test("on a terminal without an alternate screen the picture stays, and a shell goes on below it")
  func below() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options(["TERM": "vt100"]))
    terminal.show(canvas(["a", "b", "c", "d"]))
    terminal.close()
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows == ["b", "c", "d", ""])
    #expect(rig.emulator.screen.cursor.x == 0 && rig.emulator.screen.cursor.y == 3)
  }

  @Test("each frame is one synchronized write, and only the difference travels")
  func oneWrite() throws {
    let rig = TerminalRig(width: 120, height: 40)
    let size = Size(width: 120, height: 40)
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    var picture = canvas(Array(repeating: String(repeating: "x", count: 119), count: 40), size)
    for y in 0..<40 { picture[y, y].glyph = "▃" }
    let writesBefore = terminal.writes
    terminal.show(picture)
    #expect(terminal.writes == writesBefore + 1)
    _ = rig.read(terminal)
    picture[5, 7].glyph = "q"
    terminal.show(picture)
    #expect(terminal.writes == writesBefore + 2)
    let frame = rig.read(terminal)
    // So short that it comes at once anyway: brackets would be most of it.
    #expect(frame.count < 16)
    #expect(rig.emulator.screen.rows[7].contains("xxxxxq"))
    for y in 0..<40 { picture[3, y].glyph = "w" }
    terminal.show(picture)
    #expect(terminal.writes == writesBefore + 3)
    let long = rig.read(terminal)
    #expect(long.starts(with: Array("\u{1b}[?2026h".utf8)))
    #expect(long.suffix(8) == Array("\u{1b}[?2026l".utf8)[...])
  }

  @Test("on a tall terminal the scrolling region is the whole height")
  func tallTerminal() throws {
    let rig = TerminalRig(width: 20, height: 50)
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    terminal.show(canvas(["top"], Size(width: 20, height: 50)))
    let begin = String(decoding: rig.read(terminal), as: UTF8.self)
    #expect(begin.contains("\u{1b}[1;50r"))
    #expect(!begin.contains("\u{1b}[1;24r"))
  }

  @Test("the same canvas again costs nothing")
  func nothingNew() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    terminal.show(canvas(["a"]))
    let bytes = terminal.bytesWritten
    terminal.show(canvas(["a"]))
    #expect(terminal.bytesWritten == bytes)
  }

  @Test("after invalidate everything is drawn anew")
  func invalidates() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    terminal.show(canvas(["abc", "def"]))
    _ = rig.read(terminal)
    rig.emulator.feed(Array("\u{1b}[2Jrubbish".utf8))
    terminal.invalidate()
    terminal.show(canvas(["abc", "def"]))
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows == ["abc", "def", "", ""])
  }

  @Test("the cursor stands where the canvas has it")
  func cursor() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    var picture = canvas(["abc"])
    picture.cursor = Point(x: 2, y: 1)
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.isCursorVisible && rig.emulator.screen.cursor == (2, 1))
    picture.cursor = Point(x: 99, y: 1)
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(!rig.emulator.screen.isCursorVisible)
  }

  @Test("P16 no control character of a canvas reaches the terminal, and wide glyphs keep their columns")
  func hostileCanvas() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    var picture = canvas(["", "ok"])
    for (x, glyph) in ["\u{1b}[2J", "\u{9b}", "\n", "日", "", "👨‍👩‍👧", "", "日", "|"].enumerated() {
      picture[x, 0].glyph = Glyph(glyph)
    }
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows.prefix(2) == ["???日? ?|", "ok"])
  }

  @Test("styles arrive as colours and attributes")
  func styles() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    var picture = canvas(["eh"])
    picture[0, 0].style.role = .error
    picture[1, 0].style.role = .hit
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen[0, 0].look.foreground == 196)
    #expect(rig.emulator.screen[0, 0].look.isReversed && rig.emulator.screen[0, 0].look.isBold)
    #expect(rig.emulator.screen[1, 0].look.foreground == 28)
  }

  @Test("another theme draws every cell anew, with its colours")
  func themes() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    var picture = canvas(["h"])
    picture[0, 0].style.role = .hit
    terminal.show(picture)
    _ = rig.read(terminal)
    terminal.use(.dark)
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen[0, 0].look.foreground == 114)
    #expect(rig.emulator.screen.rows[0] == "h")
  }

  @Test("a terminal that takes any colour is told its parts", arguments: ["truecolor", "24bit"])
  func trueColors(variable: String) throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options(["COLORTERM": variable]))
    #expect(terminal.colors == .full)
    var picture = canvas(["hm."])
    picture[0, 0].style.role = .hit
    picture[1, 0].style.role = .miss
    terminal.show(picture)
    terminal.close()
    let bytes = rig.read(terminal)
    #expect(bytes.contains(Array("\u{1b}[38;2;41;142;45m".utf8)))
    #expect(bytes.contains(Array("\u{1b}[38;2;180;106;9m".utf8)))
    #expect(!bytes.contains(Array("38;5;".utf8)))
    // The terminal's palette was not changed, and is not put back.
    #expect(!bytes.contains(Array("\u{1b}]".utf8)))
  }

  @Test("the mouse is taken and given back, at the latest on leaving; what it does comes as events")
  func mouse() async throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    let events = terminal.input.makeAsyncIterator()
    terminal.useMouse(true)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.mouseModes == [1000, 1004, 1006])
    rig.type("\u{1b}[<0;3;2M\u{1b}[<0;3;2m\u{1b}[<64;1;1M\u{1b}[I")
    func mouse(_ kind: InputEvent.Mouse.Kind, _ x: Int, _ y: Int) -> InputEvent {
      .mouse(InputEvent.Mouse(kind: kind, at: Point(x: x, y: y)))
    }
    for event in [mouse(.press, 2, 1), mouse(.wheelUp, 0, 0), .focus(true)] {
      #expect(await events.next(isolation: #isolation) == event)
    }
    terminal.useMouse(false)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.mouseModes.isEmpty)
    terminal.useMouse(true)
    terminal.close()
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.mouseModes.isEmpty)
  }

  @Test("what is copied goes to the clipboard in an encoding in which it can do nothing else; too much does not go")
  func copies() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    _ = rig.read(terminal)
    terminal.copy("user:1\u{7}\u{1b}[2J")
    #expect(rig.read(terminal) == Array("\u{1b}]52;c;dXNlcjoxBxtbMko=\u{7}".utf8))
    terminal.copy(String(repeating: "x", count: Terminal.mostCopied + 1))
    #expect(rig.read(terminal).isEmpty)
  }

  @Test("NO_COLOR leaves the attributes and takes the colours")
  func noColor() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options(["NO_COLOR": "1"]))
    defer { terminal.close() }
    var picture = canvas(["e"])
    picture[0, 0].style.role = .error
    terminal.show(picture)
    _ = rig.read(terminal)
    #expect(rig.emulator.screen[0, 0].look.foreground == nil)
    #expect(rig.emulator.screen[0, 0].look.isReversed)
  }

  @Test("asked for ASCII it sends nothing else")
  func ascii() throws {
    let rig = TerminalRig()
    var options = rig.options()
    options.isASCII = true
    let terminal = try Terminal(options)
    terminal.show(canvas(["┌─┐●○✕▁▸日é"]))
    terminal.close()
    let bytes = rig.read(terminal)
    #expect(bytes.allSatisfy { $0 < 0x80 })
    #expect(!terminal.isUnicode)
  }

  @Test("keys and pastes come as events, Escape alone after its silence")
  func keys() async throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    let events = terminal.input.makeAsyncIterator()
    rig.type("q\u{1b}OA\u{1b}[200~two\rlines\u{1b}[201~\u{3}\r\u{1b}")
    let expected: [InputEvent] = [
      .key(.character("q")), .key(.up), .paste("two\nlines"), .key(.control("c")), .key(.enter), .key(.escape),
    ]
    for event in expected { #expect(await events.next(isolation: #isolation) == event) }
  }

  @Test("a closed terminal ends the input once, and nothing is written any more")
  func closedTerminal() async throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    let events = terminal.input.makeAsyncIterator()
    close(rig.pair.master)
    rig.pair.master = -1
    #expect(await events.next(isolation: #isolation) == .terminate(signal: SIGHUP))
    let bytes = terminal.bytesWritten
    terminal.show(canvas(["a"]))
    terminal.close()
    #expect(terminal.bytesWritten == bytes)
    #expect(await events.next(isolation: #isolation) == nil)
  }

  @Test("a terminal that takes nothing holds nobody up, and shows the newest canvas when it goes on")
  func slowTerminal() async throws {
    let rig = TerminalRig(width: 200, height: 100)
    let size = Size(width: 200, height: 100)
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    for glyph in ["a", "b", "c", "d", "e", "f", "g", "h"] {
      terminal.show(canvas(Array(repeating: String(repeating: glyph, count: 200), count: 100), size))
    }
    terminal.show(canvas(["newest"], size))
    try await turns {
      _ = rig.read(terminal)
      return rig.emulator.screen.rows[0] == "newest"
    }
    #expect(rig.emulator.screen.rows.dropFirst().allSatisfy { $0.isEmpty })
  }

  @Test("a canvas of another size than the terminal's is cut")
  func otherSize() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options())
    defer { terminal.close() }
    let size = Size(width: 30, height: 9)
    terminal.show(canvas(Array(repeating: String(repeating: "z", count: 30), count: 9), size))
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows == Array(repeating: String(repeating: "z", count: 20), count: 4))
    terminal.show(canvas(["tiny"], Size(width: 4, height: 1)))
    _ = rig.read(terminal)
    #expect(rig.emulator.screen.rows == ["tiny", "", "", ""])
  }

  @Test("what writes is closed once: its number may be somebody else's the second time")
  func closedOnce() throws {
    let rig = TerminalRig()
    var isTaken = false
    // Other tests open files too: again, until the number that became free is ours.
    for _ in 0..<1_000 where !isTaken {
      let writer = FrameWriter(terminal: rig.pair.device)
      writer.close()
      let other = fcntl(rig.pair.device, F_DUPFD_CLOEXEC, writer.descriptor)
      isTaken = other == writer.descriptor
      writer.close()
      #expect(fcntl(other, F_GETFD) >= 0)
      close(other)
    }
    #expect(isTaken)
  }

  @Test("an unknown terminal is used as an xterm, with a warning")
  func unknownTerminal() throws {
    let rig = TerminalRig()
    let terminal = try Terminal(rig.options(["TERM": "xterm-unheard-of"]))
    defer { terminal.close() }
    #expect(terminal.name == "xterm-256color")
    #expect(terminal.warning?.contains("xterm-unheard-of") == true)
  }

  @Test("without a usable TERM there is an error, and the terminal is untouched", arguments: ["", "dumb"])
  func unsuitable(term: String) {
    let rig = TerminalRig()
    #expect(throws: TerminalError.unsuitable(term: term)) { try Terminal(rig.options(["TERM": term])) }
    #expect(rig.modes == rig.before)
  }

  @Test("input or output that is no terminal is an error that says which")
  func redirected() {
    let rig = TerminalRig()
    var ends: [Int32] = [0, 0]
    unsafe cstore_pipe(&ends)
    defer { for end in ends { close(end) } }
    var options = rig.options()
    options.input = ends[0]
    #expect(throws: TerminalError.notATerminal(stream: "input")) { try Terminal(options) }
    options = rig.options()
    options.output = ends[1]
    #expect(throws: TerminalError.notATerminal(stream: "output")) { try Terminal(options) }
    #expect(rig.modes == rig.before)
  }
}
