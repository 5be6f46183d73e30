internal import CStore
import Dispatch
import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension SegmentedStore {
  /// The bytes of a value, with what is known of it.
  struct Found: Sendable {
    var entry: StoreIndex.Entry
    var type: [UInt8]
    var tags: Set<String>
    var record: [UInt8]
    /// The value's place in `record`.
    var value: Range<Int>
    var isExpired = false
    /// What was sealed opened; nothing to be relied on otherwise.
    var isAuthentic = true
    /// In an encrypted store: the key itself.
    var realKey: StoreKey?
  }

  enum Answer: Sendable {
    case found(Found)
    case miss(MissReason)
  }

  /// Answers what the index and the page cache know, at once; `nil` for what takes more.
  ///
  /// What is encrypted takes more.
  func readAtOnce(_ key: StoreKey) throws -> Answer? {
    guard sealing == nil else { return nil }
    let (entry, segment) = try state.withLock { state -> (StoreIndex.Entry?, Segment?) in
      guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
      guard let entry = state.index.use(key) else { return (nil, nil) }
      return (entry, state.segments.segment(entry.segment))
    }
    guard let entry else { return .miss(.absent) }
    guard let segment, entry.ownFile == nil, entry.deadline == .max || entry.deadline > clock.now.nanoseconds,
      let record = readNow(segment.file, entry.header.recordLength, at: entry.offset),
      let (type, tags) = check(record, entry, key)
    else { return nil }
    return .found(Found(entry: entry, type: type, tags: tags, record: record, value: entry.header.valueRange))
  }

  /// Whether there is an entry whose lifetime has not ended, as the index knows it.
  func holds(_ plainKey: StoreKey) -> Bool {
    let key = storedKey(plainKey)
    guard let entry = state.withLock({ $0.index.find(key) }) else { return false }
    return entry.deadline == .max || entry.deadline > clock.now.nanoseconds
  }

  /// Finds the newest value of a key.
  func read(_ plainKey: StoreKey, includingExpired: Bool = false) async throws -> Answer {
    let key = storedKey(plainKey)
    while true {
      let (entry, segment) = try state.withLock { state -> (StoreIndex.Entry?, Segment?) in
        guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
        guard let entry = state.index.use(key) else { return (nil, nil) }
        return (entry, state.segments.segment(entry.segment))
      }
      guard let entry else { return .miss(.absent) }
      let isExpired = entry.deadline != .max && entry.deadline <= clock.now.nanoseconds
      let isOver = isExpired && isOver(entry, at: clock.now.nanoseconds)
      if isOver, access == .readWrite { drop(key, if: entry, cause: .expired) }
      if isOver || (isExpired && !includingExpired) { return .miss(.expired) }
      var found: Found?
      if let segment { found = try await readRecord(of: entry, key: key, in: segment) }
      if var found, found.isAuthentic {
        found.isExpired = isExpired
        return .found(found)
      }
      // Its segment may have been reclaimed, or its own file replaced, while we were on the way.
      if state.withLock({ $0.index.find(key) }) == entry {
        // Who only looks has no more to say than that it is not here as it was known.
        guard access == .readWrite else { return .miss(.damaged) }
        drop(key, if: entry, cause: .damaged)
        state.withLock { $0.damaged += 1 }
        return .miss(found == nil ? .damaged : .authenticationFailed)
      }
    }
  }

  /// Reads a record and its value; `nil` if they are not what was written.
  func readRecord(of entry: StoreIndex.Entry, key: StoreKey, in segment: Segment) async throws -> Found? {
    let length = entry.header.recordLength
    var record = readNow(segment.file, length, at: entry.offset)
    if record == nil { record = try await blocking { try segment.file.read(length, at: entry.offset) } }
    guard let record, let (type, tags) = check(record, entry, key) else { return nil }
    guard let number = entry.ownFile else {
      let found = Found(entry: entry, type: type, tags: tags, record: record, value: entry.header.valueRange)
      return opened(found, key, record: record)
    }
    let value: [UInt8]? = try await blocking { [directory] in
      do {
        let file = try directory.open(FileName.value.name(number), forWriting: false)
        return file.size == entry.ownFileLength ? try file.read(file.size, at: 0) : nil
      } catch let failure as SystemFailure where failure.number == ENOENT || failure.number == ELOOP {
        return nil
      }
    }
    // The record's value is the file's number, length and checksum.
    guard let value, value.count == entry.ownFileLength, ownChecksum(record, entry) == Checksum.of(value, seed: salt)
    else { return nil }
    return opened(
      Found(entry: entry, type: type, tags: tags, record: value, value: 0..<value.count), key, record: record)
  }

  /// The type's name and the tags, if the record is intact and that of this very key.
  func check(_ record: [UInt8], _ entry: StoreIndex.Entry, _ key: StoreKey) -> ([UInt8], Set<String>)? {
    unsafe record.withUnsafeBytes { raw -> ([UInt8], Set<String>)? in
      guard let header = unsafe RecordHeader(raw, salt: salt), header.sequence == entry.header.sequence,
        header.keyLength == key.bytes.count, unsafe header.hasIntactPrefix(raw, salt: salt),
        unsafe header.hasIntactValue(raw), unsafe key.bytes.elementsEqual(raw[header.keyRange])
      else { return nil }
      let tags = header.tagsLength == 0 ? [] : unsafe RecordTags.read(.init(rebasing: raw[header.tagsRange]))
      return unsafe (Array(raw[header.typeRange]), tags)
    }
  }

  func ownChecksum(_ record: [UInt8], _ entry: StoreIndex.Entry) -> UInt64? {
    guard entry.header.valueLength >= 24 else { return nil }
    return unsafe record.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: raw[entry.header.valueRange]))
      _ = reader.take(count: 16)
      return reader.take()
    }
  }

  /// Reads what the page cache has, without ever waiting for the disk.
  private func readNow(_ file: StoreFile, _ count: Int, at offset: Int) -> [UInt8]? {
    var isWhole = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let got = unsafe cstore_pread_nowait(file.descriptor, buffer.baseAddress, count, off_t(offset))
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
