#if HTTP
import Synchronization

/// The targets of which the store failed to remove or replace something: what it has of them is not to be used.
///
/// A target is in it until it has been removed after all, or something new is stored for it. Where they become too many to be
/// remembered, or everything was to be removed, all targets are in it until everything has been removed.
final class FailedRemovals: Sendable {
  /// The most that are remembered, in about a megabyte; anybody who may send requests can add to them while the store fails.
  static let most = 10_000

  private let keys = Mutex<Set<String>>([])
  private enum Extent: UInt8, AtomicRepresentable { case none, some, all }
  // None, as it almost always is: every read looks here.
  private let extent = Atomic(Extent.none)

  func contains(_ key: String) -> Bool {
    switch extent.load(ordering: .acquiring) {
    case .none: false
    case .some: keys.withLock { $0.contains(key) }
    case .all: true
    }
  }

  var areAll: Bool { extent.load(ordering: .acquiring) == .all }

  func insert(_ key: String) { change { $0.insert(key) } }

  func insertAll() {
    keys.withLock { keys in
      keys = []
      extent.store(.all, ordering: .releasing)
    }
  }

  func remove(_ key: String) {
    if extent.load(ordering: .acquiring) == .some { change { $0.remove(key) } }
  }

  func removeAll() {
    keys.withLock { keys in
      keys = []
      extent.store(.none, ordering: .releasing)
    }
  }

  private func change(_ body: (inout Set<String>) -> Void) {
    keys.withLock { keys in
      guard extent.load(ordering: .relaxed) != .all else { return }
      body(&keys)
      let isTooMuch = keys.count > Self.most
      if isTooMuch { keys = [] }
      extent.store(isTooMuch ? .all : keys.isEmpty ? .none : .some, ordering: .releasing)
    }
  }
}
#endif
