import CacheCore
import Dispatch
import Synchronization

/// Who observes a storage, and what they are still to be told.
///
/// A change is noted when it is made, within the key's turn to be written, so that all are told of one key's changes in
/// their order. It is told when the write has ended: on the thread that asked for it, if nobody else writes at that time, and
/// else on a queue, as what happens without a write. Nothing is noted while nobody observes.
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
    case missed(MissedChanges<Key>)
  }

  private typealias Line = DeliveryLine<Note>

  /// Tells an observer; `false` if the observer is gone.
  typealias Observer<Change> = @Sendable (Change) -> Bool

  private struct State: Sendable {
    var line = Line()
    /// Writes under way, each of which tells when it ends.
    var writes = 0
    /// Who tells of what is noted now.
    var teller = Line.Writer.queue
    var lastID = 0
    var observers: [Int: Observer<StorageChange<Key>>] = [:]
    var keyObservers: [Key: [Int: Observer<KeyNote>]] = [:]
    /// Observed keys of which was told that they have no value, so that it is not told once for each tier.
    var absent: Set<Key> = []

    /// Notes a change; what leaves the line for it is returned, so that it dies under no lock.
    mutating func append(_ note: Note) -> [StoredObject?] {
      guard !observers.isEmpty || !keyObservers.isEmpty else { return [] }
      let observed = keyObservers.keys
      var left: [StoredObject?] = []
      line.append(note, of: writes > 0 ? teller : .queue) { last in
        var missed = if case .missed(let missed) = last { missed } else { MissedChanges(last, observed: observed) }
        left = missed.add(note, observed: observed)
        last = .missed(missed)
      }
      return left
    }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "CacheEngine.storage.changes")
  /// Whether a tier holds a live entry; known when the levels are made.
  private let presence = Mutex<(@Sendable (Key) -> Bool)?>(nil)

  func setPresence(_ isLive: @escaping @Sendable (Key) -> Bool) { presence.withLock { $0 = isLive } }

  // MARK: Noting

  func isObserved(_ key: Key) -> Bool { state.withLock { $0.keyObservers[key] != nil } }

  func note(_ note: Note) { _ = state.withLock { $0.append(note) } }

  /// Notes what a level lost; the rest of what leaves is noted by those who ask for it.
  func lose(_ removal: Removal<Key>, from tier: StorageTier) {
    switch removal.cause {
    case .removed, .cleared, .replaced: return
    case .expired, .evicted, .memoryWarning, .damaged: break
    }
    let (isToldByNobody, left) = state.withLock { state in
      let left = state.append(.lost(removal.key, tier, removal.cause))
      return (state.writes == 0, left)
    }
    if isToldByNobody { queue.async { [self] in tell(as: .queue) } }
    withExtendedLifetime(left) {}
  }

  /// A write begins; it hands what it gets to ``endWrite(_:)``.
  func beginWrite() -> DeliveryLine<Note>.Writer {
    state.withLock { state in
      state.writes += 1
      // What happens while several writers write belongs to none of them alone.
      state.teller = state.writes == 1 ? state.line.writer() : .queue
      return state.teller
    }
  }

  func endWrite(_ writer: DeliveryLine<Note>.Writer) {
    state.withLock { $0.writes -= 1 }
    tell(as: writer)
  }

  // MARK: Telling

  private func tell(as writer: Line.Writer) {
    var step = state.withLock { $0.line.begin(writer) }
    while case .deliver(let note) = step {
      tell(note)
      step = state.withLock { $0.line.next() }
    }
    if case .handOver = step { queue.async { [self] in tell(as: .queue) } }
  }

  private func tell(_ note: Note) {
    switch note {
    case .stored(let key, let before, let after):
      tellStored(key, (before, after))
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
    case .missed(let missed):
      for (key, change) in missed.keys {
        if let edit = change.edit { tellStored(key, edit) }
        switch change.end {
        case .none: break
        case .gone(let cause): tellGone(key, cause)
        case .lost(let cause): tellLoss(key, cause)
        }
      }
      tellAll(.missed(missed.count))
    }
  }

  /// Tells that a key has a value, which took the place of none if that one was lost while it was being replaced.
  private func tellStored(_ key: Key, _ edit: (before: StoredObject?, after: StoredObject)) {
    let isGone = state.withLock { $0.absent.remove(key) != nil }
    tellKey(key, .edit(before: isGone ? nil : edit.before, after: edit.after))
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
