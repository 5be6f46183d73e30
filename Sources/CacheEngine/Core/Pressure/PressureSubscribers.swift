import Synchronization

/// Who wants to hear of pressure.
final class PressureSubscribers: Sendable {
  private struct State {
    var receivers: [UInt64: @Sendable (MemoryPressure) -> Void] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.receivers.count } }

  func add(_ receive: @escaping @Sendable (MemoryPressure) -> Void) -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      state.receivers[state.lastID] = receive
      return state.lastID
    }
  }

  func remove(_ id: UInt64) {
    // What the closure holds is released outside the lock.
    _ = state.withLock { $0.receivers.removeValue(forKey: id) }
  }

  func tell(_ pressure: MemoryPressure) {
    for receive in state.withLock({ Array($0.receivers.values) }) { receive(pressure) }
  }
}
