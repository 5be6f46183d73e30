import CacheEngine
import Synchronization

/// Time that passes when everybody sleeps, and only as far as to the next who wakes.
///
/// One at a time is awake, so a run takes no longer than its work, and hardly anything in it is left to chance. Who takes part
/// is counted before the run: nobody else may sleep on it, and nobody who does is cancelled.
final class VirtualTime: CacheClock {
  private struct Sleeper {
    var deadline: CacheInstant
    var order: Int
    var continuation: CheckedContinuation<Void, Never>

    func wakes(before other: Sleeper) -> Bool { (deadline, order) < (other.deadline, other.order) }
  }

  private struct State {
    var now = CacheInstant(nanoseconds: 1_000_000_000)
    var awake = 0
    var order = 0
    /// A heap: each wakes before those at twice its place plus one and plus two.
    var sleepers: [Sleeper] = []

    mutating func push(_ sleeper: Sleeper) {
      sleepers.append(sleeper)
      var place = sleepers.count - 1
      while place > 0, sleepers[place].wakes(before: sleepers[(place - 1) / 2]) {
        sleepers.swapAt(place, (place - 1) / 2)
        place = (place - 1) / 2
      }
    }

    mutating func pop() -> Sleeper? {
      guard let first = sleepers.first else { return nil }
      let last = sleepers.removeLast()
      if sleepers.isEmpty { return first }
      sleepers[0] = last
      var place = 0
      while true {
        let children = (place * 2 + 1)..<min(place * 2 + 3, max(place * 2 + 1, sleepers.count))
        guard let next = children.min(by: { sleepers[$0].wakes(before: sleepers[$1]) }),
          sleepers[next].wakes(before: sleepers[place])
        else { return first }
        sleepers.swapAt(place, next)
        place = next
      }
    }

    /// One less is awake: if that was the last one, the next who sleeps.
    mutating func fallAsleep() -> CheckedContinuation<Void, Never>? {
      awake -= 1
      guard awake == 0, let next = pop() else { return nil }
      awake = 1
      now = max(now, next.deadline)
      return next.continuation
    }
  }

  private let state = Mutex(State())

  var now: CacheInstant { state.withLock { $0.now } }
  var timeSinceEpoch: Duration { .nanoseconds(now.nanoseconds) + .seconds(1_767_225_600) }
  var bootIdentifier: UInt64 { 1 }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    await withCheckedContinuation { continuation in
      let next = state.withLock { state in
        state.order += 1
        state.push(Sleeper(deadline: deadline, order: state.order, continuation: continuation))
        return state.fallAsleep()
      }
      next?.resume()
    }
  }

  /// Lets so many work, each in a task of its own, and returns when all of them have ended.
  func run(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    state.withLock { $0.awake = count }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask { [self] in
          defer { state.withLock { $0.fallAsleep() }?.resume() }
          try await work(number)
        }
      }
      try await group.waitForAll()
    }
  }
}
