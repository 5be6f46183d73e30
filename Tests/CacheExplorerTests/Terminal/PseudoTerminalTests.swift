import PseudoTerminal
import Testing

/// Small shell programs on a terminal: what the tests of the real program rely on.
@Suite("Pseudo-terminal of the tests", .timeLimit(.minutes(10)))
struct PseudoTerminalTests {
  private func shell(_ script: String) throws -> PseudoTerminal {
    try PseudoTerminal(
      "/bin/sh", arguments: ["-c", script], width: 40, height: 5, environment: ["PATH": "/usr/bin:/bin"])
  }

  @Test("it shows what a program prints and says how it exited")
  func printsAndExits() async throws {
    let terminal = try shell("echo $TERM; stty size; exit 7")
    #expect(try await terminal.ending() == .exited(7))
    #expect(terminal.sight.screen.rows.prefix(2) == ["xterm-256color", "5 40"])
  }

  @Test("everything written is there when the end is reported")
  func drained() async throws {
    let terminal = try shell("i=0; while [ $i -lt 2000 ]; do echo line$i; i=$((i+1)); done")
    _ = try await terminal.ending()
    #expect(terminal.sight.screen.contains("line1999"))
    #expect(String(decoding: terminal.output.suffix(10), as: UTF8.self) == "line1999\r\n")
  }

  @Test("what is typed arrives")
  func types() async throws {
    let terminal = try shell("read line; echo got $line")
    terminal.send("hello\r")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.sight.screen.contains("got hello"))
  }

  @Test("a resize reaches the program")
  func resizes() async throws {
    let terminal = try shell("trap 'stty size; exit' WINCH; echo ready; while :; do read x; done")
    try await terminal.wait(forText: "ready")
    terminal.resize(width: 30, height: 4)
    _ = try await terminal.ending()
    #expect(terminal.sight.screen.contains("4 30"))
    #expect(terminal.sight.screen.width == 30)
  }

  @Test("a signal ends the program, and the end names it")
  func signals() async throws {
    let terminal = try shell("echo ready; read x")
    try await terminal.wait(forText: "ready")
    terminal.signal(15)
    #expect(try await terminal.ending() == .signalled(15))
  }

  @Test("^Z stops the program, and the foreground continues it")
  func stops() async throws {
    let terminal = try shell("echo ready; read x; echo got $x")
    try await terminal.wait(forText: "ready")
    terminal.sendControl("z")
    try await terminal.waitUntilStopped()
    terminal.foreground()
    try await terminal.wait(for: "the program to go on") { !$0.isStopped }
    terminal.send("a\r")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.sight.screen.contains("got a"))
  }

  @Test("changed modes are seen, and so are restored ones")
  func modes() async throws {
    let terminal = try shell("s=$(stty -g); stty raw -echo; echo ready; read x; stty $s; exit 0")
    try await terminal.wait(forText: "ready")
    #expect(terminal.modesBefore.isCooked)
    #expect(!terminal.modes.isCooked)
    terminal.send("\n")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)
  }

  @Test("a program whose terminal is closed reads its end")
  func unplugs() async throws {
    let terminal = try shell("trap '' HUP; echo ready; read x || exit 9")
    try await terminal.wait(forText: "ready")
    terminal.unplug()
    #expect(try await terminal.ending() == .exited(9))
  }

  @Test("a wait that the program's end makes hopeless fails with the screen")
  func hopeless() async throws {
    let terminal = try shell("echo bye")
    let failure = await #expect(throws: PseudoTerminal.Failure.self) { try await terminal.wait(forText: "never") }
    guard case .ended(_, .exited(0), let screen) = failure else { return #expect(Bool(false), "\(failure)") }
    #expect(screen.contains("bye"))
  }

  @Test("a wait fails at its deadline")
  func deadline() async throws {
    let terminal = try shell("read x")
    let failure = await #expect(throws: PseudoTerminal.Failure.self) {
      try await terminal.wait(forText: "never", within: .zero)
    }
    guard case .timedOut = failure else { return #expect(Bool(false), "\(failure)") }
  }

  @Test("a program that does not exist exits with 127")
  func missing() async throws {
    let terminal = try PseudoTerminal("/nonexistent")
    #expect(try await terminal.ending() == .exited(127))
  }
}
