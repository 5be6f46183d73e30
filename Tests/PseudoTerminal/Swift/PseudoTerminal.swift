private import CPseudoTerminal
private import Synchronization

#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#endif

/// A program on a terminal of its own, with a person who types, looks, resizes and pulls the plug.
///
/// ```swift
/// let terminal = try PseudoTerminal("/path/cache-explorer", arguments: ["demo"], width: 120, height: 40)
/// try await terminal.wait(for: "the key bar") { $0.screen.contains("q Quit") }
/// terminal.send("q")
/// #expect(try await terminal.ending() == .exited(0))
/// #expect(terminal.modes == terminal.modesBefore)
/// ```
///
/// A thread of its own reads what the program writes and resumes waiting tests; it sleeps in poll(2) and nothing is asked
/// for by time, so no thread of Swift's tasks is ever blocked. The program runs as the foreground job of a process that
/// stands for the shell, so that it can be stopped and continued. It is killed when the last reference to this goes.
package final class PseudoTerminal: Sendable {
  /// Why a program did not start or a wait did not come to its end.
  package enum Failure: Error, CustomStringConvertible {
    case notStarted(program: String, errno: Int32)
    /// With what the screen showed at the deadline.
    case timedOut(waitingFor: String, screen: String)
    /// The program ended first; with what the screen showed then.
    case ended(waitingFor: String, ending: Ending, screen: String)

    /// One sentence, then the screen.
    package var description: String {
      switch self {
      case .notStarted(let program, let errno): "\(program) could not be started: errno \(errno)"
      case .timedOut(let what, let screen): "waited too long for \(what); the screen shows:\n\(screen)"
      case .ended(let what, let ending, let screen):
        "the program ended (\(ending)) before \(what); the screen shows:\n\(screen)"
      }
    }
  }

  /// How a program ended.
  package enum Ending: Equatable, Sendable {
    case exited(Int32)
    case signalled(Int32)
  }

  /// What there is to see at one moment.
  package struct Sight: Sendable {
    package internal(set) var screen: EmulatedScreen
    /// Synchronized frames that are complete.
    package internal(set) var frames = 0
    /// Bytes that the program wrote.
    package internal(set) var bytes = 0
    /// Sequences that the emulator did not know.
    package internal(set) var unknown: [String] = []
    /// Stopped as by ^Z.
    package internal(set) var isStopped = false
    package internal(set) var ending: Ending?
  }

  /// The modes of a terminal, as `stty -a` prints them.
  package struct Modes: Equatable, Sendable {
    package var input: UInt
    package var output: UInt
    package var control: UInt
    package var local: UInt
    package var characters: [UInt8]

    /// Whether lines are edited and echoed by the terminal, as a shell leaves it.
    package var isCooked: Bool { local & UInt(ICANON) != 0 && local & UInt(ECHO) != 0 }
  }

  /// Keys that send more than a character.
  package enum Key: String, Sendable {
    case up = "\u{1b}[A"
    case down = "\u{1b}[B"
    case right = "\u{1b}[C"
    case left = "\u{1b}[D"
    case home = "\u{1b}[H"
    case end = "\u{1b}[F"
    case pageUp = "\u{1b}[5~"
    case pageDown = "\u{1b}[6~"
    case delete = "\u{1b}[3~"
    case backTab = "\u{1b}[Z"
    case f1 = "\u{1b}OP"
    case f5 = "\u{1b}[15~"
    case escape = "\u{1b}"
    case enter = "\r"
    case tab = "\t"
    case backspace = "\u{7f}"
  }

  /// The modes before the program started.
  package let modesBefore: Modes
  private let loop: PseudoTerminalLoop

  /// Starts a program on a terminal.
  ///
  /// The program gets this environment and nothing else, except TERM=xterm-256color and LANG=C.UTF-8 where it has none.
  /// An empty `TERM` is passed on as that; to have none at all, run the program by `/usr/bin/env -u TERM`.
  ///
  /// `answersQuestions`: It says that it is well when it is asked (DSR 5), as nearly every terminal does.
  package init(
    _ program: String, arguments: [String] = [], width: Int = 80, height: Int = 24, environment: [String: String] = [:],
    answersQuestions: Bool = true
  ) throws {
    var terminal = cpt_terminal()
    var errno = unsafe cpt_open(&terminal, Int32(width), Int32(height))
    guard errno == 0 else { throw Failure.notStarted(program: program, errno: errno) }
    modesBefore = Self.modes(of: terminal.device)
    let variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8"].merging(environment) { $1 }.map { "\($0)=\($1)" }
    errno = unsafe Self.withPointers([program] + arguments) { arguments in
      unsafe Self.withPointers(variables) { variables in unsafe cpt_start(&terminal, program, arguments, variables) }
    }
    guard errno == 0 else {
      close(terminal.master)
      close(terminal.device)
      throw Failure.notStarted(program: program, errno: errno)
    }
    loop = PseudoTerminalLoop(terminal, width: width, height: height)
    loop.state.withLock { $0.answersQuestions = answersQuestions }
    loop.start()
  }

  deinit { loop.change { $0.isAbandoned = true } }

  /// What there is to see now.
  package var sight: Sight { loop.state.withLock { $0.sight } }

  /// Every byte that the program wrote.
  package var output: [UInt8] { loop.state.withLock { $0.output } }

  /// The modes now.
  package var modes: Modes { Self.modes(of: loop.terminal.device) }

  /// Waits until what there is to see meets a condition.
  ///
  /// It is asked only between synchronized frames.
  ///
  /// - Throws: ``Failure`` at the deadline, or when the program ends without meeting it.
  @discardableResult
  package func wait(
    for what: String, within limit: Duration = .seconds(30), _ isMet: @escaping @Sendable (Sight) -> Bool
  ) async throws -> Sight {
    try await loop.wait(for: what, within: limit, isMet)
  }

  /// Waits until a text stands somewhere on the screen.
  @discardableResult
  package func wait(forText text: String, within limit: Duration = .seconds(30)) async throws -> Sight {
    try await wait(for: "the text “\(text)”", within: limit) { $0.screen.contains(text) }
  }

  /// Waits until the program is stopped.
  package func waitUntilStopped() async throws {
    try await wait(for: "the program to stop") { $0.isStopped }
  }

  /// Waits until the program has ended and everything that it wrote is on the screen.
  package func ending() async throws -> Ending? {
    try await wait(for: "the end") { $0.ending != nil }.ending
  }

  /// Types text, as it is.
  package func send(_ text: String) { loop.change { $0.typed += Array(text.utf8) } }

  /// Presses a key.
  package func send(_ key: Key) { send(key.rawValue) }

  /// Presses a letter with Control.
  package func sendControl(_ letter: Character) {
    guard let ascii = letter.asciiValue else { return }
    loop.change { $0.typed.append(ascii & 0x1f) }
  }

  /// Pastes text as a terminal does whose paste is bracketed.
  package func paste(_ text: String) { send("\u{1b}[200~\(text)\u{1b}[201~") }

  /// Gives the window another size.
  ///
  /// The program is sent SIGWINCH.
  package func resize(width: Int, height: Int) { loop.change { $0.sizes.append((width, height)) } }

  /// Sends the program a signal.
  package func signal(_ number: Int32) {
    // After its end the number may belong to somebody else.
    if sight.ending == nil { kill(loop.terminal.program, number) }
  }

  /// The number of its process.
  package var program: Int32 { loop.terminal.program }

  /// What a shell's `fg` does with a stopped program.
  package func foreground() {
    var terminal = loop.terminal
    unsafe cpt_foreground(&terminal)
  }

  /// Closes the terminal while the program runs, as a lost connection does.
  package func unplug() { loop.change { $0.isUnplugged = true } }

  private static func modes(of device: Int32) -> Modes {
    var modes = termios()
    unsafe tcgetattr(device, &modes)
    let characters = unsafe withUnsafeBytes(of: &modes.c_cc) { unsafe Array($0) }
    return Modes(
      input: UInt(modes.c_iflag), output: UInt(modes.c_oflag), control: UInt(modes.c_cflag), local: UInt(modes.c_lflag),
      characters: characters)
  }

  /// A list of C strings, ended by a null pointer.
  private static func withPointers<R>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
  }
}
