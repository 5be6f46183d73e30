import CacheCore
import Synchronization

/// When the names in a directory, or its own, last changed, and whether that says that none has changed since.
///
/// A directory's time changes with every file that comes or goes and when it is moved, but only as often as the file system's clock
/// ticks: a look between two changes in one tick would miss the second. So a time is trusted when the files were looked at
/// again, longer than a tick after the time was first seen. Only equality counts, so the file system's clock may be wrong, or
/// set.
struct DirectoryLook: Sendable {
  /// How long a directory that shows no change is taken to be where its path leads: what happens to a directory above it
  /// does not show in it.
  private static let pathCounts = Duration.milliseconds(1)

  private let changed: (seconds: Int64, nanoseconds: Int64)
  private let firstSeen: CacheInstant
  private let isTrusted: Bool
  /// When the path last led here.
  private var wasAtPath: CacheInstant

  /// `now`: when the status was taken, or later; the files were found after that.
  init(_ status: FileStatus, at now: CacheInstant, after earlier: DirectoryLook?) {
    changed = status.statusChanged
    wasAtPath = now
    firstSeen = earlier.flatMap { $0.changed == status.statusChanged ? $0.firstSeen : nil } ?? now
    // Linux ticks up to every 10 ms. Some file systems count whole seconds, or two at a time.
    isTrusted = firstSeen.duration(to: now) > (changed.nanoseconds == 0 ? .seconds(3) : .milliseconds(30))
  }

  /// Whether the directory has the files that it had.
  func shows(_ status: FileStatus) -> Bool { isTrusted && changed == status.statusChanged }

  /// Whether the directory itself can be asked, in place of its path.
  func isRecent(at now: CacheInstant) -> Bool { isTrusted && wasAtPath.duration(to: now) < Self.pathCounts }

  mutating func noteAtPath(_ now: CacheInstant) { wasAtPath = now }
}

/// What becomes of a store whose directory is removed, emptied or replaced while it is open.
///
/// Who removed or emptied the directory has cleared the cache. Only what was seen for certain counts as that: a call that
/// fails says nothing, and files that are there are not removed because others are missing.
extension SegmentedStore {
  /// Whether whoever opens the same path will find what is written there.
  ///
  /// One system call where no file has come or gone in the directory for a moment, else up to four.
  ///
  /// - Throws: ``SystemFailure`` if that cannot be told.
  func isInPlace(at now: CacheInstant = SystemClock().now) throws -> Bool {
    guard try looksInPlace(at: now) else { return false }
    // Reads are served again as soon as a write is.
    if isAway.load(ordering: .relaxed) { isAway.store(false, ordering: .relaxed) }
    return true
  }

  private func looksInPlace(at now: CacheInstant) throws -> Bool {
    let (directory, lock, look) = place.withLock { ($0.directory, $0.lock, $0.look) }
    if let look, look.isRecent(at: now), look.shows(try directory.status()) { return true }
    guard let status = try directory.statusInPlace() else { return false }
    let names = try state.withLock({ $0.segments.last })?.nameCount()
    // Somebody keeps a copy: it stays as it is from now on, which the directory's time does not tell.
    if let names, names > 1 { state.withLock { $0.hasSegmentEnded = true } }
    if let look, look.shows(status) {
      place.withLock { if $0.directory === directory { $0.look?.noteAtPath(now) } }
      return true
    }
    guard try lock?.isLinked() ?? true, names != 0 else { return false }
    place.withLock { if $0.directory === directory { $0.look = DirectoryLook(status, at: now, after: look) } }
    return true
  }

  /// Whether somebody may have begun anew where the path leads now.
  var hasSuccessor: Bool {
    // What cannot be told says nothing, and where there is no directory nobody has begun.
    guard !isAnyPending, (try? isInPlace()) == false else { return false }
    return StoreDirectory.Identity(of: directory.path) != nil
  }

  /// Whether a reader has to ask first whether the store ``comesBack()``.
  ///
  /// A write looks for its directory. A store that is only read would never notice that it was emptied, or that another program has
  /// begun anew at its path, and would serve what that one has long replaced.
  var mayBeAway: Bool {
    if isAway.load(ordering: .relaxed) { return true }
    guard access == .readWrite, isLookDue(), hasSuccessor else { return false }
    nextLook.store(.min, ordering: .relaxed)
    isAway.store(true, ordering: .relaxed)
    return true
  }

  /// Does what the next write would do, and returns whether what the store has may be read; now and then, if it may not.
  func comesBack() async -> Bool {
    guard isLookDue() else { return !isAway.load(ordering: .relaxed) }
    do { _ = try await performInTurn(.sweep, .buffered) } catch {
      guard hasRest(after: error) else { return false }
    }
    isAway.store(false, ordering: .relaxed)
    return true
  }

  /// Whether nobody has begun anew, though a write is refused: it is the same directory, and files of this log are in it.
  private func hasRest(after error: any Error) -> Bool {
    guard (error as? CacheError)?.code != .inUse, StoreDirectory.Identity(of: directory.path) == directory.identity
    else { return false }
    return state.withLock(\.segments).contains { (try? $0.file().isLinked()) == true }
  }

  /// Whether it is this reader's turn to look.
  private func isLookDue() -> Bool {
    let (now, due) = (SystemClock().now.nanoseconds, nextLook.load(ordering: .relaxed))
    return now >= due
      && nextLook.compareExchange(
        expected: due, desired: now &+ directory.calls.readersLookEvery, ordering: .relaxed
      ).exchanged
  }

  /// Stands again at the same path, and returns what was lost.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse`` or ``CacheError/Code/unusableStore`` if it is not certain
  ///   that the directory was cleared; ``SystemFailure``. Nothing was changed then.
  func standAgain() throws -> [(key: StoreKey, entry: StoreIndex.Entry)] {
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
      guard let file = try directory.takeLock() else {
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
      (state.takenBack, state.unsynced, state.cutSegments) = ([:], [], [])
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
      && last.file().isLinked() && last.file().currentSize() == lengths[last.number]
  }

  private func unusable(_ what: String) -> CacheError {
    CacheError(
      .unusableStore,
      "the directory \(directory.path) \(what); nothing was changed: close this store and open the directory again")
  }
}
