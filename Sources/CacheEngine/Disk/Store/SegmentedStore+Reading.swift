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

extension SegmentedStore {
  /// The bytes of a value, with what is known of it.
  struct Found: Sendable {
    var entry: StoreIndex.Entry
    var type: [UInt8]
    var tags: Set<String>
    var value: Data
    var isExpired = false
    /// What was sealed could be opened; without that, nothing here can be relied on.
    var isAuthentic = true
    /// In an encrypted store: the key itself, and the times that the record was sealed with.
    var realKey: StoreKey?
    var times: RecordTimes?
  }

  enum Answer: Sendable {
    case found(Found)
    case miss(MissReason)
  }

  /// Answers what the index and the page cache know, at once; `nil` for what takes more.
  ///
  /// What is encrypted takes more.
  func readAtOnce(_ key: StoreKey) throws -> Answer? {
    guard sealing == nil, !mayBeAway else { return nil }
    let (entry, segment) = try state.withLock { state -> (StoreIndex.Entry?, Segment?) in
      guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
      guard let entry = state.index.use(key) else { return (nil, nil) }
      return (entry, state.segments.segment(entry.segment))
    }
    guard let entry else { return .miss(.absent) }
    guard let segment, entry.deadline == .max || entry.deadline > clock.now.nanoseconds else { return nil }
    defer { closeSurplusFiles() }
    return readNow(entry, key, in: segment).map { .found($0) }
  }

  /// When an entry was stored whose lifetime has not ended, as the index knows it.
  func created(_ plainKey: StoreKey) -> Int64? {
    let key = storedKey(plainKey)
    guard let entry = state.withLock({ $0.index.find(key) }) else { return nil }
    return entry.deadline == .max || entry.deadline > clock.now.nanoseconds ? entry.created : nil
  }

  private func hasPassed(_ entry: StoreIndex.Entry) -> Bool {
    entry.deadline != .max && entry.deadline <= clock.now.nanoseconds
  }

  /// Finds the newest value of a key.
  func read(_ plainKey: StoreKey, includingExpired: Bool = false) async throws -> Answer {
    let key = storedKey(plainKey)
    let isElsewhere = mayBeAway ? await !comesBack() : false
    while true {
      let (entry, segment) = try state.withLock { state -> (StoreIndex.Entry?, Segment?) in
        guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
        guard !isElsewhere, let entry = state.index.use(key) else { return (nil, nil) }
        return (entry, state.segments.segment(entry.segment))
      }
      guard let entry else { return .miss(isElsewhere ? .unanswered : .absent) }
      let isExpired = hasPassed(entry)
      let isOver = isExpired && isOver(entry, at: clock.now.nanoseconds)
      if isOver, access == .readWrite { drop(key, if: entry, cause: .expired) }
      if isOver || (isExpired && !includingExpired) { return .miss(.expired) }
      var found: Found?
      if let segment { found = try await readRecord(of: entry, key: key, in: segment) }
      if var found, found.isAuthentic {
        found.isExpired = isExpired || hasPassed(found.entry)
        return found.isExpired && !includingExpired ? .miss(.expired) : .found(found)
      }
      // Its segment may have been reclaimed, or its own file replaced, while we were on the way.
      if state.withLock({ $0.index.find(key) }) == entry {
        // Where the store is only looked at, no more can be said than that it is not here as it was known.
        guard access == .readWrite else { return .miss(.damaged) }
        drop(key, if: entry, cause: .damaged)
        state.withLock { $0.damaged += 1 }
        return .miss(found == nil ? .damaged : .authenticationFailed)
      }
    }
  }

  /// Reads a record and its value; `nil` if they are not what was written.
  func readRecord(of entry: StoreIndex.Entry, key: StoreKey, in segment: Segment) async throws -> Found? {
    defer { closeSurplusFiles() }
    if sealing == nil, let found = readNow(entry, key, in: segment) { return found }
    let length = entry.recordLength
    var record = sealing == nil ? nil : segment.fileNow.flatMap { readNow($0, length, at: entry.offset) }
    if record == nil {
      record = try await blocking { [self] in try opening { try segment.read(length, at: entry.offset) } }
    }
    guard let record, let (type, tags) = check(record, entry, key) else { return nil }
    var found = Found(entry: entry, type: type, tags: tags, value: Data())
    guard let number = entry.ownFile else {
      if sealing != nil { return opened(found, key, record: record) }
      found.value = Data(record[entry.valueRange])
      return found
    }
    let value = try await blocking { [self] in
      try opening { try Self.readOwnFile(number, entry.ownFileLength, in: directory) }
    }
    guard let value, ownChecksum(record, entry) == Checksum.of(value, seed: salt) else { return nil }
    if sealing != nil { return opened(found, key, record: record, ownFile: Array(value)) }
    found.value = value
    return found
  }

  /// Reads a value that has a file of its own; `nil` if that is not there, or of another length.
  private static func readOwnFile(_ number: UInt64, _ length: Int, in directory: StoreDirectory) throws -> Data? {
    do {
      let file = try directory.open(FileName.value.name(number), forWriting: false)
      guard file.size == length, let memory = ValueMemory(count: length) else { return nil }
      return try unsafe file.read(into: memory.bytes, at: 0) == length ? memory.data() : nil
    } catch let failure as SystemFailure where failure.number == ENOENT || OpenedStore.notOurs.contains(failure.number)
    {
      return nil
    }
  }

  /// The type's name and the tags, if the record is intact and that of this very key.
  func check(_ record: [UInt8], _ entry: StoreIndex.Entry, _ key: StoreKey) -> ([UInt8], Set<String>)? {
    unsafe record.withUnsafeBytes { raw in
      let value = entry.valueRange
      guard value.upperBound <= raw.count else { return nil }
      return unsafe check(
        UnsafeRawBufferPointer(rebasing: raw[..<value.lowerBound]), UnsafeRawBufferPointer(rebasing: raw[value]), entry,
        key)
    }
  }

  /// The same where the value stands elsewhere than what comes before it.
  private func check(
    _ head: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ entry: StoreIndex.Entry, _ key: StoreKey
  ) -> ([UInt8], Set<String>)? {
    guard let header = unsafe RecordHeader(head, salt: salt),
      UInt32(truncatingIfNeeded: header.sequence) == entry.sequence,
      header.keyLength == key.bytes.count, header.valueRange == entry.valueRange,
      unsafe header.hasIntactPrefix(head, salt: salt),
      unsafe Checksum.of(value, seed: header.prefixChecksum) == header.valueChecksum,
      unsafe key.isEqual(to: UnsafeRawBufferPointer(rebasing: head[header.keyRange]))
    else { return nil }
    let tags = unsafe header.tagsLength == 0 ? [] : RecordTags.read(.init(rebasing: head[header.tagsRange]))
    return unsafe (Array(head[header.typeRange]), tags)
  }

  /// The checksum of a value in a file of its own, which stands in the record behind the file's number and length.
  func ownChecksum(_ record: [UInt8], _ entry: StoreIndex.Entry) -> UInt64? {
    guard entry.valueLength >= SealedRecord.pointerLength else { return nil }
    return unsafe record.withUnsafeBytes { unsafe Self.ownChecksum(.init(rebasing: $0[entry.valueRange])) }
  }

  private static func ownChecksum(_ pointer: UnsafeRawBufferPointer) -> UInt64 {
    unsafe pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian
  }

  // MARK: What the page cache has

  /// Longer values are read on a thread of the store: copying them takes long enough to be in the way of others.
  private static let longestValueReadNow = 8 << 20
  private static let longestHeadReadNow = 4 << 10

  /// Reads an entry that is not sealed without ever waiting for the disk.
  ///
  /// The value goes to where it will stay, and is checked there while it is in the processor's cache. `nil` for whatever
  /// needs a second look.
  private func readNow(_ entry: StoreIndex.Entry, _ key: StoreKey, in segment: Segment) -> Found? {
    let headLength = entry.valueRange.lowerBound
    guard headLength <= Self.longestHeadReadNow, entry.size <= Self.longestValueReadNow, let file = segment.fileNow,
      let memory = ValueMemory(count: Int(entry.valueLength))
    else { return nil }
    let value = unsafe memory.bytes
    let known = unsafe withUnsafeTemporaryAllocation(byteCount: headLength, alignment: 8) { head in
      let got = unsafe file.calls.readNow(file.descriptor, head, value, at: entry.offset)
      return unsafe got == headLength + value.count ? check(.init(head), .init(value), entry, key) : nil
    }
    guard let (type, tags) = known else { return nil }
    guard let number = entry.ownFile else {
      return Found(entry: entry, type: type, tags: tags, value: memory.data())
    }
    guard value.count >= SealedRecord.pointerLength,
      let own = unsafe ownFileNow(number, entry.ownFileLength, Self.ownChecksum(.init(value)))
    else { return nil }
    return Found(entry: entry, type: type, tags: tags, value: own)
  }

  private func ownFileNow(_ number: UInt64, _ length: Int, _ checksum: UInt64) -> Data? {
    guard let file = directory.openNow(FileName.value.name(number)), file.size == length,
      let memory = ValueMemory(count: length)
    else { return nil }
    let value = unsafe memory.bytes
    guard unsafe file.calls.readNow(file.descriptor, value, .init(start: nil, count: 0), at: 0) == length,
      unsafe Checksum.of(UnsafeRawBufferPointer(value), seed: salt) == checksum
    else { return nil }
    return memory.data()
  }

  private func readNow(_ file: StoreFile, _ count: Int, at offset: Int) -> [UInt8]? {
    var isWhole = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let got = unsafe file.calls.readNow(
        file.descriptor, UnsafeMutableRawBufferPointer(buffer), .init(start: nil, count: 0), at: offset)
      isWhole = got == count
      filled = isWhole ? count : 0
    }
    return isWhole ? bytes : nil
  }

  /// Runs a call that blocks on a thread of the store's own.
  func blocking<Result: Sendable>(
    on queue: DispatchQueue? = nil, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    do {
      return try await withCheckedThrowingContinuation { continuation in
        let resume: @Sendable () -> Void = { continuation.resume(with: Swift.Result(catching: work)) }
        if let queue { queue.async(execute: resume) } else { readers.async(resume) }
      }
    } catch { throw readFailed(error) }
  }

  /// Takes an entry out of the index, unless a newer one has come.
  func drop(_ key: StoreKey, if entry: StoreIndex.Entry, cause: RemovalCause) {
    let isDropped = state.withLock { state in
      guard state.index.find(key) == entry else { return false }
      state.index.remove(key)
      state.hasForgotten = true
      return true
    }
    guard isDropped else { return }
    if let number = entry.ownFile { removeLater(number, entry.ownFileLength) }
    tell([loss(of: key, entry, cause)])
  }
}
