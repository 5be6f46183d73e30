import CacheCore
import Synchronization

/// How a batch makes room and appends to the log.
extension WriteBatch {
  /// Makes everything fit after the store was opened with less room than it had.
  mutating func trim() throws {
    try makeRoom(for: 0, 0)
    store.awaitRemoval()
  }

  /// Makes room before a write: entries leave by least recent use, and the oldest segments are reclaimed.
  mutating func makeRoom(for record: Int, _ own: Int) throws {
    let limits = store.limits
    let wanted = record + own
    let (live, allocated) = store.state.withLock { ($0.index.liveBytes, $0.stayingBytes) }
    if live + wanted <= limits.liveBudget, allocated + wanted <= limits.budget { return }
    let now = store.clock.now.nanoseconds
    for (number, length) in store.state.withLock({ $0.orphans }) { unlink(number, length) }
    _ = sweep()
    while store.state.withLock({ $0.index.liveBytes }) + wanted > limits.liveBudget {
      let victim = store.state.withLock { state in
        state.index.leastRecentlyUsed.map { victim in
          state.index.remove(victim.key)
          state.hasForgotten = true
          return victim
        }
      }
      guard let victim else { break }
      lose(victim.key, victim.entry, victim.entry.deadline <= now ? .expired : .evicted)
    }
    try reclaim(toFit: wanted)
    guard wanted == 0 || store.state.withLock({ $0.allocatedBytes }) + wanted <= limits.capacity else {
      throw CacheError(
        .diskWriteFailed,
        "files that are no longer needed could not be removed from \(store.directory.path), so there is no room")
    }
  }

  /// Reclaims the oldest segments until so much fits.
  ///
  /// Each round frees what is dead in one segment; a whole turn of the ring frees everything that is.
  private mutating func reclaim(toFit wanted: Int) throws {
    var rounds = store.state.withLock { $0.segments.count } + 1
    while store.state.withLock({ $0.stayingBytes }) + wanted > store.limits.budget, rounds > 0 {
      rounds -= 1
      guard try reclaimOldest() else { break }
    }
  }

  /// Copies what lives in the oldest segment to the newest one, and removes it.
  mutating func reclaimOldest() throws -> Bool {
    store.awaitRemoval()
    let segments = store.state.withLock { $0.segments }
    guard let oldest = segments.first else { return false }
    if segments.count == 1 { try openSegment() }
    let now = store.clock.now.nanoseconds
    let length = store.state.withLock { $0.lengths[oldest.number] ?? 0 }
    // Where entries leave in the order they came in, nothing lives there any more, and nothing need be read.
    let isEmpty = store.state.withLock { $0.index.liveBytes(in: oldest.number) } == 0
    let bytes =
      isEmpty
      ? [] : try store.opening { try oldest.read(max(0, length - Segment.headSize), at: Segment.headSize) }
    let records = SegmentScan(bytes, from: Segment.headSize, salt: store.salt).records
    thinOut(oldest, length, records)
    for found in records where found.header.kind == .value {
      guard let entry = store.state.withLock({ $0.index.find(found.key) }), entry.segment == oldest.number,
        entry.offset == found.offset
      else { continue }
      // An expired entry is not worth copying, and one that was expired by hand would come back to life.
      if entry.deadline <= now {
        store.state.withLock { _ = $0.index.remove(found.key) }
        lose(found.key, entry, .expired)
        continue
      }
      var record = PreparedRecord(
        copying: found.header, key: found.key,
        bytes: Array(bytes[(found.offset - Segment.headSize)...].prefix(found.header.recordLength)))
      try append(&record, flags: found.header.flags, isCopy: true) { state, key, header, segment, offset in
        state.index.move(key, to: segment, offset: offset, sequence: header.sequence)
        return nil
      }
    }
    // The copies must be on the disk before the originals go.
    if isTracking { try commit() }
    try store.removeAside(oldest)
    return true
  }

  /// Evicts, at most a segment's worth, where too much of the oldest segment lives.
  ///
  /// Copying it would free little room for much writing. Entries that were overwritten often enough cost their room
  /// twice; giving up some of what has gone unused the longest bounds that. First what stands in this segment and was not read since it
  /// was written there, for that need not be copied then; what is evicted elsewhere leaves a hole that is paid for later.
  private mutating func thinOut(_ oldest: Segment, _ length: Int, _ records: [SegmentScan.Found]) {
    func isTooFull(_ state: SegmentedStore.State) -> Bool {
      state.index.liveBytes > store.limits.thinnedBudget
        && state.index.liveBytes(in: oldest.number) > store.limits.worthCopying(length)
    }
    for found in records where found.header.kind == .value {
      let (isFull, victim) = store.state.withLock { state -> (Bool, StoreIndex.Entry?) in
        guard isTooFull(state) else { return (false, nil) }
        guard let entry = state.index.findUnused(found.key), entry.segment == oldest.number,
          entry.offset == found.offset
        else { return (true, nil) }
        state.index.remove(found.key)
        state.hasForgotten = true
        return (true, entry)
      }
      guard isFull else { return }
      if let victim { lose(found.key, victim, .evicted) }
    }
    var evicted = 0
    while evicted < length {
      let victim = store.state.withLock { state -> (key: StoreKey, entry: StoreIndex.Entry)? in
        guard isTooFull(state), let victim = state.index.leastRecentlyUsed else { return nil }
        state.index.remove(victim.key)
        state.hasForgotten = true
        return victim
      }
      guard let victim else { return }
      evicted += victim.entry.bytes
      lose(victim.key, victim.entry, .evicted)
    }
  }

  /// Appends a record without a value.
  mutating func mark(
    _ kind: RecordHeader.Kind, _ key: StoreKey,
    publish: (inout SegmentedStore.State) -> (StoreIndex.Entry, RemovalCause)?
  ) throws {
    let reading = ClockReading(store.clock)
    let times = RecordTimes(
      createdWall: reading.wall, createdBoot: reading.now, boot: reading.boot, lifetime: RecordTimes.forever)
    var record = PreparedRecord(marker: kind, key: key, times: times, salt: store.salt)
    // A removal frees nothing until its segment is reclaimed: without this, many of them would fill the disk. A clear is
    // about to remove all segments.
    if kind != .cleared {
      do { try reclaim(toFit: record.bytes.count) } catch {
        // Where the disk gives nothing back, what has to go goes all the same, as long as there is room.
        if !fits(record.bytes.count) { throw error }
      }
    }
    try append(&record, flags: 0) { state, _, _, _, _ in publish(&state) }
  }

  /// Appends a record; when it stands there, `publish` makes it known.
  mutating func append(
    _ record: inout PreparedRecord, flags: UInt16, isCopy: Bool = false,
    publish: (inout SegmentedStore.State, StoreKey, RecordHeader, UInt64, Int) -> (StoreIndex.Entry, RemovalCause)?
  ) throws {
    let needed = record.bytes.count
    var place = store.state.withLock { state in
      state.hasSegmentEnded ? nil : state.segments.last.map { ($0, state.lengths[$0.number] ?? 0) }
    }
    if place == nil || (place?.1 ?? 0) + needed > max(store.limits.segmentBytes, Segment.headSize + needed) {
      place = (try openSegment(), Segment.headSize)
    }
    guard let (segment, offset) = place else { return }
    let mark = takeMark()
    if isCopy || !record.isComplete || mark != 0 {
      record.seal(
        sequence: store.nextSequence(), flags: flags & ~RecordHeader.followsSync | mark, salt: store.salt)
    }
    do {
      try segment.file().write(record.bytes, at: offset)
    } catch {
      // The part that was written is no record, but the next one must begin where it began.
      try? segment.file().truncate(to: offset)
      throw error
    }
    noteWritten(segment, from: offset)
    let lost = store.state.withLock { state in
      state.allocatedBytes += StoreIndex.blocks(offset + needed) - StoreIndex.blocks(offset)
      state.lengths[segment.number] = offset + needed
      if isCopy { state.traffic.copied += needed } else { state.traffic.written += needed }
      state.unsynced.insert(segment.number)
      if isTracking { remember(record.key, in: state) }
      return publish(&state, record.key, record.header, segment.number, offset)
    }
    if let (entry, cause) = lost { lose(record.key, entry, cause) }
  }

  /// What the next record says of those before it.
  func takeMark() -> UInt16 {
    guard isTracking else { return 0 }
    let isAllSynced = store.state.withLock { state in
      defer { state.isAllSynced = false }
      return state.isAllSynced
    }
    return isAllSynced ? RecordHeader.followsSync : 0
  }

  /// Notes that records stand in a segment from some place on.
  mutating func noteWritten(_ segment: Segment, from offset: Int) {
    guard isTracking else {
      if offset == Segment.headSize { store.noteBegun(segment.number) }
      return
    }
    // What may be taken back is noted as begun when it no longer can be.
    if lengthsBefore[segment.number] == nil { lengthsBefore[segment.number] = offset }
  }

  private func fits(_ bytes: Int) -> Bool {
    store.state.withLock { $0.allocatedBytes } + bytes <= store.limits.capacity
  }

  /// Cuts off what was taken back, so that no restart finds it, and writes what stands before it once more.
  ///
  /// After a failed wait the system takes for written what it has lost, and would say at the next one that the disk has it: records
  /// that nobody waited for, and whose remains would then hide what somebody did wait for.
  func cutBack() {
    let uncut = store.state.withLock { state in
      state.uncut.compactMap { number, length in state.segments.segment(number).map { ($0, length) } }
    }
    for (segment, length) in uncut {
      do {
        // Not the one that is held, which is for reading only if it was closed in between.
        let file = try store.opening { try store.directory.open(segment.name, forWriting: true) }
        // What somebody put in its place, or has under another name, stays as it is.
        guard try file.isSame(as: segment.file()), try !file.hasOtherNames() else { continue }
        try file.truncate(to: length)
        try file.write(try file.read(length, at: 0), at: 0)
      } catch { continue }
      store.state.withLock { state in
        state.uncut[segment.number] = nil
        state.unsynced.insert(segment.number)
      }
    }
  }

  /// Begins a new segment.
  ///
  /// Whoever opens the store looks for what did not reach the disk in the two newest only: what waits in older ones has to be
  /// there first.
  @discardableResult
  mutating func openSegment() throws -> Segment {
    let waitsInOlder = store.state.withLock { state in
      state.unsynced.contains { $0 != state.segments.last?.number }
    }
    if isTracking, waitsInOlder { try commit() }
    return try store.makeSegment()
  }
}
