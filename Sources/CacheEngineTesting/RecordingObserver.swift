public import CacheEngine
import Synchronization

/// Keeps every event, for a test to look at.
public final class RecordingObserver: CacheObserver {
  private struct State {
    var events: [CacheEvent] = []
    var watchers: [(test: @Sendable (CacheEvent) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Creates an observer that has seen nothing.
  public init() {}

  /// Everything that happened so far, in order.
  public var events: [CacheEvent] { state.withLock { $0.events } }

  /// Keeps an event.
  public func record(_ event: CacheEvent) {
    let ready = state.withLock { state in
      state.events.append(event)
      let ready = state.watchers.filter { $0.test(event) }.map(\.continuation)
      state.watchers.removeAll { $0.test(event) }
      return ready
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until an event has happened; returns at once if it has already.
  ///
  /// - Parameter test: Whether it is the event.
  public func event(where test: @escaping @Sendable (CacheEvent) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.events.contains(where: test) { return true }
        state.watchers.append((test, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
