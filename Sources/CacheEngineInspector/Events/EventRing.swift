import CacheEngine
import Synchronization

/// The last events, for everybody who looks: each reader has its own place in them.
///
/// It holds so many and no more. A reader that is too slow misses the oldest, and is told how many; recording never waits for
/// a reader, and memory is taken only while somebody listens.
final class EventRing: Sendable {
  private struct State {
    var slots: [CacheEvent] = []
    /// The number that the next event gets.
    var next: UInt64 = 0
    /// The number of the oldest event that is held.
    var first: UInt64 = 0
    var wakers: [UInt64: @Sendable () -> Void] = [:]
    var isAwaited = false
  }

  struct Batch {
    var events: [CacheEvent]
    var lost: UInt64
    /// There are more already.
    var hasMore: Bool
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    precondition(capacity > 0, "a ring must hold something")
    self.capacity = capacity
  }

  func append(_ event: CacheEvent) {
    let wakers: [@Sendable () -> Void] = state.withLock { state in
      let place = Int(state.next % UInt64(capacity))
      if place < state.slots.count {
        state.slots[place] = event
      } else {
        // Emptied in between: the places before it in the circle are filled with this one until they are overwritten.
        while state.slots.count <= place { state.slots.append(event) }
      }
      state.next += 1
      state.first = max(state.first, state.next > UInt64(capacity) ? state.next - UInt64(capacity) : 0)
      guard state.isAwaited else { return [] }
      state.isAwaited = false
      return Array(state.wakers.values)
    }
    for wake in wakers { wake() }
  }

  /// The place behind the newest event.
  var end: UInt64 { state.withLock { $0.next } }

  /// Takes events from a place on, which moves behind them.
  func read(from place: inout UInt64, atMost count: Int) -> Batch {
    let from = place
    let (batch, next) = state.withLock { state in
      let first = max(from, state.first)
      let last = min(first + UInt64(count), state.next)
      let events = (first..<last).map { state.slots[Int($0 % UInt64(capacity))] }
      return (Batch(events: events, lost: first - from, hasMore: last < state.next), last)
    }
    place = next
    return batch
  }

  /// Has every reader woken by the next event, if there is none behind a place yet.
  ///
  /// - Returns: Whether there is none.
  func await(from place: UInt64) -> Bool {
    state.withLock { state in
      guard state.next <= place else { return false }
      state.isAwaited = true
      return true
    }
  }

  func addWaker(_ id: UInt64, _ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakers[id] = wake } }

  func removeWaker(_ id: UInt64) { state.withLock { $0.wakers[id] = nil } }

  /// Releases all events; nobody reads.
  func empty() {
    let held = state.withLock { state in
      defer {
        state.slots = []
        state.first = state.next
      }
      return state.slots
    }
    withExtendedLifetime(held) {}
  }
}
