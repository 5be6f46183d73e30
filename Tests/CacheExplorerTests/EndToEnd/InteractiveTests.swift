import Foundation
import PseudoTerminal
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `cache-explorer open` as a process on a terminal of its own, with somebody who types and looks.
@Suite(.serialized, .timeLimit(.minutes(10))) struct InteractiveTests {
  private static let environment = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]

  private func configuration(in folder: borrowing TemporaryFolder) throws -> String {
    try folder.write(
      """
      name: interactive
      levels:
        - memory: { capacity: 1 MiB }
        - disk: { directory: ./cache, capacity: 4 MiB }
        - pooled:
            origin: { latency: 1ms }
      """, to: "cache.yaml")
  }

  /// Starts the program and waits for its first picture.
  private func open(in folder: borrowing TemporaryFolder) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", try configuration(in: folder)], width: 120, height: 40,
      environment: Self.environment)
    try await terminal.wait(for: "the first picture") { Self.showsBoxes($0.screen) && $0.screen.contains("qQuit") }
    return terminal
  }

  /// Types a command and waits for the line of its answer.
  @discardableResult
  private func answer(to command: String, containing text: String, on terminal: PseudoTerminal) async throws -> String {
    let isAnswer: @Sendable (String) -> Bool = { $0.hasPrefix(" ✓ \(command) → ") && $0.contains(text) }
    terminal.send(":\(command)")
    terminal.send(.enter)
    let sight = try await terminal.wait(for: "“\(text)” in the answer to “\(command)”") {
      $0.screen.rows.contains(where: isAnswer)
    }
    return try #require(sight.screen.rows.first(where: isAnswer))
  }

  private static func showsBoxes(_ screen: EmulatedScreen) -> Bool {
    screen.rows[0].contains("● LIVE") && screen.contains("┌ 1 MEMORY ") && screen.contains("┌ 2 DISK ")
      && screen.contains("┌ ORIGIN ") && screen.rows.last?.contains("qQuit") == true
  }

  // MARK: A session

  @Test("each level answers in its turn, and the terminal is given back on leaving")
  func session() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    #expect(terminal.sight.screen.isAlternate)
    #expect(!terminal.modes.isCooked)

    // A read waits a hundred times as long for its copies, however busy the disk is.
    try await answer(to: "speed 0.01", containing: "done", on: terminal)
    let first = try await answer(to: "get user:1", containing: "from ORIGIN", on: terminal)
    #expect(first.contains("back-filled"))
    try await answer(to: "get user:1", containing: "from MEMORY", on: terminal)
    try await answer(to: "set a hello", containing: "done", on: terminal)
    try await answer(to: "get a", containing: "5 B from MEMORY", on: terminal)
    try await answer(to: "warn", containing: "memory dropped 2 entries", on: terminal)
    try await terminal.wait(forText: "▲ MEMORY WARNING")
    try await answer(to: "get a", containing: "5 B from DISK", on: terminal)
    #expect(terminal.sight.screen.contains("▲ MEMORY WARNING"))

    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("Space stops the picture, and Space lets it go on")
  func freezes() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.send(" ")
    try await terminal.wait(for: "PAUSED in the header") { $0.screen.rows[0].contains("‖ PAUSED") }
    try await answer(to: "get unseen", containing: "from ORIGIN", on: terminal)
    #expect(!terminal.sight.screen.contains("│▸unseen "))
    terminal.send(" ")
    try await terminal.wait(for: "LIVE in the header, and what came meanwhile") {
      $0.screen.rows[0].contains("● LIVE") && $0.screen.contains("│▸unseen ")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("w asks before it sends a memory warning, and does nothing unless told to")
  func asks() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    try await answer(to: "set a hello", containing: "done", on: terminal)
    terminal.send("w")
    try await terminal.wait(forText: "y/N")
    terminal.send("n")
    try await terminal.wait(forText: "✓ nothing was changed")
    #expect(!terminal.sight.screen.contains("MEMORY WARNING"))
    terminal.send("w")
    try await terminal.wait(forText: "y/N")
    terminal.send("y")
    try await terminal.wait(forText: "▲ MEMORY WARNING")
    try await answer(to: "get a", containing: "from DISK", on: terminal)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("help lies over the picture until it is left, and q leaves only it")
  func help() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.send("?")
    try await terminal.wait(for: "the help") {
      $0.screen.contains("┌ Help · Overview ") && $0.screen.contains("focus the next panel")
    }
    terminal.send("q")
    try await terminal.wait(for: "no help") { !$0.screen.contains("┌ Help ") && Self.showsBoxes($0.screen) }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("the picture fits the window at every size, and a tiny one asks for more room")
  func resizes() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.resize(width: 80, height: 24)
    try await terminal.wait(for: "the table of a smaller window") {
      let screen = $0.screen
      return screen.rows[0].contains("● LIVE") && screen.contains("LEVEL") && screen.contains("1 MEMORY")
        && screen.contains("2 DISK") && !screen.contains("┌ 1 MEMORY ")
    }
    terminal.resize(width: 20, height: 5)
    try await terminal.wait(for: "nothing but a line that asks for more room") {
      $0.screen.rows.filter { !$0.isEmpty } == ["needs 40x10, q quits"]
    }
    terminal.resize(width: 120, height: 40)
    try await terminal.wait(for: "the boxes again") { Self.showsBoxes($0.screen) }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  // MARK: Mistakes

  @Test("a mistyped command stays to be mended, with the name that was meant")
  func mistyped() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.send(":gte x\r")
    try await terminal.wait(for: "the line and the remark") {
      $0.screen.rows[37].hasPrefix(" :gte x") && $0.screen.rows[38].contains("did you mean “get”?")
        && $0.screen.isCursorVisible
    }
    // Mended where it stands: home, past the g, the other way round.
    terminal.send(.home)
    terminal.send(.right)
    terminal.send(.delete)
    terminal.send(.right)
    terminal.send("t")
    try await terminal.wait(for: "the mended line") { $0.screen.rows[37].hasPrefix(" :get x") }
    terminal.send(.enter)
    try await terminal.wait(for: "the answer") { $0.screen.rows[38].hasPrefix(" ✓ get x → ") }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("Escape leaves a mistyped command, and keys are keys again")
  func escapes() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.send(":gte x\r")
    try await terminal.wait(forText: "did you mean")
    terminal.send(.escape)
    try await terminal.wait(for: "the command line to be left") {
      $0.screen.rows[37].hasPrefix(" : types a command") && !$0.screen.contains(":gte x")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("a mistyped command that was left does not hide later answers")
  func laterAnswers() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.send(":gte x\r")
    try await terminal.wait(for: "the remark under the line") { $0.screen.rows[38].hasPrefix("  ^ there is no verb") }
    terminal.send(.escape)
    try await terminal.wait(for: "the remark without the line") {
      $0.screen.rows[37].hasPrefix(" : types a command") && $0.screen.rows[38].hasPrefix(" ✕ there is no verb")
    }
    terminal.send("w")
    try await terminal.wait(forText: "y/N")
    terminal.send("n")
    try await terminal.wait(forText: "✓ nothing was changed")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("neither a key nor a value can reach the terminal as anything but text")
  func hostile() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    let key = #""k\x1b]0;x\x07\u{202e}""#
    try await answer(to: "set \(key) \"v\\x1b[2J\"", containing: "done", on: terminal)
    try await terminal.wait(forText: #"k\e]0;x\u{7}\u{202e}"#)
    try await answer(to: "get \(key)", containing: "from MEMORY", on: terminal)
    // The same, now the characters themselves and pasted.
    terminal.send(":")
    terminal.paste("get k\u{1b}]0;x\u{7}\u{202e}")
    terminal.send(.enter)
    try await terminal.wait(for: "the answer to what was pasted") {
      $0.screen.rows[38].hasPrefix(#" ✓ get k\e]0;x\u{7}\u{202e} → 5 B from MEMORY"#)
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
    let output = String(decoding: terminal.output, as: UTF8.self).unicodeScalars
    #expect(!output.contains("\u{202e}"))
    #expect(!output.contains("\u{7}"))
    #expect(!terminal.output.contains(Array("\u{1b}]0;x".utf8)))
    #expect(!terminal.output.contains(Array("v\u{1b}[2J".utf8)))
  }

  // MARK: The mouse

  /// Presses the left button on a cell, as a terminal with mode 1006 tells it.
  private func click(_ place: (x: Int, y: Int), times: Int = 1, on terminal: PseudoTerminal) {
    for _ in 0..<times {
      terminal.send("\u{1b}[<0;\(place.x + 1);\(place.y + 1)M\u{1b}[<0;\(place.x + 1);\(place.y + 1)m")
    }
  }

  @Test("the mouse is taken by %, chooses and opens, and is given back by %, by ^Z and on leaving")
  func mouse() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    #expect(terminal.sight.screen.mouseModes.isEmpty)
    for key in ["a", "b", "c"] { try await answer(to: "set \(key) hello", containing: "done", on: terminal) }
    terminal.send("%")
    try await terminal.wait(for: "the mouse") { $0.screen.mouseModes == [1000, 1004, 1006] }
    terminal.send("s")
    terminal.send("s")
    try await terminal.wait(for: "the sorted entries") {
      $0.screen.contains("Entries 1–3 of 3 ") && $0.screen.contains("sort SIZE")
    }
    let row = try #require(terminal.sight.screen.position(of: "b  "))
    click(row, on: terminal)
    try await terminal.wait(for: "the row to be chosen") { $0.screen.contains("│▸b ") }
    click(row, times: 2, on: terminal)
    try await terminal.wait(forText: "set b")
    try await terminal.wait(forText: "Esc closes")
    terminal.send(.escape)

    // The click that brings the window to the front chooses nothing.
    terminal.send("\u{1b}[O\u{1b}[I")
    click((row.x, row.y - 1), on: terminal)
    click((row.x, row.y + 1), on: terminal)
    try await terminal.wait(for: "the second click to count") {
      $0.screen.contains("│▸c ") || $0.screen.contains("│▸a ")
    }

    terminal.sendControl("z")
    try await terminal.waitUntilStopped()
    expectGivenBack(terminal)
    terminal.foreground()
    try await terminal.wait(for: "the screen and the mouse again") {
      !$0.isStopped && $0.screen.isAlternate && $0.screen.mouseModes == [1000, 1004, 1006]
    }
    terminal.send("%")
    try await terminal.wait(for: "the mouse to be the terminal's") { $0.screen.mouseModes.isEmpty }
    terminal.send("%")
    try await terminal.wait(for: "the mouse") { !$0.screen.mouseModes.isEmpty }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  // MARK: What keys change

  @Test("t changes the colours at once, and nothing but the colours")
  func themes() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    let place = try #require(terminal.sight.screen.position(of: "● LIVE"))
    let before = terminal.sight.screen[place.x, place.y].look.foreground
    terminal.send("t")
    try await terminal.wait(forText: "the theme is dark")
    try await terminal.wait(for: "other colours") {
      $0.screen[place.x, place.y].look.foreground != before && $0.screen.contains("● LIVE")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("a del is undone by u, in memory and on disk; a picture is exported by X; y copies where that is allowed")
  func keeps() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "view.txt").path()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", try configuration(in: folder), "--clipboard"], width: 120, height: 40,
      environment: Self.environment)
    try await terminal.wait(for: "the first picture") { Self.showsBoxes($0.screen) }
    try await answer(to: "set user:1 hello", containing: "done", on: terminal)
    try await answer(to: "del user:1", containing: "removed from", on: terminal)
    terminal.send("u")
    try await terminal.wait(forText: "del user:1 is undone in memory, disk")
    try await answer(to: "get user:1 --level disk", containing: "5 B from DISK", on: terminal)
    try await terminal.wait(forText: "▸user:1 ")
    terminal.send("y")
    try await terminal.wait(forText: "✓ copied user:1")
    #expect(String(decoding: terminal.output, as: UTF8.self).contains("\u{1b}]52;c;dXNlcjox\u{7}"))
    terminal.send("Y")
    try await terminal.wait(forText: "copied 5 B")
    #expect(String(decoding: terminal.output, as: UTF8.self).contains("\u{1b}]52;c;aGVsbG8=\u{7}"))
    terminal.send("X")
    try await terminal.wait(forText: ":export overview-")
    terminal.sendControl("u")
    terminal.send("export \(file) --view\r")
    try await terminal.wait(forText: "the picture written to")
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("1 MEMORY"))
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("colours are named by their parts where the terminal says that it takes them, and its own palette is untouched")
  func trueColors() async throws {
    let folder = try TemporaryFolder()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", try configuration(in: folder)], width: 120, height: 40,
      environment: Self.environment.merging(["COLORTERM": "truecolor"]) { $1 })
    try await terminal.wait(for: "the first picture") { Self.showsBoxes($0.screen) }
    let place = try #require(terminal.sight.screen.position(of: "● LIVE"))
    #expect(terminal.sight.screen[place.x, place.y].look.foreground == 1 << 24 | 0x298e2d)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
    #expect(!String(decoding: terminal.output, as: UTF8.self).contains("\u{1b}]104"))
    #expect(!String(decoding: terminal.output, as: UTF8.self).contains("\u{1b}]4;"))
  }

  // MARK: Signals

  @Test("a signal that ends the program gives the terminal back and is told by the status", arguments: [1, 2, 15])
  func terminates(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.signal(signal)
    #expect(try await terminal.ending() == .exited(128 + signal))
    expectGivenBack(terminal)
  }

  enum Stop: CaseIterable { case controlZ, signal }

  @Test(
    "stopped, it lends the terminal to the shell, and comes back with the window's new size", arguments: Stop.allCases)
  func stops(by way: Stop) async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    switch way {
    case .controlZ: terminal.sendControl("z")
    case .signal: terminal.signal(SIGTSTP)
    }
    try await terminal.waitUntilStopped()
    expectGivenBack(terminal)

    terminal.foreground()
    try await terminal.wait(for: "the screen again") {
      !$0.isStopped && $0.screen.isAlternate && Self.showsBoxes($0.screen)
    }
    #expect(!terminal.modes.isCooked)
    try await answer(to: "get user:1", containing: "from ORIGIN", on: terminal)

    switch way {
    case .controlZ: terminal.sendControl("z")
    case .signal: terminal.signal(SIGTSTP)
    }
    try await terminal.waitUntilStopped()
    terminal.resize(width: 80, height: 24)
    try await terminal.wait(for: "the smaller window") { $0.screen.width == 80 }
    terminal.foreground()
    try await terminal.wait(for: "the screen in its new size") {
      !$0.isStopped && $0.screen.isAlternate && $0.screen.rows[0].contains("● LIVE")
        && !$0.screen.contains("┌ 1 MEMORY ") && $0.screen.contains("1 MEMORY")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("stopped by what nobody can catch, it sets the terminal up again when it goes on")
  func stopsUncaught() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.signal(SIGSTOP)
    try await terminal.waitUntilStopped()
    terminal.foreground()
    try await terminal.wait(for: "the program to go on") { !$0.isStopped }
    try await answer(to: "get user:1", containing: "from ORIGIN", on: terminal)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("the program ends when its terminal goes away")
  func unplugged() async throws {
    let folder = try TemporaryFolder()
    let terminal = try await open(in: folder)
    terminal.unplug()
    #expect(try await terminal.ending() == .exited(128 + SIGHUP))
  }

  // MARK: Terminals that cannot do it

  private func start(_ arguments: [String], term: String?) throws -> PseudoTerminal {
    if let term {
      return try PseudoTerminal(
        Program.path, arguments: arguments, width: 120, height: 40,
        environment: Self.environment.merging(["TERM": term]) { $1 })
    }
    return try PseudoTerminal(
      "/usr/bin/env", arguments: ["-u", "TERM", Program.path] + arguments, width: 120, height: 40,
      environment: Self.environment)
  }

  @Test(
    "a terminal that cannot place its cursor is told everything in sentences, and why", arguments: ["dumb", "", nil])
  func unsuitable(term: String?) async throws {
    let folder = try TemporaryFolder()
    let terminal = try start(["open", try configuration(in: folder)], term: term)
    try await terminal.wait(forText: "interactive is open")
    terminal.send("get a\n")
    try await terminal.wait(forText: "get: hit from origin")
    terminal.send("quit\n")
    #expect(try await terminal.ending() == .exited(0))
    // The terminal breaks the lines where it likes.
    #expect(terminal.sight.screen.rows.joined().contains("TERM"))
    #expect(!terminal.output.contains(0x1b))
    #expect(terminal.modes == terminal.modesBefore)
  }

  @Test("who insists on a screen where there can be none is told why, and what to do", arguments: ["dumb", "", nil])
  func refused(term: String?) async throws {
    let folder = try TemporaryFolder()
    let terminal = try start(["open", try configuration(in: folder), "--screen"], term: term)
    #expect(try await terminal.ending() == .exited(4))
    let text = terminal.sight.screen.rows.joined()
    #expect(text.contains("TERM"))
    #expect(text.contains("for example TERM=xterm-256color"))
    #expect(!terminal.output.contains(0x1b))
    #expect(terminal.modes == terminal.modesBefore)
  }

  #if os(Linux)
  /// The memory of a process that is resident, in bytes.
  private static func residentMemory(of process: Int32) throws -> Int {
    let pages = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8).split(separator: " ")[1]
    return (Int(pages) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  @Test("a demonstration of HTTP keeps nothing for the requests that it has answered")
  func endlessVisitors() async throws {
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["demo", "http"], width: 80, height: 24, environment: Self.environment)
    let wait: (Int) async throws -> Int = { requests in
      try await terminal.wait(for: "\(requests) requests", within: .seconds(240)) { sight in
        guard let title = sight.screen.rows.first(where: { $0.hasPrefix("┌ HTTP ") }) else { return false }
        // Its digits are grouped, and more may follow.
        let count = title.split(separator: "% of ").last?.prefix { $0.isNumber || $0.isWhitespace } ?? ""
        return (Int(count.filter(\.isNumber)) ?? 0) >= requests
      }
      return try Self.residentMemory(of: terminal.program)
    }
    _ = try await wait(1)
    terminal.send(":speed 100\r")
    let before = try await wait(2_000)
    let growth = try await wait(8_000) - before
    // Each took 26 KB where the tasks that had ended were kept: 156 MB.
    #expect(growth < 64 << 20, "\(growth) bytes")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }
  #endif
}
