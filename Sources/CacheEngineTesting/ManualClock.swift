public import CacheEngine
import Synchronization

/// A clock that stands still until it is told to move.
///
/// Sleepers wake in the order of their deadlines when the clock passes them, and in that of their calls if these are equal.
///
/// ```swift
/// let clock = ManualClock()
/// let level = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock)
/// clock.advance(by: .seconds(61))
/// ```
public final class ManualClock: CacheClock, Sendable {
  private struct State {
    var now: CacheInstant
    var timeSinceEpoch: Duration
    var boot: UInt64 = 1
    var nextSleeper: UInt64 = 0
    var sleepers: [UInt64: Sleeper] = [:]
    var sleeperCountWaiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private struct Sleeper {
    let deadline: CacheInstant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private let state: Mutex<State>

  /// Creates a clock that stands still.
  ///
  /// - Parameters:
  ///   - now: The instant that it shows.
  ///   - timeSinceEpoch: The time of day that it shows. By default 2026-01-01 00:00 UTC.
  public init(
    now: CacheInstant = CacheInstant(nanoseconds: 1_000_000_000_000),
    timeSinceEpoch: Duration = .seconds(1_767_225_600)
  ) {
    state = Mutex(State(now: now, timeSinceEpoch: timeSinceEpoch))
  }

  /// The instant that the clock shows.
  public var now: CacheInstant { state.withLock { $0.now } }

  /// The time of day that the clock shows.
  public var timeSinceEpoch: Duration { state.withLock { $0.timeSinceEpoch } }

  /// Changes with every ``reboot()``.
  public var bootIdentifier: UInt64 { state.withLock { $0.boot } }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Moves both the clock and the time of day, and wakes the tasks that sleep until then.
  ///
  /// - Parameter duration: How far; not negative.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "a clock moves forwards only; to step the time of day use stepWallClock(by:)")
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      state.timeSinceEpoch += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }.sorted {
        ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key)
      }
      for (id, _) in due { state.sleepers[id] = nil }
      return due.map(\.value.continuation)
    }
    for sleeper in woken { sleeper.resume() }
  }

  /// Steps the time of day alone, as a person or a time server does.
  ///
  /// - Parameter duration: How far; may be negative.
  public func stepWallClock(by duration: Duration) {
    state.withLock { $0.timeSinceEpoch += duration }
  }

  /// Restarts the machine: the clock begins again at a small instant and under a new boot identifier.
  public func reboot() {
    state.withLock { state in
      state.now = CacheInstant(nanoseconds: 1_000_000_000)
      state.boot += 1
    }
  }

  /// Waits until the clock has been moved to the deadline, or throws `CancellationError`.
  public func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isDue, waiters) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
          guard deadline > state.now else { return (true, []) }
          state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          let count = state.sleepers.count
          let ready = state.sleeperCountWaiters.filter { $0.count <= count }.map(\.continuation)
          state.sleeperCountWaiters.removeAll { $0.count <= count }
          return (false, ready)
        }
        if isDue { continuation.resume() }
        for waiter in waiters { waiter.resume() }
        // A cancellation that came before the sleeper was noted found nobody to wake.
        if Task.isCancelled { cancelSleep(id) }
      }
    } onCancel: {
      cancelSleep(id)
    }
  }

  /// Waits until at least so many tasks sleep on this clock, so that a test knows when to move it.
  ///
  /// - Parameter count: How many.
  public func waitForSleepers(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.sleeperCountWaiters.append((count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  private func cancelSleep(_ id: UInt64) {
    state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
  }
}
