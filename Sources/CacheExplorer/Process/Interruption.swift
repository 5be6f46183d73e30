import CTerminalGuard
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Turns signals that end a program into a call, so that a cache is closed before the program ends; the same happens when the
/// reader of standard output ends, or it cannot be written.
///
/// What is under way may never end, such as a system call on a file server that is gone. A signal that comes when all should have
/// ended by now ends the program where it stands.
final class Interruption: Sendable {
  /// As the program was started: nohup has it outlive its terminal.
  private static let unlessIgnored = [SIGHUP, SIGQUIT].filter { !ctg_is_ignored($0) }

  private let sources = Mutex<[any DispatchSourceSignal]>([])
  private let received = Mutex<(number: Int32, at: ContinuousClock.Instant)?>(nil)
  private let patience: Duration
  private let outlivesOutput: Bool
  private let onSignal: Mutex<(@Sendable () -> Void)?>

  /// `patience`: How long after the first signal another one still leaves time to end; many a program sends two in a row.
  ///
  /// `outlivesOutput`: What runs is of use without output that cannot be written.
  ///
  /// `onSignal`: Called for a signal from here on; with `nil`, as soon as `handle(with:)` has named it. A signal that comes before
  /// ends the program.
  init(patience: Duration = .seconds(1), outlivesOutput: Bool = false, _ onSignal: (@Sendable () -> Void)?) {
    self.patience = patience
    self.outlivesOutput = outlivesOutput
    self.onSignal = Mutex(onSignal)
    // A queue of its own, as all threads of the shared ones may be busy with what does not end.
    let queue = DispatchQueue(label: "signals")
    let registering = DispatchGroup()
    sources.withLock { sources in
      for number in [SIGINT, SIGTERM] + Self.unlessIgnored {
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in self?.take(number) }
        #if canImport(Darwin)
        // On Linux, Dispatch catches what it watches; what came before that would be lost.
        signal(number, SIG_IGN)
        #endif
        registering.enter()
        source.setRegistrationHandler { registering.leave() }
        source.activate()
        sources.append(source)
      }
    }
    registering.wait()
    StandardStreams.tellLost(self)
  }

  /// Has SIGQUIT end the program as long as nothing waits for signals: Swift's runtime reports it as a crash, and goes on.
  static func releaseQuit() {
    if unlessIgnored.contains(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
  }

  /// Standard output cannot be written any more.
  func loseOutput(_ failure: Int32) {
    if failure == EPIPE || !outlivesOutput { take(SIGPIPE) }
  }

  func take(_ number: Int32) {
    let first = received.withLock { received in
      let first = received ?? (number, .now)
      received = first
      return first
    }
    guard let onSignal = onSignal.withLock(\.self), first.at.duration(to: .now) < patience else {
      _exit(128 + first.number)
    }
    onSignal()
  }

  /// Names what is called for a signal.
  func handle(with onSignal: @escaping @Sendable () -> Void) { self.onSignal.withLock { $0 = onSignal } }

  deinit { sources.withLock { for source in $0 { source.cancel() } } }

  /// The exit status that tells of the signal; `nil` if none came.
  var status: Int32? { received.withLock { $0 }.map { 128 + $0.number } }

  /// Does work that a signal cancels, and that begins once signals are told.
  ///
  /// - Returns: The exit status that tells of the signal; `nil` if none came.
  static func during(_ work: @escaping @Sendable () async -> Void) async -> Int32? {
    let (start, starting) = AsyncStream<Never>.makeStream()
    let task = Task {
      for await _ in start {}
      await work()
    }
    let interruption = Interruption { task.cancel() }
    starting.finish()
    await task.value
    return interruption.status
  }
}
