import Synchronization

/// What becomes of a store whose directory is removed, emptied or replaced while it is open.
extension SegmentedStore {
  /// Whether what is written will be found there by who opens the same path.
  var isInPlace: Bool {
    let (directory, lock) = place.withLock { ($0.directory, $0.lock) }
    guard directory.isInPlace, lock?.isLinked ?? true else { return false }
    return state.withLock { $0.segments.last }?.file.isLinked ?? true
  }

  /// Begins anew, with the same path, and returns what was lost.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse`` or ``CacheError/Code/unusableStore`` if another store
  ///   stands there by now; ``SystemFailure``.
  func standAgain() throws -> [(key: StoreKey, entry: StoreIndex.Entry)] {
    let old = place.withLock { $0 }
    let directory = try StoreDirectory(old.directory.path, access: .readWrite, calls: old.directory.calls)
    let isSame = directory.identity == old.directory.identity
    let names = try directory.names()
    if !isSame, names.contains(where: { FileName.segment.number(in: $0) != nil }) {
      throw CacheError(
        .unusableStore,
        "another store was put in the place of \(directory.path); close this one and open the directory again")
    }
    var lock = old.lock
    if !isSame || lock?.isLinked != true {
      let file = try directory.open(FileName.lock, forWriting: true, create: true)
      guard try file.lock() else {
        throw CacheError(.inUse, "another program writes to the store in \(directory.path) since it was removed")
      }
      lock = file
    }
    for name in names where name != FileName.lock && FileName.isOurs(name) { try directory.remove(name) }
    try sealing?.write(to: directory)
    place.withLock { $0 = Place(directory: directory, lock: lock) }
    if !isSame { StoreRegistry.move(self, to: directory.identity) }
    return state.withLock { state in
      let lost = state.index.all
      state.index = StoreIndex()
      (state.segments, state.lengths, state.uncut, state.orphans) = ([], [:], [:], [:])
      (state.allocatedBytes, state.checkpointBytes) = (sealing?.allocatedBytes ?? 0, 0)
      (state.segmentExtras, state.valueExtras) = ([:], [:])
      (state.isDirectoryChanged, state.isSealed) = (true, false)
      return lost
    }
  }
}
