package import CacheEngine
import Synchronization

/// A clock on which waiting takes no time: a task that waits moves it on.
///
/// It is for one caller at a time. Threads of the levels' own neither move it nor are waited for.
package final class SimulatedClock: CacheClock, Sendable {
  /// Something that happens at an instant, before time goes on.
  package struct Moment: Sendable {
    var at: CacheInstant
    var perform: @Sendable () async -> Void
  }

  private struct State {
    var now: CacheInstant
    /// In the order of their instants.
    var moments: [Moment] = []
  }

  /// Whoever has it set moves the clock.
  @TaskLocal private static var isDriving = false

  private static let start = CacheInstant(nanoseconds: 1_000_000_000_000)
  /// 2026-01-01 12:00 UTC, at the start.
  private static let startOfWall = Duration.seconds(1_767_268_800)
  /// What a look at the clock takes: else nothing that is fast would take any time.
  private static let look = Duration.microseconds(3)

  private let state: Mutex<State>

  package init() { state = Mutex(State(now: Self.start)) }

  package var now: CacheInstant {
    state.withLock { state in
      if Self.isDriving { state.now = state.now.advanced(by: Self.look) }
      return state.now
    }
  }

  package var timeSinceEpoch: Duration { Self.startOfWall + state.withLock { Self.start.duration(to: $0.now) } }
  package var bootIdentifier: UInt64 { 1 }
  package var minimumResolution: Duration { .nanoseconds(1) }

  package func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    guard Self.isDriving else { return try await ContinuousClock().sleep(for: .seconds(3_600)) }
    try Task.checkCancellation()
    while let moment = takeMoment(before: deadline) { await moment.perform() }
    state.withLock { $0.now = max($0.now, deadline) }
  }

  /// Does something of which all waiting moves the clock on.
  package func drive<Result: Sendable>(_ work: () async throws -> Result) async rethrows -> Result {
    try await Self.$isDriving.withValue(true) { try await work() }
  }

  /// Has something done when so much time has passed; later calls are for later times.
  package func plan(after time: Duration, _ perform: @escaping @Sendable () async -> Void) {
    state.withLock { $0.moments.append(Moment(at: Self.start.advanced(by: time), perform: perform)) }
  }

  private func takeMoment(before deadline: CacheInstant) -> Moment? {
    state.withLock { state in
      guard let first = state.moments.first, first.at <= deadline else { return nil }
      state.now = max(state.now, first.at)
      return state.moments.removeFirst()
    }
  }
}
