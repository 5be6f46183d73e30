internal import CPseudoTerminal
internal import CStore
internal import Synchronization

#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#endif

/// The thread behind a ``PseudoTerminal``: it alone reads, writes, closes, and asks conditions.
final class PseudoTerminalLoop: Sendable {
  typealias Sight = PseudoTerminal.Sight

  struct Waiter {
    var what: String
    var deadline: ContinuousClock.Instant
    var isMet: @Sendable (Sight) -> Bool
    var continuation: CheckedContinuation<Sight, any Error>
  }

  /// What passes between the tests and the thread.
  struct State {
    var sight: Sight
    var output: [UInt8] = []
    var waiters: [Waiter] = []
    var typed: [UInt8] = []
    var sizes: [(width: Int, height: Int)] = []
    /// Says that it is well when asked, as terminals do.
    var answersQuestions = true
    var isUnplugged = false
    var isAbandoned = false
  }

  let terminal: cpt_terminal
  let state: Mutex<State>
  private let wakeRead: Int32
  private let wakeWrite: Int32

  init(_ terminal: cpt_terminal, width: Int, height: Int) {
    self.terminal = terminal
    state = Mutex(State(sight: Sight(screen: EmulatedScreen(width: width, height: height))))
    var ends: [Int32] = [-1, -1]
    _ = unsafe cstore_pipe(&ends)
    (wakeRead, wakeWrite) = (ends[0], ends[1])
  }

  deinit {
    close(wakeRead)
    close(wakeWrite)
  }

  func start() {
    let box = unsafe Unmanaged.passRetained(self)
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<PseudoTerminalLoop>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    precondition(failure == 0, "the system has no thread left")
    #if canImport(Darwin)
    if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
  }

  func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    var byte: UInt8 = 1
    _ = unsafe write(wakeWrite, &byte, 1)
  }

  func wait(
    for what: String, within limit: Duration, _ isMet: @escaping @Sendable (Sight) -> Bool
  ) async throws -> Sight {
    try await withCheckedThrowingContinuation { continuation in
      let waiter = Waiter(what: what, deadline: .now + limit, isMet: isMet, continuation: continuation)
      change { $0.waiters.append(waiter) }
    }
  }

  // MARK: On the thread

  private static let endMark = Array("\u{1b}_the program has ended\u{1b}\\".utf8)

  /// What only the thread knows.
  private struct Work {
    var emulator: TerminalEmulator
    var master: Int32
    var statuses: Int32
    var typed: [UInt8] = []
    var markLeft: ArraySlice<UInt8> = []
    var tail: [UInt8] = []
    var ending: PseudoTerminal.Ending?
  }

  private func run() {
    let size = state.withLock { $0.sight.screen }
    var work = Work(
      emulator: TerminalEmulator(width: size.width, height: size.height), master: terminal.master,
      statuses: terminal.statuses)
    while takeOrders(&work) {
      answerWaiters()
      var polled = [
        pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
        pollfd(fd: work.statuses, events: Int16(POLLIN), revents: 0),
        pollfd(
          fd: work.master, events: Int16(POLLIN) | (work.typed.isEmpty ? 0 : Int16(POLLOUT)), revents: 0),
      ]
      let count = nfds_t(polled.count)
      _ = unsafe poll(&polled, count, timeout())
      if polled[0].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 256)
        _ = unsafe read(wakeRead, &bytes, bytes.count)
      }
      if polled[2].revents != 0 { exchange(&work) }
      if polled[1].revents != 0 { readStatuses(&work) }
      if !work.markLeft.isEmpty { writeMark(&work) }
    }
    finish(work)
  }

  /// Does what the tests asked for; false when nobody is left to ask.
  private func takeOrders(_ work: inout Work) -> Bool {
    let (typed, sizes, isUnplugged, isAbandoned) = state.withLock { state in
      defer { (state.typed, state.sizes) = ([], []) }
      return (state.typed, state.sizes, state.isUnplugged, state.isAbandoned)
    }
    // What is typed behind the program's back would only be echoed.
    if work.ending == nil { work.typed += typed }
    for size in sizes {
      work.emulator.resize(width: size.width, height: size.height)
      publish(work, [])
      if work.master >= 0 { _ = cpt_resize(work.master, Int32(size.width), Int32(size.height)) }
    }
    if isUnplugged, work.master >= 0 {
      close(work.master)
      work.master = -1
    }
    return !isAbandoned
  }

  private func exchange(_ work: inout Work) {
    if !work.typed.isEmpty {
      let count = unsafe write(work.master, work.typed, work.typed.count)
      if count > 0 { work.typed.removeFirst(count) }
    }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(work.master, &bytes, bytes.count)
    guard count > 0 else { return }
    let new = Array(bytes.prefix(count))
    let questions = work.emulator.questions
    work.emulator.feed(new)
    if state.withLock({ $0.answersQuestions }), work.ending == nil {
      for _ in questions..<max(questions, work.emulator.questions) { work.typed += Array("\u{1b}[0n".utf8) }
    }
    if work.ending != nil {
      // Everything before the mark was the program's. Behind it may come the echo of what was typed last.
      work.tail += new
      guard let mark = work.tail.firstRange(of: Self.endMark) else { return }
      publish(work, Array(work.tail[..<mark.lowerBound]))
      return conclude(&work)
    }
    publish(work, new)
  }

  private func readStatuses(_ work: inout Work) {
    var status: Int32 = 0
    while work.statuses >= 0 {
      let count = unsafe read(work.statuses, &status, MemoryLayout<Int32>.size)
      if count < 0 { return }
      guard count > 0 else {
        close(work.statuses)
        work.statuses = -1
        return
      }
      if status & 0xff == 0x7f {
        state.withLock { $0.sight.isStopped = true }
      } else if status == 0xffff {
        state.withLock { $0.sight.isStopped = false }
      } else {
        work.ending = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
        // What the program wrote may still be on its way through the kernel. It comes before what is written now.
        work.markLeft = Self.endMark[...]
        work.typed = []
        if work.master < 0 { conclude(&work) }
      }
    }
  }

  private func writeMark(_ work: inout Work) {
    let count = unsafe work.markLeft.withUnsafeBytes { unsafe write(terminal.device, $0.baseAddress, $0.count) }
    if count > 0 { work.markLeft = work.markLeft.dropFirst(count) }
    if count < 0, errno != EAGAIN, errno != EINTR { conclude(&work) }
  }

  private func conclude(_ work: inout Work) {
    (work.markLeft, work.tail) = ([], [])
    let ending = work.ending
    state.withLock { $0.sight.ending = ending }
  }

  private func publish(_ work: borrowing Work, _ new: [UInt8]) {
    let (screen, frames, unknown) = (work.emulator.screen, work.emulator.frames, work.emulator.unknown)
    state.withLock { state in
      state.output += new
      state.sight.screen = screen
      state.sight.frames = frames
      state.sight.unknown = unknown
      state.sight.bytes = state.output.count
    }
  }

  private func answerWaiters() {
    let (sight, waiters) = state.withLock { state in
      defer { state.waiters = [] }
      return (state.sight, state.waiters)
    }
    let text = { sight.screen.text }
    var unanswered: [Waiter] = []
    for waiter in waiters {
      let isWhole = !sight.screen.isSynchronizing || sight.ending != nil
      if isWhole, waiter.isMet(sight) {
        waiter.continuation.resume(returning: sight)
      } else if let ending = sight.ending {
        waiter.continuation.resume(
          throwing: PseudoTerminal.Failure.ended(waitingFor: waiter.what, ending: ending, screen: text()))
      } else if waiter.deadline <= .now {
        waiter.continuation.resume(
          throwing: PseudoTerminal.Failure.timedOut(waitingFor: waiter.what, screen: text()))
      } else {
        unanswered.append(waiter)
      }
    }
    state.withLock { $0.waiters = unanswered + $0.waiters }
  }

  /// Milliseconds to the next deadline; -1 for none.
  private func timeout() -> Int32 {
    guard let next = state.withLock({ $0.waiters.map(\.deadline).min() }) else { return -1 }
    let left = ContinuousClock.now.duration(to: next).components
    return Int32(max(0, min(60_000, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)))
  }

  private func finish(_ work: Work) {
    // After its end the number may belong to somebody else.
    if work.ending == nil { kill(terminal.program, SIGKILL) }
    if work.master >= 0 { close(work.master) }
    close(terminal.device)
    var status: Int32 = 0
    while unsafe waitpid(terminal.shell, &status, 0) < 0, errno == EINTR {}
    if work.statuses >= 0 { close(work.statuses) }
  }
}
