import Dispatch
import Synchronization

/// A change that waits for its turn.
struct WriteJob: Sendable {
  enum Work: Sendable {
    case put(PreparedRecord, value: [UInt8]?, if: StoreCondition?)
    case remove(StoreKey)
    case expire(StoreKey)
    case clear
    case sweep
    case unlink(file: UInt64, length: Int)
    case close
  }

  var work: Work
  var durability: Durability
  var done: CheckedContinuation<Int, any Error>?
}

extension SegmentedStore {
  /// Stores a value.
  ///
  /// The value that was there before stays if this fails. Returns whether the condition held, and the value was stored.
  @discardableResult
  func put(
    _ key: StoreKey, type: [UInt8], value: [UInt8], deadline: CacheInstant?, cost: Int, durability: Durability,
    if condition: StoreCondition? = nil
  ) async throws -> Bool {
    let reading = ClockReading(clock)
    let lifetime = deadline.map { max(0, CacheInstant(nanoseconds: reading.now).duration(to: $0).clampedNanoseconds) }
    let times = RecordTimes(
      createdWall: reading.wall, createdBoot: reading.now, boot: reading.boot, lifetime: lifetime ?? RecordTimes.forever
    )
    guard value.count + key.bytes.count <= limits.longestValue, type.count < 1 << 16 else {
      throw CacheError(
        .tooLarge, "a value of \(value.count) bytes does not fit into a store of \(limits.capacity) bytes")
    }
    let hasOwnFile = value.count > limits.ownFileThreshold
    let record = unsafe (hasOwnFile ? [UInt8](repeating: 0, count: 24) : value).withUnsafeBytes {
      unsafe PreparedRecord(.value, key: key, type: type, times: times, cost: cost, value: $0, salt: salt)
    }
    return try await perform(.put(record, value: hasOwnFile ? value : nil, if: condition), durability) > 0
  }

  func remove(_ key: StoreKey, durability: Durability) async throws { _ = try await perform(.remove(key), durability) }

  func expire(_ key: StoreKey, durability: Durability) async throws { _ = try await perform(.expire(key), durability) }

  func clear(durability: Durability) async throws { _ = try await perform(.clear, durability) }

  func removeExpired() async throws -> Int { try await perform(.sweep, .buffered) }

  /// Writes a checkpoint and refuses everything from now on.
  func close() async throws { _ = try await perform(.close, .synced) }

  func removeLater(_ file: UInt64, _ length: Int) {
    guard access == .readWrite else { return }
    enqueue(WriteJob(work: .unlink(file: file, length: length), durability: .buffered, done: nil))
  }

  private func perform(_ work: WriteJob.Work, _ durability: Durability) async throws -> Int {
    guard access == .readWrite else {
      throw CacheError(.readOnly, "the store in \(directory.path) was opened for reading only")
    }
    do {
      return try await withCheckedThrowingContinuation { done in
        enqueue(WriteJob(work: work, durability: durability, done: done))
      }
    } catch { throw writeFailed(error) }
  }

  private func enqueue(_ job: WriteJob) {
    let isFirst = pending.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { queue.async { [self] in drain() } }
  }

  /// Carries out everything that waits.
  ///
  /// Writes that are to be synced share one wait for the disk.
  private func drain() {
    let jobs = pending.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    var batch = WriteBatch(store: self)
    var answers: [(CheckedContinuation<Int, any Error>, Result<Int, any Error>)] = []
    var losses: [Loss] = []
    for job in jobs {
      let result = Result { try batch.carryOut(job.work) }
      if job.durability == .synced, case .success = result { batch.needsSync = true }
      if let done = job.done { answers.append((done, result)) }
    }
    let syncFailure = batch.sync()
    losses = batch.losses
    tell(losses)
    for (done, result) in answers {
      if let syncFailure, case .success = result {
        done.resume(throwing: syncFailure)
      } else {
        done.resume(with: result)
      }
    }
  }
}

/// Changes that are carried out one after the other on the store's queue.
struct WriteBatch {
  let store: SegmentedStore
  var needsSync = false
  private(set) var losses: [SegmentedStore.Loss] = []
  private var isDirectoryChanged = false
  private var touched: Set<UInt64> = []

  init(store: SegmentedStore) { self.store = store }

  mutating func carryOut(_ work: WriteJob.Work) throws -> Int {
    guard !store.state.withLock({ $0.isClosed }) else {
      if case .close = work { return 0 }
      throw CacheError(.closed, "the store in \(store.directory.path) is closed")
    }
    switch work {
    case .put(let record, let value, let condition): return try put(record, value, if: condition) ? 1 : 0
    case .remove(let key): try remove(key)
    case .expire(let key): try expire(key)
    case .clear: try clear()
    case .sweep: return sweep()
    case .unlink(let file, let length): unlink(file, length)
    case .close: try close()
    }
    return 0
  }

  /// Waits for the disk, if a write of this batch asked for it.
  mutating func sync() -> (any Error)? {
    guard needsSync else { return nil }
    let segments = store.state.withLock { state in state.segments.filter { touched.contains($0.number) } }
    do {
      for segment in segments { try segment.file.sync() }
      if isDirectoryChanged { try store.directory.sync() }
      return nil
    } catch { return store.writeFailed(error) }
  }

  private mutating func put(
    _ prepared: PreparedRecord, _ value: [UInt8]?, if condition: StoreCondition?
  ) throws -> Bool {
    if let condition {
      let now = store.clock.now.nanoseconds
      let isHeld = store.state.withLock { $0.index.find(prepared.key).map { $0.deadline > now } ?? false }
      guard condition.holds(isHeld: isHeld) else { return false }
    }
    var record = prepared
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
      let now = ClockReading(store.clock)
      try append(&record, flags: ownFile == nil ? 0 : RecordHeader.hasOwnFile) { state, key, header, segment, offset in
        let entry = StoreIndex.Entry(
          segment: segment, offset: offset, header: header, ownFile: ownFile, ownFileLength: value?.count ?? 0,
          deadline: header.times.deadline(at: now), created: header.times.created(at: now))
        return state.index.insert(entry, for: key).map { ($0, .replaced) }
      }
    } catch {
      if let ownFile { unlink(ownFile, value?.count ?? 0) }
      throw error
    }
    return true
  }

  /// Writes a long value beside the log and renames it, and gives the record that points to it.
  private mutating func writeOwnFile(_ number: UInt64, _ value: [UInt8], _ record: PreparedRecord) throws
    -> PreparedRecord
  {
    let (temporary, name) = (FileName.temporary.name(number), FileName.value.name(number))
    do {
      let file = try store.directory.open(temporary, forWriting: true, create: true)
      try file.write(value, at: 0)
      if needsSync { try file.sync() }
      try store.directory.rename(temporary, to: name)
    } catch {
      try? store.directory.remove(temporary)
      throw error
    }
    isDirectoryChanged = true
    store.state.withLock { $0.allocatedBytes += StoreIndex.blocks(value.count) }
    var pointer = ByteWriter()
    pointer.put(number)
    pointer.put(UInt64(value.count))
    pointer.put(Checksum.of(value, seed: store.salt))
    let type = Array(record.bytes[record.header.typeRange])
    return unsafe pointer.bytes.withUnsafeBytes {
      unsafe PreparedRecord(
        .value, key: record.key, type: type, times: record.header.times, cost: Int(record.header.cost), value: $0,
        salt: store.salt)
    }
  }

  private mutating func remove(_ key: StoreKey) throws {
    guard store.state.withLock({ $0.index.find(key) }) != nil else { return }
    try mark(.tombstone, key) { $0.index.remove(key).map { ($0, .removed) } }
  }

  /// Lets an entry end now, also for who opens the store later: a record says so.
  private mutating func expire(_ key: StoreKey) throws {
    guard store.state.withLock({ $0.index.find(key) }) != nil else { return }
    // The entry is gone after a restart, and until then it is there to be found expired.
    let now = store.clock.now.nanoseconds
    try mark(.ended, key) { state in
      guard var entry = state.index.find(key) else { return nil }
      entry.deadline = now
      state.index.insert(entry, for: key)
      return nil
    }
  }

  private mutating func clear() throws {
    let before = store.state.withLock { $0.segments }
    try openSegment()
    try mark(.cleared, StoreKey([])) { _ in nil }
    let gone = store.state.withLock { state in
      let all = state.index.all
      state.index = StoreIndex()
      return all
    }
    for (key, entry) in gone { lose(key, entry, .cleared) }
    // From the oldest on, so that nothing older than a removal ever outlives it.
    for segment in before { try removeSegment(segment) }
  }

  private mutating func sweep() -> Int {
    let now = store.clock.now.nanoseconds
    let expired = store.state.withLock { $0.index.takeExpired(at: $0.past(now)) }
    for (key, entry) in expired { lose(key, entry, .expired) }
    return expired.count
  }

  private mutating func close() throws {
    let last = store.state.withLock { state in
      state.isClosed = true
      return state.segments.last
    }
    defer {
      store.state.withLock { $0.segments = [] }
      store.lock?.unlock()
    }
    // Without a checkpoint the log is read the next time.
    try? store.writeCheckpoint()
    try last?.file.sync()
  }

  /// Makes everything fit after the store was opened with less room than it had.
  mutating func trim() throws { try makeRoom(for: 0, 0) }

  // MARK: Room

  /// Makes room before a write: entries leave by least recent use, and the oldest segments are reclaimed.
  private mutating func makeRoom(for record: Int, _ own: Int) throws {
    let limits = store.limits
    let now = store.clock.now.nanoseconds
    let wanted = record + own
    let (live, allocated) = store.state.withLock { ($0.index.liveBytes, $0.allocatedBytes) }
    if live + wanted <= limits.liveBudget, allocated + wanted <= limits.budget { return }
    _ = sweep()
    while store.state.withLock({ $0.index.liveBytes }) + wanted > limits.liveBudget {
      let victim = store.state.withLock { state in
        state.index.leastRecentlyUsed.map { victim in
          state.index.remove(victim.key)
          return victim
        }
      }
      guard let victim else { break }
      lose(victim.key, victim.entry, victim.entry.deadline <= now ? .expired : .evicted)
    }
    // Each round frees what is dead in one segment; a whole turn of the ring frees everything that is.
    var rounds = store.state.withLock { $0.segments.count } + 1
    while store.state.withLock({ $0.allocatedBytes }) + wanted > limits.budget, rounds > 0 {
      rounds -= 1
      guard try reclaimOldest() else { break }
    }
  }

  /// Copies what lives in the oldest segment to the newest one, and removes it.
  private mutating func reclaimOldest() throws -> Bool {
    let segments = store.state.withLock { $0.segments }
    guard let oldest = segments.first else { return false }
    if segments.count == 1 { try openSegment() }
    let now = store.clock.now.nanoseconds
    let length = store.state.withLock { $0.lengths[oldest.number] ?? 0 }
    let bytes = try oldest.file.read(length - Segment.headSize, at: Segment.headSize)
    for found in SegmentScan(bytes, from: Segment.headSize, salt: store.salt).records where found.header.kind == .value
    {
      guard let entry = store.state.withLock({ $0.index.find(found.key) }), entry.segment == oldest.number,
        entry.offset == found.offset
      else { continue }
      // An expired entry is not worth copying, and one that was expired by hand would rise from the dead.
      if entry.deadline <= now {
        store.state.withLock { _ = $0.index.remove(found.key) }
        lose(found.key, entry, .expired)
        continue
      }
      var record = PreparedRecord(
        copying: found.header, key: found.key,
        bytes: Array(bytes[(found.offset - Segment.headSize)...].prefix(found.header.recordLength)))
      try append(&record, flags: found.header.flags) { state, key, header, segment, offset in
        state.index.move(key, to: segment, offset: offset, sequence: header.sequence)
        return nil
      }
    }
    try removeSegment(oldest)
    return true
  }

  private mutating func removeSegment(_ segment: Segment) throws {
    try store.directory.remove(segment.name)
    isDirectoryChanged = true
    store.state.withLock { state in
      state.segments.removeAll { $0.number == segment.number }
      state.allocatedBytes -= StoreIndex.blocks(state.lengths.removeValue(forKey: segment.number) ?? 0)
    }
  }

  // MARK: The log

  /// Appends a record without a value.
  private mutating func mark(
    _ kind: RecordHeader.Kind, _ key: StoreKey,
    publish: (inout SegmentedStore.State) -> (StoreIndex.Entry, RemovalCause)?
  ) throws {
    let reading = ClockReading(store.clock)
    let times = RecordTimes(
      createdWall: reading.wall, createdBoot: reading.now, boot: reading.boot, lifetime: RecordTimes.forever)
    var record = PreparedRecord(marker: kind, key: key, times: times, salt: store.salt)
    try append(&record, flags: 0) { state, _, _, _, _ in publish(&state) }
  }

  /// Appends a record; when it stands there, `publish` makes it known.
  private mutating func append(
    _ record: inout PreparedRecord, flags: UInt16,
    publish: (inout SegmentedStore.State, StoreKey, RecordHeader, UInt64, Int) -> (StoreIndex.Entry, RemovalCause)?
  ) throws {
    let needed = record.bytes.count
    var place = store.state.withLock { state in state.segments.last.map { ($0, state.lengths[$0.number] ?? 0) } }
    if place == nil || (place?.1 ?? 0) + needed > max(store.limits.segmentBytes, Segment.headSize + needed) {
      place = (try openSegment(), Segment.headSize)
    }
    guard let (segment, offset) = place else { return }
    let sequence = store.writer.withLock { writer in
      writer.sequence += 1
      return writer.sequence
    }
    record.seal(sequence: sequence, flags: flags, salt: store.salt)
    do {
      try segment.file.write(record.bytes, at: offset)
    } catch {
      // What was written of it is no record, but the next one must begin where it began.
      try? segment.file.truncate(to: offset)
      throw error
    }
    touched.insert(segment.number)
    let lost = store.state.withLock { state in
      state.allocatedBytes += StoreIndex.blocks(offset + needed) - StoreIndex.blocks(offset)
      state.lengths[segment.number] = offset + needed
      return publish(&state, record.key, record.header, segment.number, offset)
    }
    if let (entry, cause) = lost { lose(record.key, entry, cause) }
  }

  @discardableResult
  private mutating func openSegment() throws -> Segment {
    let segment = try store.makeSegment()
    isDirectoryChanged = true
    return segment
  }

  /// An entry left the index: its own file goes, and whoever listens is told.
  private mutating func lose(_ key: StoreKey, _ entry: StoreIndex.Entry, _ cause: RemovalCause) {
    if let number = entry.ownFile { unlink(number, entry.ownFileLength) }
    losses.append(SegmentedStore.Loss(key: key, cause: cause, cost: Int(entry.header.cost)))
  }

  private mutating func unlink(_ number: UInt64, _ length: Int) {
    // A file that cannot be removed now is removed when the store is opened the next time.
    guard (try? store.directory.remove(FileName.value.name(number))) != nil else { return }
    isDirectoryChanged = true
    store.state.withLock { $0.allocatedBytes -= StoreIndex.blocks(length) }
  }
}

extension SegmentedStore {
  /// Begins a new segment, which becomes the one that is appended to.
  func makeSegment() throws -> Segment {
    let number = state.withLock { state in
      state.lastSegmentNumber += 1
      return state.lastSegmentNumber
    }
    let file = try directory.open(Segment.name(number), forWriting: true, create: true)
    do {
      try file.truncate(to: 0)
      try file.write(Segment.head(number: number, salt: salt), at: 0)
    } catch {
      try? directory.remove(Segment.name(number))
      throw error
    }
    let segment = Segment(number: number, file: file)
    state.withLock { state in
      state.segments.append(segment)
      state.lengths[number] = Segment.headSize
      state.allocatedBytes += StoreIndex.blocks(Segment.headSize)
    }
    return segment
  }

  /// Writes the index beside the old one and puts it in its place.
  ///
  /// Left out where it would not fit.
  func writeCheckpoint() throws {
    let (entries, lengths, allocated) = state.withLock { ($0.index.inOrderOfUse, $0.lengths, $0.allocatedBytes) }
    let bytes = Checkpoint(segments: lengths, entries: entries).bytes(salt: salt)
    let size = StoreIndex.blocks(bytes.count)
    guard allocated + size <= limits.capacity else {
      try directory.remove(FileName.checkpoint)
      state.withLock { state in
        state.allocatedBytes -= state.checkpointBytes
        state.checkpointBytes = 0
      }
      return
    }
    let temporary = FileName.temporary.name(0)
    do {
      let file = try directory.open(temporary, forWriting: true, create: true)
      try file.truncate(to: 0)
      try file.write(bytes, at: 0)
      try file.sync()
      try directory.rename(temporary, to: FileName.checkpoint)
      try directory.sync()
      state.withLock { state in
        state.allocatedBytes += size - state.checkpointBytes
        state.checkpointBytes = size
      }
    } catch {
      try? directory.remove(temporary)
      throw error
    }
  }
}
