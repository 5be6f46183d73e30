import CTerminalGuard
import Dispatch

/// The thread that the process began with, serving the main actor and one alarm.
///
/// Left to itself, Swift gives that thread up on Linux and has the main actor served by a pool of threads, of which half a
/// dozen wake for one tick of a clock. Here one thread waits for both and wakes once.
@MainActor
enum MainLoop {
  private static var isRunning = false
  private static var alarm: (due: ContinuousClock.Instant, ring: @MainActor () -> Void)?
  /// Stands in where this loop does not run: in tests, and where the system has a main loop of its own.
  private static var timer: (any DispatchSourceTimer)?

  /// Serves the main actor until somebody ends the process.
  static func run() -> Never {
    let queue = ctg_main_queue()
    guard queue >= 0 else { dispatchMain() }
    isRunning = true
    ctg_serve_main_queue(queue, 0)
    while true {
      ctg_serve_main_queue(
        queue, alarm.map { max(0, ContinuousClock().now.duration(to: $0.due).wholeNanoseconds) } ?? -1)
      if let (due, ring) = alarm, due <= ContinuousClock().now {
        alarm = nil
        ring()
      }
    }
  }

  /// Calls once after a while, in place of what was set before; `nil` calls never.
  static func setAlarm(after delay: Duration?, _ ring: @escaping @MainActor () -> Void) {
    timer?.cancel()
    timer = nil
    guard !isRunning else {
      alarm = delay.map { (ContinuousClock().now.advanced(by: $0), ring) }
      return
    }
    guard let delay else { return }
    let source = DispatchSource.makeTimerSource(queue: .main)
    source.setEventHandler { MainActor.assumeIsolated { ring() } }
    source.schedule(deadline: .now() + .nanoseconds(Int(delay.wholeNanoseconds)), leeway: .nanoseconds(0))
    source.activate()
    timer = source
  }
}

extension Duration {
  /// For waits, which are short.
  fileprivate var wholeNanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
