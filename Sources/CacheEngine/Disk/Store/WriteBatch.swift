import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Changes that are carried out one after the other, by the one whose turn it is.
///
/// In a batch that is to be synced, what the disk did not confirm is taken back: the index, the log and the files are
/// then as they were before. A part ends with each successful wait for the disk, and fails as a whole.
struct WriteBatch {
  /// How to take back a change of the index.
  private enum Undo {
    case entry(StoreKey, StoreIndex.Entry?, tags: Set<String>)
    case everything(StoreIndex)
  }

  let store: SegmentedStore
  /// Somebody waits for the disk.
  let isSyncing: Bool
  /// Everything can be taken back until the disk has it: in a store with synced writes, whoever wrote this one.
  let isTracking: Bool
  /// Somebody listens for entries that leave.
  let isHeard: Bool
  var losses: [SegmentedStore.Loss] = []
  /// The key that is written, for whose value others may have to leave; `nil` where the store knows only its seal.
  private var incoming: StoreKey?
  /// Counts the waits for the disk, successful or not.
  private(set) var part = 0
  private(set) var failedParts: [Int: any Error] = [:]

  private var undo: [Undo] = []
  private var lossesBefore = 0
  /// How long the segments were that were written to.
  var lengthsBefore: [UInt64: Int] = [:]
  /// Values of the entries that were replaced or removed, to go when that is on the disk.
  private var filesToRemove: [UInt64: Int] = [:]
  /// Values of records that wait for the disk.
  private var newFiles: [UInt64: Int] = [:]

  init(store: SegmentedStore, isSyncing: Bool) {
    self.store = store
    self.isSyncing = isSyncing
    isHeard = store.listeners.withLock { !$0.isEmpty }
    isTracking = isSyncing || store.state.withLock { $0.isSynced }
  }

  mutating func carryOut(_ work: WriteJob.Work) throws -> Int {
    guard !store.state.withLock({ $0.isClosed }) else {
      if work.isClose { return 0 }
      throw CacheError(.closed, "the store in \(store.directory.path) is closed")
    }
    switch work {
    case .put(let record, let value, let condition): return try put(record, value, if: condition) ? 1 : 0
    case .remove(let key): try remove(key)
    case .removeTagged(let tag): return try removeTagged(tag)
    case .drop(let key, let entry): return try drop(key, entry)
    case .reseal(let record, let value, let entry): return try reseal(record, value, entry) ? 1 : 0
    case .reclaim(let number): return try reclaim(through: number) ? 1 : 0
    case .forgetOlderKeys: try forgetOlderKeys()
    case .expire(let key): try expire(key)
    case .clear: try clear()
    case .sweep: return sweep()
    case .unlink(let file, let length): unlink(file, length)
    case .close: try close()
    }
    return 0
  }

  mutating func put(
    _ prepared: consuming PreparedRecord, _ value: Data?, if condition: StoreCondition?
  ) throws -> Bool {
    if let condition {
      let now = store.clock.now.nanoseconds
      let key = prepared.key
      let isHeld = store.state.withLock { $0.index.find(key).map { $0.deadline > now } ?? false }
      guard condition.holds(isHeld: isHeld) else { return false }
    }
    var record = prepared
    let (realKey, reading) = (record.realKey, record.reading)
    incoming = store.sealing == nil ? record.key : nil
    defer { incoming = nil }
    let own = value.map { StoreIndex.blocks($0.count) } ?? 0
    try makeRoom(for: record.header.recordLength, own)
    var ownFile: UInt64?
    if let value {
      let number = store.writer.withLock { writer in
        writer.fileNumber += 1
        return writer.fileNumber
      }
      ownFile = number
      record = try writeOwnFile(number, value, record)
    }
    do {
      let now = reading ?? ClockReading(store.clock)
      let tags = record.tags
      try append(&record, flags: record.header.flags | (ownFile == nil ? 0 : RecordHeader.hasOwnFile)) {
        state, key, header, segment, offset in
        let entry = StoreIndex.Entry(
          header, segment: segment, offset: offset, ownFile: ownFile, ownFileLength: value?.count ?? 0, at: now,
          realKey: realKey)
        return state.index.insert(entry, for: key, tags: tags).map { ($0, .replaced) }
      }
    } catch {
      if let ownFile { unlink(ownFile, value?.count ?? 0) }
      throw error
    }
    // Not before: appending may wait for the disk, and that settles only what has a record.
    if isTracking, let ownFile { newFiles[ownFile] = value?.count ?? 0 }
    return true
  }

  func syncNames() throws {
    store.state.withLock { $0.isDirectoryChanged = false }
    do { try store.directory.sync() } catch {
      store.state.withLock { $0.isDirectoryChanged = true }
      throw error
    }
  }

  mutating func remove(_ key: StoreKey, cause: RemovalCause = .removed) throws {
    // What was evicted still stands in the log, and would be found again by whoever opens the store after a crash.
    // So does what a failed write left behind and could not be cut off.
    let isNeeded = store.state.withLock { $0.hasForgotten || !$0.uncut.isEmpty || $0.index.find(key) != nil }
    guard isNeeded else { return }
    try mark(.tombstone, key) { $0.index.remove(key).map { ($0, cause) } }
  }

  private mutating func removeTagged(_ tag: String) throws -> Int {
    let keys = store.state.withLock { $0.index.keys(tagged: tag) }
    for key in keys { try remove(key) }
    return keys.count
  }

  private mutating func drop(_ key: StoreKey, _ entry: StoreIndex.Entry) throws -> Int {
    guard store.state.withLock({ $0.index.find(key) }) == entry else { return 0 }
    try remove(key, cause: .damaged)
    return 1
  }

  /// Ends an entry now, also for whoever opens the store later: a record says so.
  private mutating func expire(_ key: StoreKey) throws {
    let now = store.clock.now.nanoseconds
    // What was evicted still stands in the log, and would be found there again as it was.
    guard let entry = store.state.withLock({ $0.index.find(key) }) else { return try remove(key) }
    // What has expired already would be kept for longer.
    guard entry.deadline > now else { return }
    // The entry is gone after a restart, and until then it is there to be found expired.
    try mark(.ended, key) { state in
      state.index.setDeadline(now, of: key, isEnded: true)
      return nil
    }
  }

  private mutating func clear() throws {
    store.awaitRemoval()
    let before = store.state.withLock { $0.segments }
    do { try openSegment() } catch let failure as SystemFailure
      where [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(failure.number)
    { return try clearWithoutRoom() }
    try mark(.cleared, StoreKey([])) { _ in nil }
    let gone = store.state.withLock { state in
      let all = state.index.all
      if isTracking { undo.append(.everything(state.index)) }
      state.index = StoreIndex()
      return all
    }
    for (key, entry) in gone { lose(key, entry, .cleared) }
    if isTracking { try commit() }
    // From the oldest on, so that nothing older than a removal ever outlives it.
    for segment in before where store.state.withLock({ $0.lengths[segment.number] }) != nil {
      try store.remove(segment)
    }
    // Only the one that tells of the clear is left.
    store.state.withLock { if $0.segments.count == 1 { ($0.hasForgotten, $0.cutSegments) = (false, []) } }
  }

  /// Clears a store on a full disk, or without a descriptor left, where not even a note that it was cleared can be written: no record
  /// may stay.
  ///
  /// A crash on the way leaves the newest entries, as if the others had been evicted. The log tells of them until its files go.
  private mutating func clearWithoutRoom() throws {
    if isTracking { try commit() }
    let (gone, segments) = store.state.withLock { state in
      defer { (state.index, state.hasForgotten) = (StoreIndex(), true) }
      return (state.index.all, state.segments)
    }
    for (key, entry) in gone { lose(key, entry, .cleared) }
    // It must not be taken for one that knows what the last segment will hold.
    try store.removeCheckpoint()
    store.noteBegun(0, isSynced: isTracking)
    for segment in segments.dropLast() { try store.remove(segment) }
    guard let last = segments.last else { return }
    // Whoever has given it another name keeps what is in it.
    if try last.file().hasOtherNames() {
      store.state.withLock { ($0.hasForgotten, $0.cutSegments) = (false, []) }
      return try store.remove(last)
    }
    try last.file().truncate(to: Segment.headSize)
    store.state.withLock { state in
      (state.hasForgotten, state.cutSegments, state.uncut[last.number]) = (false, [], nil)
      state.unsynced.insert(last.number)
      let length = state.lengths[last.number] ?? 0
      state.lengths[last.number] = Segment.headSize
      state.allocatedBytes -= StoreIndex.blocks(length) - StoreIndex.blocks(Segment.headSize)
    }
  }

  mutating func sweep() -> Int {
    let now = store.clock.now.nanoseconds
    let expired = store.state.withLock { state in
      let expired = state.index.takeExpired(at: state.past(now))
      state.hasForgotten = state.hasForgotten || !expired.isEmpty
      return expired
    }
    for (key, entry) in expired { lose(key, entry, .expired) }
    return expired.count
  }

  private mutating func close() throws {
    if isTracking { try? commit() }
    store.awaitRemoval()
    store.dropSpare()
    let segments = store.state.withLock { state in
      state.isClosed = true
      return state.segments.filter { state.unsynced.contains($0.number) }
    }
    defer {
      StoreRegistry.forget(store) {
        store.state.withLock { $0.segments = [] }
        store.place.withLock { $0.lock }?.unlock()
      }
    }
    // The disk must have what a checkpoint says of the log: the checkpoint decides where the log has less.
    for segment in segments { try store.sync(segment) }
    if store.state.withLock({ $0.isDirectoryChanged }) { try syncNames() }
    // Without a checkpoint the log is read the next time.
    if (try? store.isInPlace()) == true, store.state.withLock({ $0.uncut.isEmpty && !$0.isLogUnread }) {
      try? store.writeCheckpoint()
    }
  }

  // MARK: Before and after the disk

  /// Notes how an entry was before it changes, where that may be taken back.
  mutating func remember(_ key: StoreKey, in state: SegmentedStore.State) {
    undo.append(.entry(key, state.index.find(key), tags: state.index.tags(of: key)))
  }

  /// An entry left the index: its own file goes, and whoever listens is told.
  mutating func lose(_ key: StoreKey, _ entry: StoreIndex.Entry, _ cause: RemovalCause) {
    if let number = entry.ownFile {
      // What is replaced must outlive a power cut until the new value is there.
      if isTracking, cause != .evicted, cause != .expired {
        filesToRemove[number] = entry.ownFileLength
      } else {
        newFiles[number] = nil
        unlink(number, entry.ownFileLength)
      }
    }
    guard isHeard else { return }
    var loss = store.loss(of: key, entry, cause)
    if cause == .evicted { loss.madeRoomFor = incoming }
    losses.append(loss)
  }

  /// Waits for the disk, and takes back what it did not confirm.
  mutating func commit() throws {
    let (segments, isDirectoryChanged) = store.state.withLock { state in
      // What changes during the wait counts for the next one. Others wrote what nobody waited for.
      defer { (state.isDirectoryChanged, state.unsynced) = (false, []) }
      // Nothing lives in one that is being removed, and it may be gone before its turn comes.
      let segments = state.segments.filter { state.unsynced.contains($0.number) && $0.number != state.leaving }
      return (segments, state.isDirectoryChanged)
    }
    var waited = segments[...]
    do {
      while let segment = waited.first {
        try store.sync(segment)
        waited.removeFirst()
      }
      if isDirectoryChanged { try store.directory.sync() }
    } catch {
      store.state.withLock { state in
        state.isDirectoryChanged = state.isDirectoryChanged || isDirectoryChanged
        state.unsynced.formUnion(segments.map(\.number))
        // Where the wait failed, which need not be where this part has written; for those after it nobody has waited yet.
        if let segment = waited.first { state.uncut[segment.number] = state.lengths[segment.number] }
      }
      throw fail(error)
    }
    let takenBack = store.state.withLock { state in
      state.traffic.syncs += segments.count + (isDirectoryChanged ? 1 : 0)
      state.isAllSynced = state.isAllSynced || !segments.isEmpty
      defer { if state.uncut.isEmpty { state.takenBack = [:] } }
      return state.uncut.isEmpty ? state.takenBack : [:]
    }
    for (number, length) in takenBack { unlink(number, length) }
    for (number, length) in lengthsBefore where length == Segment.headSize { store.noteBegun(number) }
    for (number, length) in filesToRemove { unlink(number, length) }
    endPart()
  }

  /// Takes back a part that the disk did not confirm as a whole, and says why.
  mutating func fail(_ error: any Error) -> CacheError {
    let failure = store.writeFailed(error)
    failedParts[part] = failure
    takeBack()
    endPart()
    return failure
  }

  private mutating func endPart() {
    part += 1
    lossesBefore = losses.count
    (undo, lengthsBefore, filesToRemove, newFiles) = ([], [:], [:], [:])
  }

  /// Ends the batch.
  mutating func finish() {
    // What is replaced goes when its successor is on the disk.
    if isSyncing || !filesToRemove.isEmpty { try? commit() }
  }

  private mutating func takeBack() {
    // What made room, or had expired, has left all the same.
    let stay = losses[lossesBefore...].filter { $0.cause == .evicted || $0.cause == .expired }
    losses.replaceSubrange(lossesBefore..., with: stay)
    store.state.withLock { state in
      for step in undo.reversed() {
        switch step {
        case .entry(let key, let entry?, let tags): state.index.insert(entry, for: key, tags: tags)
        case .entry(let key, nil, _): state.index.remove(key)
        case .everything(let index): state.index = index
        }
      }
      for (number, length) in lengthsBefore {
        guard let now = state.lengths[number] else { continue }
        state.allocatedBytes -= StoreIndex.blocks(now) - StoreIndex.blocks(length)
        state.lengths[number] = length
        state.uncut[number] = length
      }
      // The system reports this once. What it lost of this file is not known, so nothing more is added to it.
      state.hasSegmentEnded = true
      // Nor is it known which earlier removals were lost: one that is asked for again is written again.
      state.hasForgotten = true
    }
    cutBack()
    // A crash must not find a record without its value: it would hide what the key had before.
    store.state.withLock { $0.takenBack.merge(newFiles) { $1 } }
  }

  /// Makes sure that the directory is there and is ours; returns why it cannot be.
  ///
  /// Whoever removed or emptied the directory has cleared the cache: the store starts over in the same place.
  mutating func standAgain() -> (any Error)? {
    if store.state.withLock({ !$0.uncut.isEmpty }) { cutBack() }
    guard !store.state.withLock({ $0.isClosed }) else { return nil }
    do {
      guard try !store.isInPlace() else { return nil }
      store.awaitRemoval()
      store.dropSpare()
      for (key, entry) in try store.standAgain() where isHeard {
        losses.append(store.loss(of: key, entry, .cleared))
      }
      // Not where it is refused: what stands there then is not this store's.
      store.hasStoodAgain.store(true, ordering: .relaxed)
      store.isAway.store(false, ordering: .relaxed)
      store.onStanding.withLock { $0 }?()
      lossesBefore = losses.count
      return nil
    } catch { return store.writeFailed(error) }
  }
}
