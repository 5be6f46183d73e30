package import CacheEngine
import ExplorerText
import Synchronization

/// A clock that runs slower or faster than the one below it, and that can be moved forwards.
///
/// Until it is told otherwise it shows what the clock below shows.
package final class AdjustableClock: CacheClock, Sendable {
  private struct Sleeper {
    let deadline: CacheInstant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    /// What this clock and the one below showed when the speed was set.
    var own: CacheInstant
    var below: CacheInstant
    var speed = 1.0
    var sleepers: [UInt64: Sleeper] = [:]
    var nextSleeper: UInt64 = 0
    /// Waits on the clock below for the first sleeper.
    var timer: Task<Void, Never>?
    /// The deadline that the timer is for, by this clock.
    var earliest: CacheInstant?

    func now(_ below: CacheInstant) -> CacheInstant {
      let passed = max(.zero, self.below.duration(to: below))
      return own.advanced(by: speed == 1 ? passed : .nanoseconds(Self.scaled(passed, by: speed)))
    }

    static func scaled(_ duration: Duration, by factor: Double) -> Int64 {
      Int64(min(9e18, (Double(duration.clampedNanoseconds) * factor).rounded(.up)))
    }
  }

  private let base: any CacheClock
  private let state: Mutex<State>

  package init(_ base: any CacheClock = SystemClock()) {
    self.base = base
    let now = base.now
    state = Mutex(State(own: now, below: now))
  }

  package var now: CacheInstant {
    let below = base.now
    return state.withLock { $0.now(below) }
  }

  package var timeSinceEpoch: Duration {
    let (epoch, below) = (base.timeSinceEpoch, base.now)
    return epoch + state.withLock { below.duration(to: $0.now(below)) }
  }

  package var bootIdentifier: UInt64 { base.bootIdentifier }
  package var minimumResolution: Duration { .nanoseconds(1) }

  /// How much time passes here while a second passes below.
  package var speed: Double {
    get { state.withLock { $0.speed } }
    set { adjust { $0.speed = min(max(newValue, Quantity.speeds.lowerBound), Quantity.speeds.upperBound) } }
  }

  /// Moves the clock forwards, and wakes who slept until then.
  package func advance(by duration: Duration) { adjust { $0.own = $0.own.advanced(by: max(.zero, duration)) } }

  private func adjust(_ change: (inout State) -> Void) {
    let outdated = state.withLock { state in
      // Under the lock: a reading older than one that somebody was already shown would turn this clock back.
      let below = base.now
      state.own = state.now(below)
      state.below = max(state.below, below)
      change(&state)
      defer { (state.timer, state.earliest) = (nil, nil) }
      return state.timer
    }
    outdated?.cancel()
    wake()
  }

  package func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isFirst = state.withLock { state in
          state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          return state.earliest.map { deadline < $0 } ?? true
        }
        if isFirst { wake() }
        // A cancellation that came before the sleeper was noted found nobody to wake.
        if Task.isCancelled { cancelSleep(id) }
      }
    } onCancel: {
      cancelSleep(id)
    }
  }

  private func cancelSleep(_ id: UInt64) {
    let (sleeper, outdated) = state.withLock { state -> (Sleeper?, Task<Void, Never>?) in
      let sleeper = state.sleepers.removeValue(forKey: id)
      guard state.sleepers.isEmpty else { return (sleeper, nil) }
      defer { (state.timer, state.earliest) = (nil, nil) }
      return (sleeper, state.timer)
    }
    outdated?.cancel()
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  /// Wakes everybody who is due, in order, and has the clock below wait for the next.
  private func wake() {
    let below = base.now
    let (due, outdated) = state.withLock { state -> ([Sleeper], Task<Void, Never>?) in
      let now = state.now(below)
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for id in due.keys { state.sleepers[id] = nil }
      let woken = due.values.sorted { $0.deadline < $1.deadline }
      let next = state.sleepers.values.lazy.map(\.deadline).min()
      guard next != state.earliest else { return (woken, nil) }
      let outdated = state.timer
      state.earliest = next
      state.timer = next.map { next in
        let wait = max(1, State.scaled(now.duration(to: next), by: 1 / state.speed))
        return Task { [base, weak self] in
          do { try await base.sleep(until: below.advanced(by: .nanoseconds(wait)), tolerance: nil) } catch { return }
          self?.timerEnded(for: next)
        }
      }
      return (woken, outdated)
    }
    outdated?.cancel()
    for sleeper in due { sleeper.continuation.resume() }
  }

  private func timerEnded(for deadline: CacheInstant) {
    state.withLock { state in
      guard state.earliest == deadline else { return }
      (state.timer, state.earliest) = (nil, nil)
    }
    wake()
  }

  deinit { state.withLock { $0.timer }?.cancel() }
}
