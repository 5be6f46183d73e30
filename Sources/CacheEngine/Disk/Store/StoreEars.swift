import Synchronization

/// What was changed in a directory.
enum StoreChange: Sendable, Equatable {
  case key(StoreKey)
  case tagged(String)
  case everything
}

/// Who hears what the levels of this process change in a store that it has for itself.
final class StoreEars: Sendable {
  private let ears = Mutex<[UInt64: (origin: UInt64, hear: @Sendable (StoreChange) -> Void)]>([:])
  // Hardly any store has one, and every write looks here.
  private let areThere = Atomic(false)

  /// Tells what others change than the level with a number, until ``remove(_:)`` is called with what this gives.
  func add(_ origin: UInt64, _ hear: @escaping @Sendable (StoreChange) -> Void) -> UInt64 {
    let number = UInt64.random(in: 0 ... .max)
    ears.withLock { ears in
      ears[number] = (origin, hear)
      areThere.store(true, ordering: .sequentiallyConsistent)
    }
    return number
  }

  func remove(_ number: UInt64) {
    _ = ears.withLock { ears in
      defer { areThere.store(!ears.isEmpty, ordering: .relaxed) }
      return ears.removeValue(forKey: number)
    }
  }

  func tell(_ change: @autoclosure () throws -> StoreChange?, from origin: UInt64) rethrows {
    guard areThere.load(ordering: .sequentiallyConsistent), let change = try change() else { return }
    for ear in ears.withLock({ $0.values.filter { $0.origin != origin } }) { ear.hear(change) }
  }
}
