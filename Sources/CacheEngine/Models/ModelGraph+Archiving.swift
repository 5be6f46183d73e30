extension ModelGraph {
  /// Begins to note what changes of some types; everything stored is unsaved then.
  ///
  /// `false` if somebody notes already.
  mutating func attachArchive(of types: Set<ObjectIdentifier>) -> Bool {
    guard archive == nil else { return false }
    archive = ArchiveLedger(types: types)
    for (slot, node) in zip(table.slots, nodes) {
      if let key = slot?.key, let stored = node.stored { archive?.note(key, stored, number: commitCount) }
    }
    return true
  }

  mutating func beginRead(_ key: ModelKey) -> ArchiveLedger.Begun {
    archive?.beginRead(key, now: commitCount) ?? .known(nil)
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
}
