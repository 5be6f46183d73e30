import CacheCore

/// Changes of a storage that came faster than they could be told: how many, and what became of the keys with observers.
struct MissedChanges<Key: Hashable & Sendable>: Sendable {
  typealias Note = StorageChanges<Key>.Note
  typealias Observed = Dictionary<Key, [Int: StorageChanges<Key>.Observer<StorageChanges<Key>.KeyNote>]>.Keys

  /// What became of one key, all in all.
  struct Outcome: Sendable {
    enum End: Sendable {
      case gone(RemovalCause)
      /// One tier lost it.
      case lost(RemovalCause)
    }

    var edit: (before: StoredObject?, after: StoredObject)?
    var end: End?
  }

  private(set) var count = 0
  private(set) var keys: [Key: Outcome] = [:]

  init(_ note: Note, observed: Observed) { _ = add(note, observed: observed) }

  /// Adds a change, and returns what nobody will be told of any more.
  mutating func add(_ note: Note, observed: Observed) -> [StoredObject?] {
    count += 1
    switch note {
    case .stored(let key, let before, let after):
      guard observed.contains(key) else { return [] }
      let last = keys[key]?.edit
      keys[key] = Outcome(edit: (last.map(\.before) ?? before, after))
      return last.map { [$0.after, before] } ?? []
    case .removed(let key): if observed.contains(key) { keys[key, default: Outcome()].end = .gone(.removed) }
    case .removedAll: for key in observed { keys[key, default: Outcome()].end = .gone(.cleared) }
    case .removedInMemory(let key): if observed.contains(key) { lose(key, .removed) }
    case .lost(let key, _, let cause): if observed.contains(key) { lose(key, cause) }
    case .removedExpired, .missed: break
    }
    return []
  }

  private mutating func lose(_ key: Key, _ cause: RemovalCause) {
    if case .gone = keys[key]?.end { return }
    keys[key, default: Outcome()].end = .lost(cause)
  }
}
