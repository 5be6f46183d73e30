import CacheCore
import Dispatch
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

/// A change that waits for its turn.
struct WriteJob: Sendable {
  enum Work: Sendable {
    case put(PreparedRecord, value: Data?, if: StoreCondition?)
    case remove(StoreKey)
    case expire(StoreKey)
    case clear
    case sweep
    case unlink(file: UInt64, length: Int)
    case close
    case removeTagged(String)
    /// Drops an entry that was found damaged, unless a newer one has come.
    case drop(StoreKey, StoreIndex.Entry)
    /// Puts a record in the place of one that is sealed with an older key, unless a newer one has come.
    case reseal(PreparedRecord, value: Data?, StoreIndex.Entry)
    /// Reclaims the oldest segment if its number is not above this one.
    case reclaim(through: UInt64)
    case forgetOlderKeys

    var isClose: Bool {
      if case .close = self { return true }
      return false
    }
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
    _ key: StoreKey, type: [UInt8], value: Data, created: CacheInstant, deadline: CacheInstant?, cost: Int,
    tags: Set<String>, durability: Durability, if condition: StoreCondition?
  ) async throws -> Bool {
    try await perform(
      try work(
        toPut: value, for: key, type: type, created: created, deadline: deadline, cost: cost, tags: tags, if: condition),
      durability) > 0
  }

  /// The work of storing a value, settled as far as that can be done where the caller runs.
  func work(
    toPut value: Data, for key: StoreKey, type: [UInt8], created: CacheInstant?, deadline: CacheInstant?, cost: Int,
    tags: Set<String>, if condition: StoreCondition?
  ) throws -> WriteJob.Work {
    let reading = ClockReading(clock)
    // Nothing comes from the future.
    let now = CacheInstant(nanoseconds: reading.now)
    let created = min(created ?? now, now)
    let lifetime = deadline.map { max(0, created.duration(to: $0).clampedNanoseconds) }
    let times = RecordTimes(
      createdWall: CacheInstant(nanoseconds: reading.wall).advanced(by: now.duration(to: created)).nanoseconds,
      createdBoot: created.nanoseconds, boot: reading.boot, lifetime: lifetime ?? RecordTimes.forever)
    guard value.count + key.bytes.count <= limits.longestValue, type.count < 1 << 16 else {
      throw CacheError(
        .tooLarge,
        "a key of \(key.bytes.count) bytes and its value of \(value.count) are longer than the \(limits.longestValue) bytes that "
          + "a store of \(limits.capacity) bytes takes; give it a larger capacity")
    }
    guard key.bytes.count <= RecordHeader.longest / 2 else {
      throw CacheError(.tooLarge, "a key of \(key.bytes.count) bytes is longer than any that a store takes")
    }
    let content = try content(key, type: type, value: value, tags: tags, times: times, cost: cost)
    var (record, own) = content.prepared(limits, salt: salt)
    record.reading = reading
    // Where the caller runs: the queue is for what nobody else can do.
    if own == nil { record.seal(sequence: nextSequence(), flags: record.header.flags, salt: salt) }
    return .put(record, value: own, if: condition)
  }

  func remove(_ key: StoreKey, durability: Durability) async throws {
    _ = try await perform(.remove(storedKey(key)), durability)
  }

  func expire(_ key: StoreKey, durability: Durability) async throws {
    _ = try await perform(.expire(storedKey(key)), durability)
  }

  func clear(durability: Durability) async throws { _ = try await perform(.clear, durability) }

  /// Removes what has a tag, and returns how many entries that was.
  func removeAll(tagged tag: String, durability: Durability) async throws -> Int {
    try await perform(.removeTagged(sealing?.name(ofTag: tag) ?? tag), durability)
  }

  /// Drops an entry that was found damaged, for good; returns whether it was still there.
  func drop(_ key: StoreKey, _ entry: StoreIndex.Entry) async throws -> Bool {
    try await perform(.drop(key, entry), .buffered) > 0
  }

  func removeExpired() async throws -> Int { try await perform(.sweep, .buffered) }

  /// Gives up one use of the store; the last one writes a checkpoint, and everything is refused from then on.
  func close() async throws {
    do {
      _ = try await withCheckedThrowingContinuation { done in
        leave(done)
      }
    } catch { throw writeFailed(error) }
  }

  /// Gives up one use of the store without waiting for what that does.
  func leave(_ done: CheckedContinuation<Int, any Error>? = nil) {
    let isLast = StoreRegistry.release(self) {
      enqueue(WriteJob(work: .close, durability: .synced, done: done))
    }
    if !isLast { done?.resume(returning: 0) }
  }

  func removeLater(_ file: UInt64, _ length: Int) {
    guard access == .readWrite else { return }
    enqueue(WriteJob(work: .unlink(file: file, length: length), durability: .buffered, done: nil))
  }

  func perform(_ work: WriteJob.Work, _ durability: Durability) async throws -> Int {
    if let answer = try performAtOnce(work, durability) { return answer }
    return try await performInTurn(work, durability)
  }

  /// Carries out work where the caller runs; `nil` if that cannot be done.
  func performAtOnce(_ work: WriteJob.Work, _ durability: Durability) throws -> Int? {
    guard access == .readWrite else {
      throw CacheError(.readOnly, "the store in \(directory.path) was opened for reading only")
    }
    do { return try writeAtOnce(work, durability) } catch { throw writeFailed(error) }
  }

  /// Carries out work on the store's thread.
  func performInTurn(_ work: WriteJob.Work, _ durability: Durability) async throws -> Int {
    do {
      return try await withCheckedThrowingContinuation { done in
        enqueue(WriteJob(work: work, durability: durability, done: done))
      }
    } catch { throw writeFailed(error) }
  }

  var isAnyPending: Bool { pending.withLock { !$0.isEmpty } }

  private func enqueue(_ job: WriteJob) {
    let isFirst = pending.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { queue.async { [self] in drain() } }
  }

  /// The records at the beginning that can be appended with one call.
  private func together(_ jobs: ArraySlice<WriteJob>) -> [PreparedRecord] {
    var records: [PreparedRecord] = []
    var length = 0
    for job in jobs {
      guard case .put(let record, value: nil, if: nil) = job.work, record.isComplete else { break }
      length += record.bytes.count
      guard length <= min(limits.segmentBytes / 4, 256 << 10) else { break }
      records.append(record)
    }
    return records
  }

  /// Carries out everything that waits.
  private func drain() {
    let jobs = pending.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    let (batch, answers) = turn.withLock { _ in carryOut(jobs) }
    tell(batch.losses)
    for (done, result, part) in answers {
      // What was not synced has been taken back, whatever was said of it before.
      if let failure = batch.failedParts[part], case .success = result {
        done.resume(throwing: failure)
      } else {
        done.resume(with: result)
      }
    }
  }

  private typealias JobAnswer = (done: CheckedContinuation<Int, any Error>, result: Result<Int, any Error>, part: Int)

  /// Writes that are to be synced share one wait for the disk.
  private func carryOut(_ jobs: [WriteJob]) -> (WriteBatch, [JobAnswer]) {
    let isSyncing = jobs.contains { $0.durability == .synced }
    var batch = WriteBatch(store: self, isSyncing: isSyncing)
    // Whoever removed the directory does not want it back just because nobody uses it any more.
    let obstacle = jobs.allSatisfy(\.work.isClose) ? nil : batch.standAgain()
    var answers: [JobAnswer] = []
    var rest = jobs[...]
    while !rest.isEmpty {
      let records = obstacle == nil ? together(rest) : []
      if records.count > 1, batch.putTogether(records) {
        for job in rest.prefix(records.count) {
          if let done = job.done { answers.append((done, .success(1), batch.part)) }
        }
        rest = rest.dropFirst(records.count)
        continue
      }
      for job in rest.prefix(max(1, records.count)) {
        let result = Result {
          if let obstacle, !job.work.isClose { throw obstacle }
          return try batch.carryOut(job.work)
        }
        if let done = job.done { answers.append((done, result, batch.part)) }
      }
      rest = rest.dropFirst(max(1, records.count))
    }
    batch.finish()
    return (batch, answers)
  }
}

extension SegmentedStore {
  /// Begins a new segment, which becomes the one that is appended to.
  func makeSegment() throws -> Segment {
    let (number, file) = try takeSpare() ?? newFile()
    do {
      // A new file is not truncated: ext4 takes a truncated one for a file whose contents are replaced, and writes all of it to
      // the disk when it is closed, which is when a segment goes and nobody needs it any more.
      try file.write(Segment.head(number: number, salt: salt), at: 0)
    } catch {
      try? directory.remove(Segment.name(number))
      throw error
    }
    let segment = Segment(number: number, file: file, in: directory, among: segmentFiles)
    state.withLock { state in
      state.segments.append(segment)
      state.lengths[number] = Segment.headSize
      state.allocatedBytes += StoreIndex.blocks(Segment.headSize)
      state.isDirectoryChanged = true
      state.hasSegmentEnded = false
    }
    closeSurplusFiles()
    return segment
  }

  private func newFile() throws -> (number: UInt64, file: StoreFile) {
    settleSegments(isNewestFull: true)
    return try numbered { number in
      try opening { try directory.open(Segment.name(number), forWriting: true, create: true, isNew: true) }
    }
  }

  /// Gives a file the next number; what somebody put there under that one is left alone.
  func numbered(_ make: (UInt64) throws -> StoreFile) throws -> (number: UInt64, file: StoreFile) {
    while true {
      let number = state.withLock { state in
        state.lastSegmentNumber += 1
        return state.lastSegmentNumber
      }
      do { return (number, try make(number)) } catch let failure as SystemFailure where failure.number == EEXIST {}
    }
  }

  /// Notes in the lock that a segment has records, so that one that was emptied is not taken for a new one.
  ///
  /// What the lock does not say is merely unknown. If it says too much, that is reported as damage, and costs nothing.
  func noteBegun(_ number: UInt64, isSynced: Bool = false) {
    let lock = place.withLock { $0.lock }
    try? lock?.write(Segment.begun(number, salt: salt), at: 0)
    if isSynced { try? lock?.sync() }
  }

  func removeCheckpoint() throws {
    try directory.remove(FileName.checkpoint)
    state.withLock { state in
      state.allocatedBytes -= state.checkpointBytes
      state.checkpointBytes = 0
      state.isDirectoryChanged = true
    }
  }

  /// Writes the index beside the old one and puts it in its place.
  ///
  /// Left out where it would not fit.
  func writeCheckpoint() throws {
    let (index, lengths, allocated) = state.withLock { ($0.index, $0.lengths.all, $0.allocatedBytes) }
    let counters = writer.withLock { $0 }
    let checkpoint = Checkpoint(
      segments: lengths, index: index, sequence: counters.sequence, fileNumber: counters.fileNumber)
    guard let bytes = checkpoint.bytes(salt: salt, at: ClockReading(clock)),
      allocated + StoreIndex.blocks(bytes.count) <= limits.capacity
    else { return try removeCheckpoint() }
    let size = StoreIndex.blocks(bytes.count)
    let temporary = FileName.temporary.name(0)
    do {
      let file = try opening { try directory.makeAnew(temporary) }
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
