import CTerminalGuard
import Dispatch

/// The thread that the process began with, serving the main actor and alarms.
///
/// Left to itself, Swift gives that thread up on Linux and has the main actor served by a pool of threads, of which half a
/// dozen wake for one tick of a clock. Here one thread waits for both and wakes once.
@MainActor
package enum MainLoop {
  private static var isRunning = false
  /// One for each owner at the most.
  private static var alarms: [ObjectIdentifier: (due: ContinuousClock.Instant, ring: @MainActor () -> Void)] = [:]
  /// Stand in where this loop does not run: in tests, and where the system has a main loop of its own.
  private static var timers: [ObjectIdentifier: any DispatchSourceTimer] = [:]

  /// Serves the main actor until somebody ends the process.
  package static func run() -> Never {
    let queue = ctg_main_queue()
    guard queue >= 0 else { dispatchMain() }
    isRunning = true
    ctg_serve_main_queue(queue, 0)
    while true {
      let next = alarms.values.map(\.due).min()
      ctg_serve_main_queue(queue, next.map { max(0, ContinuousClock().now.duration(to: $0).wholeNanoseconds) } ?? -1)
      let now = ContinuousClock().now
      for owner in Array(alarms.keys) {
        // One that rang before it may have put it off.
        guard let alarm = alarms[owner], alarm.due <= now else { continue }
        alarms[owner] = nil
        alarm.ring()
      }
    }
  }

  /// Calls once after a while, in place of what the owner set before; `nil` calls never.
  package static func setAlarm(of owner: AnyObject, after delay: Duration?, _ ring: @escaping @MainActor () -> Void) {
    let owner = ObjectIdentifier(owner)
    timers.removeValue(forKey: owner)?.cancel()
    guard !isRunning else {
      alarms[owner] = delay.map { (ContinuousClock().now.advanced(by: $0), ring) }
      return
    }
    guard let delay else { return }
    let source = DispatchSource.makeTimerSource(queue: .main)
    source.setEventHandler { MainActor.assumeIsolated { ring() } }
    source.schedule(deadline: .now() + .nanoseconds(Int(delay.wholeNanoseconds)), leeway: .nanoseconds(0))
    source.activate()
    timers[owner] = source
  }

  /// Waits on an alarm, so that no thread but this one wakes for it.
  ///
  /// - Throws: `CancellationError`, at once when the task is cancelled; the alarm is off then.
  package static func sleep(for delay: Duration) async throws {
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled else { return continuation.resume() }
        sleeper.continuation = continuation
        setAlarm(of: sleeper, after: delay) { sleeper.wake() }
      }
    } onCancel: {
      Task { @MainActor in sleeper.wake() }
    }
    setAlarm(of: sleeper, after: nil) {}
    try Task.checkCancellation()
  }

  /// Who waits for an alarm.
  @MainActor
  private final class Sleeper {
    var continuation: CheckedContinuation<Void, Never>?

    func wake() {
      continuation?.resume()
      continuation = nil
    }
  }
}

extension Duration {
  /// For waits, which are short.
  fileprivate var wholeNanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
