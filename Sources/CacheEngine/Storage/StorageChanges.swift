import Dispatch
import Synchronization

/// Who observes a storage, and what they are still to be told.
///
/// A change is noted when it is made, within the key's turn to be written, so that all are told of one key's changes in
/// their order. It is told when the operation has ended, on the thread that asked for it; what happens without being
/// asked for is told on a thread of its own. Nothing is noted while nobody observes.
final class StorageChanges<Key: Hashable & Sendable>: Sendable {
  /// What the views make of a change: they know the type that values have for their observers.
  enum KeyNote: Sendable {
    case edit(before: StoredObject?, after: StoredObject)
    case remove(RemovalCause)
  }

  enum Note: Sendable {
    case stored(Key, before: StoredObject?, after: StoredObject)
    case removed(Key)
    case removedAll
    case removedExpired
    case removedInMemory(Key)
    case lost(Key, StorageTier, RemovalCause)
  }

  /// Tells an observer; `false` if the observer is gone.
  typealias Observer<Change> = @Sendable (Change) -> Bool

  private struct State: Sendable {
    var line = DeliveryLine<Note>()
    /// Operations under way, each of which delivers when it ends.
    var operations = 0
    var lastID = 0
    var observers: [Int: Observer<StorageChange<Key>>] = [:]
    var keyObservers: [Key: [Int: Observer<KeyNote>]] = [:]
    /// Observed keys of which was told that they have no value, so that it is not told once for each tier.
    var absent: Set<Key> = []

    var isHeard: Bool { !observers.isEmpty || !keyObservers.isEmpty }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "CacheEngine.storage.losses")
  /// Whether a tier holds a live entry; known when the levels are made.
  private let presence = Mutex<(@Sendable (Key) -> Bool)?>(nil)

  func setPresence(_ isLive: @escaping @Sendable (Key) -> Bool) { presence.withLock { $0 = isLive } }

  // MARK: Noting

  func isObserved(_ key: Key) -> Bool { state.withLock { $0.keyObservers[key] != nil } }

  func note(_ note: Note) {
    state.withLock { state in
      if state.isHeard { state.line.append(note) }
    }
  }

  /// Notes what a level lost; the rest of what leaves is noted by those who ask for it.
  func lose(_ removal: Removal<Key>, from tier: StorageTier) {
    switch removal.cause {
    case .removed, .cleared, .replaced: return
    case .expired, .evicted, .memoryWarning, .damaged: break
    }
    let isAlone = state.withLock { state in
      guard state.isHeard else { return false }
      state.line.append(.lost(removal.key, tier, removal.cause))
      return state.operations == 0
    }
    if isAlone { queue.async { [self] in deliver() } }
  }

  func beginOperation() { state.withLock { $0.operations += 1 } }

  func endOperation() {
    state.withLock { $0.operations -= 1 }
    deliver()
  }

  // MARK: Telling

  private func deliver() {
    guard state.withLock({ $0.line.begin() }) else { return }
    while let note = state.withLock({ $0.line.next() }) { tell(note) }
  }

  private func tell(_ note: Note) {
    switch note {
    case .stored(let key, let before, let after):
      _ = state.withLock { $0.absent.remove(key) }
      tellKey(key, .edit(before: before, after: after))
      tellAll(.add(key))
    case .removed(let key):
      tellGone(key, .removed)
      tellAll(.remove(key))
    case .removedAll:
      for key in state.withLock({ Array($0.keyObservers.keys) }) { tellGone(key, .cleared) }
      tellAll(.removeAll)
    case .removedExpired: tellAll(.removeExpired)
    case .removedInMemory(let key):
      tellLoss(key, .removed)
      tellAll(.removeInMemory(key))
    case .lost(let key, let tier, let cause):
      tellLoss(key, cause)
      tellAll(.lost(key, from: tier, cause: cause))
    }
  }

  /// Tells that a key has no value, unless another tier has one or a newer one has come.
  private func tellLoss(_ key: Key, _ cause: RemovalCause) {
    guard state.withLock({ $0.keyObservers[key] != nil && !$0.absent.contains(key) }) else { return }
    let isLive = presence.withLock { $0 }
    if !(isLive?(key) ?? false) { tellGone(key, cause) }
  }

  private func tellGone(_ key: Key, _ cause: RemovalCause) {
    state.withLock { state in
      if state.keyObservers[key] != nil { state.absent.insert(key) }
    }
    tellKey(key, .remove(cause))
  }

  private func tellKey(_ key: Key, _ note: KeyNote) {
    for id in state.withLock({ $0.keyObservers[key]?.keys.sorted() ?? [] }) {
      // Looked up one by one: an observer may have cancelled the next one.
      guard let tell = state.withLock({ $0.keyObservers[key]?[id] }), !tell(note) else { continue }
      remove(id, forKey: key)
    }
  }

  private func tellAll(_ change: StorageChange<Key>) {
    for id in state.withLock({ $0.observers.keys.sorted() }) {
      guard let tell = state.withLock({ $0.observers[id] }), !tell(change) else { continue }
      remove(id)
    }
  }

  // MARK: Observers

  func add(_ observer: @escaping Observer<StorageChange<Key>>) -> ObservationToken {
    let id = state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = observer
      return state.lastID
    }
    return ObservationToken { [weak self] in self?.remove(id) }
  }

  func add(forKey key: Key, _ observer: @escaping Observer<KeyNote>) -> ObservationToken {
    let id = state.withLock { state in
      state.lastID += 1
      state.keyObservers[key, default: [:]][state.lastID] = observer
      return state.lastID
    }
    return ObservationToken { [weak self] in self?.remove(id, forKey: key) }
  }

  // What is removed is carried out of the lock, and dies out here.

  private func remove(_ id: Int) { _ = state.withLock { $0.observers.removeValue(forKey: id) } }

  private func remove(_ id: Int, forKey key: Key) {
    _ = state.withLock { state in
      let removed = state.keyObservers[key]?.removeValue(forKey: id)
      if state.keyObservers[key]?.isEmpty ?? false {
        state.keyObservers[key] = nil
        state.absent.remove(key)
      }
      return removed
    }
  }

  func removeAllObservers() {
    _ = state.withLock { state in
      defer { state.observers = [:] }
      return state.observers
    }
  }

  func removeObservers(forKey key: Key) {
    _ = state.withLock { state in
      state.absent.remove(key)
      return state.keyObservers.removeValue(forKey: key)
    }
  }

  func removeAllKeyObservers() {
    _ = state.withLock { state in
      defer {
        state.keyObservers = [:]
        state.absent = []
      }
      return state.keyObservers
    }
  }
}
