import CacheDisk
import CacheMemory
import CacheCore

extension ModelGraph {
  /// Begins to note what changes of some types; everything stored is unsaved then.
  ///
  /// `false` if somebody notes already.
  mutating func attachArchive(of types: Set<ObjectIdentifier>) -> Bool {
    guard archive == nil else { return false }
    archive = ArchiveLedger(types: types)
    for (slot, node) in zip(table.slots, nodes) {
      guard let key = slot?.key, let stored = node.stored else { continue }
      archive?.note(key, stored, number: commitCount, isMerged: key.type is any Mergeable.Type, isKnown: false)
    }
    return true
  }

  mutating func beginRead(_ key: ModelKey, at now: CacheInstant) -> ArchiveLedger.Begun {
    archive?.beginRead(key, at: now, number: commitCount) ?? .known(nil)
  }

  mutating func beginReads() -> UInt64 { archive?.beginReads(now: commitCount) ?? commitCount }

  /// Stores what was read, but for what is there already or has been changed since; `nil` start for what never left.
  ///
  /// Says as well whether all of it was stored.
  mutating func commitRead(_ edits: [ModelEdit], since start: UInt64?, now: CacheInstant) -> (Commit, isWhole: Bool) {
    let current = edits.filter { edit in
      let isCurrent = start.map { archive?.isCurrent(edit.key, since: $0) ?? true } ?? true
      return isCurrent && stored(edit.key) == nil
    }
    let commit = commit(now: now) { graph, commit in
      commit.isSaved = true
      for edit in current { graph.carryOut(edit, &commit) }
    }
    return (commit, current.count == edits.count)
  }

  /// What the next model of a key is merged with: the one stored, or one that was evicted before it was written.
  func mergeBase(_ key: ModelKey) -> StoredModel? { stored(key) ?? archive?.waiting(key) }

  /// Puts what was written into the place of the partial model that it was made of, if that is still the one stored.
  mutating func commitWritten(_ edit: ModelEdit, now: CacheInstant) -> Commit? {
    guard let version = stored(edit.key)?.version, version == edit.basis else { return nil }
    return commit(now: now) { graph, commit in
      commit.isSaved = true
      graph.carryOut(edit, &commit)
    }
  }
}
