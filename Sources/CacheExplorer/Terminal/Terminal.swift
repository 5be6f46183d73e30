import CTerminalGuard
import Dispatch
import ExplorerState
package import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal as a screen: the only one who calls ncurses, and the one who gives the terminal back as it was.
///
/// Each frame is only the difference to the last canvas and reaches the terminal in one write. Everything happens on the
/// main actor; between events nothing runs at all.
@MainActor
package final class Terminal: Screen {
  package struct Options {
    /// The descriptors of the terminal.
    ///
    /// A test gives one end of a pseudo-terminal.
    var input: Int32 = 0
    var output: Int32 = 1
    var environment: [String: String] = [:]
    /// Draws with ASCII only, whatever the locale.
    package var isASCII = false
    /// The colours to use; `nil` for what the terminal and `NO_COLOR` say.
    package var colors: ColorDepth?
    package var theme = Theme.standard
    /// Uses colours although the environment asks for none.
    package var ignoresNoColor = false
    /// Takes the process's signals and guards against crashes.
    ///
    /// A test that shares its process does without.
    var ownsProcess = true
    /// The time, and what calls back after a while, in place of what the same owner set before.
    var now: @MainActor () -> ContinuousClock.Instant = { .now }
    var setAlarm: @MainActor (AnyObject, Duration?, @escaping @MainActor () -> Void) -> Void = {
      MainLoop.setAlarm(of: $0, after: $1, $2)
    }

    /// Creates options that say nothing beside the environment.
    package init(environment: [String: String] = [:]) { self.environment = environment }
  }

  package private(set) var size: Size
  package let input = InputQueue()
  /// What to tell the person about the terminal, for example that its description was not found.
  package let warning: String?
  /// Whether glyphs outside ASCII are shown.
  var isUnicode: Bool { curses.isUnicode }
  /// The description of the terminal in use.
  var name: String { curses.name }
  let colors: ColorDepth
  /// What went to the terminal so far.
  package var bytesWritten: Int { writer.bytesWritten }
  var writes: Int { writer.writes }

  private enum Phase { case shown, stopped, closed }

  private let options: Options
  private let modes: TerminalModes
  private let curses: Curses
  private let writer: FrameWriter
  private var phase = Phase.shown
  private var isMouseOn = false
  private var clicks = ClickCounter()
  /// The newest canvas, as long as it is not wholly shown.
  private var waiting: Canvas?
  private(set) var pace = LinkPace()
  private var keyboard: Keyboard?
  private var signals: (any DispatchSourceRead)?

  /// Why there can be no screen here; `nil` if there can.
  package static func whyPlain(_ environment: [String: String]) -> String? {
    if isatty(STDOUT_FILENO) != 1 { return "standard output is not a terminal" }
    if isatty(STDIN_FILENO) != 1 { return "standard input is not a terminal" }
    guard TerminalName.isUnsuitable(environment["TERM"]) else { return nil }
    guard let term = environment["TERM"], !term.isEmpty else {
      return "TERM is not set, so that the kind of terminal is not known (set it, for example TERM=xterm-256color)"
    }
    return "a terminal of the kind TERM=\(harmless(term)) cannot place its cursor"
  }

  /// - Throws: ``TerminalError``; the terminal is then as it was.
  package init(_ options: Options) throws(TerminalError) {
    let term = options.environment["TERM"]
    guard !TerminalName.isUnsuitable(term), let term else { throw .unsuitable(term: term) }
    guard isatty(options.input) == 1 else { throw .notATerminal(stream: "input") }
    guard isatty(options.output) == 1 else { throw .notATerminal(stream: "output") }
    self.options = options
    modes = try TerminalModes(descriptor: options.input)
    // Before curses, which leaves signals alone that somebody has taken.
    let signalPipe = options.ownsProcess ? Self.watchSignals() : -1
    do {
      curses = try Curses(term: term, isASCII: options.isASCII)
    } catch {
      Self.unwatchSignals(signalPipe)
      throw error
    }
    colors =
      options.colors
      ?? .chosen(
        colors: curses.colors,
        environment: options.environment.filter { !options.ignoresNoColor || $0.key != "NO_COLOR" },
        isDirect: curses.isDirect)
    curses.use(Palette(depth: colors, theme: options.theme))
    warning = Self.warning(asked: term, curses: curses, isASCII: options.isASCII)
    size = TerminalModes.size(of: options.output, environment: options.environment)
    writer = FrameWriter(terminal: options.output)

    if options.ownsProcess { arm() }
    do {
      try modes.makeRaw()
    } catch {
      ctg_disarm()
      Self.unwatchSignals(signalPipe)
      curses.destroy()
      writer.close()
      throw error
    }
    writer.onDrained = { [weak self] in self?.showWaiting() }
    writer.onGone = { [weak self] in self?.lose() }
    keyboard = Keyboard(
      descriptor: options.input, decoder: KeyDecoder(described: curses.keys),
      onEvent: { [weak self] in self?.receive($0) }, onAnswer: { [weak self] in self?.receiveAnswer() },
      onEnd: { [weak self] in self?.lose() })
    if signalPipe >= 0 { listen(to: signalPipe) }
    writer.write(curses.enter + LinkPace.question)
    pace.ask(at: options.now())
  }

  package func show(_ canvas: Canvas) {
    guard phase == .shown else { return }
    waiting = canvas
    showWaiting()
  }

  /// Writes as much of the newest canvas as the terminal can take now; an answer of it, or an alarm, continues.
  private func showWaiting() {
    while phase == .shown, !writer.isBusy, !writer.isGone, let canvas = waiting {
      let now = options.now()
      switch pace.room(at: now) {
      case .whole: write(canvas, room: nil, at: now)
      case .bytes(let room): write(canvas, room: room, at: now)
      case .wait(let delay): return options.setAlarm(self, delay) { [weak self] in self?.showWaiting() }
      }
    }
    options.setAlarm(self, nil) {}
  }

  private func write(_ canvas: Canvas, room: Int?, at now: ContinuousClock.Instant) {
    let (frame, isWhole) = curses.draw(canvas, terminal: size, room: room)
    if isWhole { waiting = nil }
    guard !frame.isEmpty else { return }
    // The brackets have a terminal show the frame all at once; what is as short as they are comes at once anyway.
    let isShort = frame.count <= Self.shortFrame
    let bytes = isShort ? frame : Self.synchronizedBegin + frame + Self.synchronizedEnd
    writer.write(bytes + (pace.write(bytes.count, isPart: !isWhole, at: now) ? LinkPace.question : []))
  }

  package func invalidate() {
    guard phase == .shown else { return }
    curses.redrawAll()
  }

  package func useMouse(_ isOn: Bool) {
    guard phase == .shown, isOn != isMouseOn else { return }
    isMouseOn = isOn
    writer.write(isOn ? MouseSequences.on : MouseSequences.off)
  }

  package func use(_ theme: Theme) {
    guard phase == .shown else { return }
    curses.use(Palette(depth: colors, theme: theme))
  }

  /// More would not reach every terminal.
  package static let mostCopied = 48 << 10

  package func copy(_ text: String) {
    guard phase == .shown, text.utf8.count <= Self.mostCopied else { return }
    // Encoded, so that nothing in the text can be a command to the terminal.
    writer.write(Array("\u{1b}]52;c;\(Data(text.utf8).base64EncodedString())\u{7}".utf8))
  }

  package func close() {
    guard phase != .closed else { return }
    if phase == .shown { giveBack() }
    phase = .closed
    ctg_disarm()
    keyboard?.stop()
    keyboard = nil
    signals?.cancel()
    signals = nil
    if options.ownsProcess { ctg_unwatch() }
    writer.close()
    curses.destroy()
    input.finish()
  }

  package func suspend() {
    guard phase == .shown, options.ownsProcess else { return }
    giveBack()
    ctg_disarm()
    phase = .stopped
    ctg_stop()
    takeBack()
  }

  // MARK: The terminal itself

  private static let shortFrame = 160
  /// For how long leaving waits for an answer of a terminal that has answered before, and of one that has not.
  private static let lastAnswer = Duration.seconds(1)
  private static let firstAnswer = Duration.milliseconds(30)
  private static let synchronizedBegin = Array("\u{1b}[?2026h".utf8)
  private static let synchronizedEnd = Array("\u{1b}[?2026l".utf8)

  private func arm() {
    let armed = unsafe curses.reset.withUnsafeBytes { unsafe ctg_arm(options.output, $0.baseAddress, $0.count) }
    assert(armed, "the reset string is short and the output was checked to be a terminal")
  }

  private func giveBack() {
    let last = curses.end()
    guard !writer.isGone else { return }
    writer.finish(Self.synchronizedEnd + (isMouseOn ? MouseSequences.off : []) + curses.leave + last)
    options.setAlarm(self, nil) {}
    // An answer that came later would be typed at the shell.
    keyboard?.drop(
      answers: pace.unanswered(at: options.now()),
      until: .now.advanced(by: pace.answers > 0 ? Self.lastAnswer : Self.firstAnswer))
    modes.restore()
  }

  private func takeBack() {
    guard !writer.isGone else { return }
    arm()
    do {
      try modes.makeRaw()
    } catch {
      return lose()
    }
    phase = .shown
    waiting = nil
    pace.forget()
    curses.redrawAll()
    writer.write(enter)
    readSize()
    input.send(.resumed)
  }

  /// What the terminal is told when it becomes ours.
  private var enter: [UInt8] { curses.enter + (isMouseOn ? MouseSequences.on : []) }

  /// The terminal is gone: nothing may be written to it or asked of it.
  private func lose() {
    guard phase != .closed else { return }
    keyboard?.stop()
    keyboard = nil
    writer.close()
    ctg_disarm()
    input.send(.terminate(signal: SIGHUP))
  }

  private static func warning(asked term: String, curses: Curses, isASCII: Bool) -> String? {
    var warnings: [String] = []
    if curses.name != term {
      warnings.append(
        "No description of the terminal TERM=\(term) was found; using \(curses.name). "
          + "Install ncurses-term to mend this.")
    }
    if !curses.isUnicode, !isASCII {
      warnings.append("No UTF-8 locale was found; drawing in ASCII. Set LANG=C.UTF-8 to mend this.")
    }
    return warnings.isEmpty ? nil : warnings.joined(separator: " ")
  }

  // MARK: What comes in

  private func receiveAnswer() {
    if pace.answered(at: options.now()), phase == .shown { writer.write(LinkPace.question) }
    showWaiting()
  }

  private func receive(_ event: InputEvent) {
    guard phase == .shown else { return }
    pace.noteKey(at: options.now())
    guard case .mouse(var mouse) = event, mouse.kind == .press else { return input.send(event) }
    mouse.clicks = clicks.count(at: mouse.at, ContinuousClock().now)
    input.send(.mouse(mouse))
  }

  private func readSize() {
    // Told even if the size is the same as before: a window that was smaller in between has cut the picture.
    size = TerminalModes.size(of: options.output, environment: options.environment)
    input.send(.resized(size))
  }

  private static func watchSignals() -> Int32 {
    let numbers = [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT]
    return unsafe numbers.withUnsafeBufferPointer { unsafe ctg_watch($0.baseAddress, $0.count) }
  }

  /// For a pipe that nothing watches yet.
  private static func unwatchSignals(_ pipe: Int32) {
    ctg_unwatch()
    if pipe >= 0 { _ = systemClose(pipe) }
  }

  private func listen(to pipe: Int32) {
    let source = DispatchSource.makeReadSource(fileDescriptor: pipe, queue: .main)
    // Nobody may close a descriptor that is being watched.
    source.setCancelHandler { _ = systemClose(pipe) }
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated { self?.readSignals(pipe) }
    }
    signals = source
    source.activate()
  }

  private func readSignals(_ pipe: Int32) {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(pipe, &bytes, bytes.count)
    guard count > 0 else { return }
    // A window dragged larger sends hundreds: each kind counts once.
    var seen: Set<UInt8> = []
    for byte in bytes.prefix(count) where seen.insert(byte).inserted { handle(Int32(byte)) }
  }

  private func handle(_ signal: Int32) {
    switch signal {
    case SIGWINCH: if phase == .shown { readSize() }
    case SIGTSTP: if phase == .shown { input.send(.suspend) }
    case SIGCONT:
      // Stopped by SIGSTOP, which nobody can catch: whoever had the terminal in between has set its modes.
      guard phase == .shown, !writer.isGone else { return }
      do {
        try modes.makeRaw()
      } catch {
        return lose()
      }
      curses.redrawAll()
      if !writer.isBusy { writer.write(enter) }
      readSize()
      input.send(.resumed)
    default: input.send(.terminate(signal: signal))
    }
  }
}
