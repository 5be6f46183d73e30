import CacheCore
import Synchronization

/// What becomes of a store whose directory is removed, emptied or replaced while it is open.
///
/// Who removed or emptied the directory has cleared the cache. Only what was seen for certain counts as that: a call that
/// fails says nothing, and files that are there are not removed because others are missing.
extension SegmentedStore {
  /// Whether what is written will be found there by who opens the same path.
  ///
  /// - Throws: ``SystemFailure`` if that cannot be told.
  func isInPlace() throws -> Bool {
    let (directory, lock) = place.withLock { ($0.directory, $0.lock) }
    guard try directory.isInPlace(), try lock?.isLinked() ?? true else { return false }
    return try state.withLock { $0.segments.last }?.file.isLinked() ?? true
  }

  /// Stands again at the same path, and returns what was lost.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse`` or ``CacheError/Code/unusableStore`` if it is not certain
  ///   that the directory was cleared; ``SystemFailure``. Nothing was changed then.
  func standAgain() throws -> [(key: StoreKey, entry: StoreIndex.Entry)] {
    defer {
      hasStoodAgain.store(true, ordering: .relaxed)
      onStanding.withLock { $0 }?()
    }
    let old = place.withLock { $0 }
    let directory = try StoreDirectory(old.directory.path, access: .readWrite, calls: old.directory.calls)
    guard directory.realPath == old.directory.realPath else {
      throw unusable("leads to \(directory.realPath) now, and another place is not followed to")
    }
    let isSame = directory.identity == old.directory.identity
    let names = try directory.names()
    let numbers = Set(names.compactMap { FileName.segment.number(in: $0) })
    if !isSame,
      names.contains(where: {
        $0 != FileName.lock && FileName.isOurs($0) || StoreSealing.fileNames.contains($0)
      })
    {
      throw unusable("holds another store now")
    }
    var lock = old.lock
    if try !isSame || lock?.isLinked() != true {
      let file = try directory.openLock()
      guard try file.lock() else {
        throw CacheError(.inUse, "another program writes to the store in \(directory.path) since it was removed")
      }
      lock = file
    }
    if !numbers.isEmpty {
      // Only the lock is missing: if nobody wrote meanwhile, the log goes on.
      guard try isWhole(numbers) else {
        throw unusable("was changed by somebody else, and files of its log are missing")
      }
      place.withLock { $0.lock = lock }
      return []
    }
    if isSame { for name in names where name != FileName.lock && FileName.isOurs(name) { try directory.remove(name) } }
    try sealing?.write(to: directory)
    place.withLock { $0 = Place(directory: directory, lock: lock) }
    if !isSame { StoreRegistry.move(self, to: directory.identity) }
    return state.withLock { state in
      let lost = state.index.all
      state.index = StoreIndex()
      (state.segments, state.lengths, state.uncut, state.orphans) = ([], [:], [:], [:])
      (state.takenBack, state.unsynced) = ([:], [])
      (state.allocatedBytes, state.checkpointBytes) = (sealing?.allocatedBytes ?? 0, 0)
      (state.segmentExtras, state.valueExtras) = ([:], [:])
      (state.isDirectoryChanged, state.hasSegmentEnded) = (true, false)
      return lost
    }
  }

  /// Whether the files of the log are those that the store knows, and the newest is as long as it left it.
  private func isWhole(_ numbers: Set<UInt64>) throws -> Bool {
    let (segments, lengths) = state.withLock { ($0.segments, $0.lengths) }
    guard let last = segments.last else { return false }
    return try segments.allSatisfy { numbers.contains($0.number) } && numbers.allSatisfy { $0 <= last.number }
      && last.file.isLinked() && last.file.currentSize() == lengths[last.number]
  }

  private func unusable(_ what: String) -> CacheError {
    CacheError(
      .unusableStore,
      "the directory \(directory.path) \(what); nothing was changed: close this store and open the directory again")
  }
}
