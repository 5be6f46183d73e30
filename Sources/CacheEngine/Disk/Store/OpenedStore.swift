import CacheCore
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What stands in a directory, read when a store is opened.
struct OpenedStore {
  /// What opening says of something that stands in the place of a file of ours.
  static let notOurs = [ELOOP, EINVAL, EISDIR, ENXIO]
  /// No store of ours reaches higher numbers: what has one, and nothing inside that says it is ours, was put there.
  private static let highestNumber: UInt64 = 1 << 48
  /// Counting goes on from the numbers that are found, up to this one: a forged number must leave room for that.
  private static let lastNumber: UInt64 = 1 << 62

  private let isEncrypted: Bool
  let files: SegmentFiles
  private(set) var salt: UInt64 = 0
  private(set) var state = SegmentedStore.State()
  private(set) var sequence: UInt64 = 0
  private(set) var fileNumber: UInt64 = 0
  /// A part of the log was not read, or not understood: what nothing points to may be pointed to from there.
  private var isLogDoubtful = false

  /// Reads the checkpoint and what was appended after it, or the whole log.
  ///
  /// With access for writing, what a crash left over is removed: a torn tail, temporary files, values without a record.
  /// What could not be read is neither cut off nor removed, and nothing is appended behind it.
  /// A store that is only looked at may meet a writer. Then the checkpoint is read before the segments are listed, so that it
  /// knows no more than they do, and files of values are listed after the log was read, so that none is missed.
  ///
  /// A record of a newer format is an error, but not in an encrypted store: there its version is as good as anything else
  /// that was changed, costs one entry, and only the versions of segments are believed.
  init(
    _ directory: StoreDirectory, access: StoreAccess, clock: any CacheClock, isEncrypted: Bool, lock: StoreFile?
  ) throws {
    self.isEncrypted = isEncrypted
    // What a writer removes while it is only looked at could not be opened again.
    files = SegmentFiles(most: access == .readWrite ? directory.calls.mostSegmentFiles : .max)
    let reading = ClockReading(clock)
    let checkpoint = Self.readCheckpoint(directory)
    var names = try directory.names()
    var attempts = access == .readOnly ? 16 : 1
    while try !openSegments(names, directory, access, checkpoint, lock), attempts > 1 {
      // A segment was reclaimed before it could be opened; what lived in it stands in a newer one.
      attempts -= 1
      (state, isLogDoubtful) = (SegmentedStore.State(), false)
      names = try directory.names()
    }
    let scanned = take(checkpoint, reading)
    for (position, segment) in state.segments.enumerated() {
      let known = scanned[segment.number]
      try scan(
        segment, from: known ?? Segment.headSize, fromEnd: state.segments.count - 1 - position, access, directory,
        reading)
      // What a checkpoint knows was on the disk before it.
      if state.lengths[segment.number] != known { state.unsynced.insert(segment.number) }
    }
    if let lock { try noteBegun(lock) }
    if access == .readOnly { names = try directory.names() }
    try sweepFiles(names, directory, access)
    if state.seenLength >= 0 { state.seenLength = state.segments.last?.size ?? 0 }
    for segment in state.segments {
      state.allocatedBytes += StoreIndex.blocks(state.lengths[segment.number] ?? 0)
      state.settle(segment: segment.number, segment.allocatedBytes)
    }
  }

  /// The bytes of the checkpoint; `nil` for what is longer than one of this log can be.
  private static func readCheckpoint(_ directory: StoreDirectory) -> [UInt8]? {
    guard let file = try? directory.open(FileName.checkpoint, forWriting: false) else { return nil }
    if file.size > 64 << 20 {
      // Each entry stands in the log too, with its head and its key.
      guard let names = try? directory.names() else { return nil }
      let segments = names.count { FileName.segment.number(in: $0) != nil }
      guard file.size / 2 <= segments * Segment.longest else { return nil }
    }
    return try? file.read(file.size, at: 0)
  }

  /// Opens the files of the log; `false` if one went since they were listed.
  private mutating func openSegments(
    _ names: [String], _ directory: StoreDirectory, _ access: StoreAccess, _ checkpoint: [UInt8]?,
    _ lock: StoreFile?
  ) throws -> Bool {
    let numbers = names.compactMap { FileName.segment.number(in: $0) }.sorted()
    var isWhole = true
    var found: [(segment: Segment, head: Segment.Head)] = []
    var unread: SystemFailure?
    for number in numbers {
      do {
        let file = try directory.open(Segment.name(number), forWriting: access == .readWrite)
        var head = Segment.Head.damaged
        do { head = Segment.readHead(try file.read(Segment.headSize, at: 0), number: number) } catch let failure
          as SystemFailure where failure.number == EIO
        {
          (unread, isLogDoubtful, state.isLogUnread) = (failure, true, true)
        }
        if case .unknownVersion(let version) = head { throw Self.newer(version, directory) }
        found.append((Segment(number: number, file: file, in: directory, among: files), head))
        // The two newest may have to be cut.
        if files.isFull, number != numbers.last, number != numbers.dropLast().last {
          _ = found.last?.segment.close(evenIfWanted: true)
        }
      } catch let failure as SystemFailure where failure.number == ENOENT || Self.notOurs.contains(failure.number) {
        // Not a file of ours, or gone meanwhile.
        if failure.number == ENOENT { (isWhole, isLogDoubtful) = (false, true) }
        state.damaged += 1
      } catch let failure as SystemFailure where failure.number == EIO {
        // Not even its length is known, and so neither is which older values and removals it hides.
        throw CacheError(
          .unusableStore,
          """
          the disk does not open \(directory.path)/\(Segment.name(number)) (\(failure.text)); nothing was changed: try \
          again, or move that file away, which costs what was stored in it
          """, underlying: failure)
      }
    }
    guard let chosen = Self.salt(of: found.map(\.head), checkpoint, try lock?.read(Segment.begunSize, at: 0)) else {
      // Without a readable head there is nothing to be read at all.
      if let unread { throw unread }
      (salt, isLogDoubtful) = (UInt64.random(in: 1 ... .max), !found.isEmpty)
      return take(found, access, isWhole)
    }
    salt = chosen
    return take(found, access, isWhole)
  }

  /// The random number of the store: the one that the lock or the checkpoint was written with, or that most files of the
  /// log have.
  private static func salt(of heads: [Segment.Head], _ checkpoint: [UInt8]?, _ lock: [UInt8]?) -> UInt64? {
    var counts: [UInt64: Int] = [:]
    for case .valid(let salt) in heads { counts[salt, default: 0] += 1 }
    if let lock, let salt = counts.keys.first(where: { Segment.begun(in: lock, salt: $0) != nil }) { return salt }
    if counts.count != 1, let salt = checkpoint.flatMap(Checkpoint.salt(of:)), counts.isEmpty || counts[salt] != nil {
      return salt
    }
    return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
  }

  /// Takes over the files that are this store's.
  private mutating func take(
    _ found: [(segment: Segment, head: Segment.Head)], _ access: StoreAccess, _ isWhole: Bool
  ) -> Bool {
    for (segment, head) in found {
      if head == .valid(salt: salt), segment.number < Self.lastNumber {
        state.hasSegmentEnded = false
      } else if head == .damaged, segment.number < Self.highestNumber {
        // The writer is about to write it.
        if access == .readOnly, segment === found.last?.segment, segment.size < Segment.headSize {
          state.seenLength = -1
          continue
        }
        state.damaged += 1
        // As a crash leaves one that was just made. What is appended to it would not be found again.
        state.hasSegmentEnded = true
      } else {
        // Another store's, or nobody's: it is left where it is.
        state.damaged += 1
        isLogDoubtful = true
        continue
      }
      state.lastSegmentNumber = segment.number
      state.segments.append(segment)
    }
    return isWhole
  }

  private static func newer(_ version: UInt64, _ directory: StoreDirectory) -> CacheError {
    CacheError(
      .unusableStore,
      """
      the store in \(directory.path) has format version \(version), which this program does not know; it was left \
      untouched: open it with the program that wrote it, or give this one another directory
      """)
  }

  /// Takes the entries of the checkpoint, and gives how far it knows each segment.
  ///
  /// Which record of a key was the newest is known from here, also where a part of the log has gone since: then what stood
  /// there is missing, and nothing older comes back.
  private mutating func take(_ bytes: [UInt8]?, _ reading: ClockReading) -> [UInt64: Int] {
    guard let bytes else { return [:] }
    state.checkpointBytes = StoreIndex.blocks(bytes.count)
    state.allocatedBytes += state.checkpointBytes
    let sizes = Dictionary(uniqueKeysWithValues: state.segments.map { ($0.number, $0.size) })
    guard let checkpoint = Checkpoint(bytes, salt: salt, at: reading, sizes: sizes) else { return [:] }
    note(checkpoint.sequence, checkpoint.fileNumber)
    // Without a log all of it is lost, and none of its numbers is given again while the checkpoint knows them.
    let oldest = state.segments.first?.number ?? 0
    for (number, length) in checkpoint.segments where number >= oldest && sizes[number, default: 0] < length {
      loseEnd(of: number)
    }
    state.index = checkpoint.index
    // The log may tell of more than the checkpoint: of what was evicted, say.
    state.hasForgotten = true
    return checkpoint.segments
  }

  /// Notes that a file of the log, or the end of one, has gone.
  ///
  /// Where the log goes on behind a file that is not there, that one was reclaimed or cleared: after a power cut the names
  /// of older ones may be there still.
  private mutating func loseEnd(of number: UInt64) {
    let isThere = state.segments.segment(number) != nil
    // Nor was a number that nobody reaches ever one of ours.
    guard isThere || (number > state.segments.last?.number ?? 0 && number < Self.highestNumber) else { return }
    guard state.cutSegments.insert(number).inserted else { return }
    state.damaged += 1
    // Where the next opening would not look, nothing is written.
    if number >= state.lastSegmentNumber { (state.hasSegmentEnded, state.lastSegmentNumber) = (true, number) }
  }

  /// The lock says which segment was the last to get a record.
  private mutating func noteBegun(_ lock: StoreFile) throws {
    guard let begun = Segment.begun(in: try lock.read(Segment.begunSize, at: 0), salt: salt),
      begun >= state.segments.first?.number ?? .max
    else { return }
    if (state.lengths[begun] ?? 0) <= Segment.headSize { loseEnd(of: begun) }
  }

  private mutating func scan(
    _ segment: Segment, from start: Int, fromEnd: Int, _ access: StoreAccess, _ directory: StoreDirectory,
    _ reading: ClockReading
  ) throws {
    let isLast = fromEnd == 0
    let file = try segment.file()
    defer { if files.isFull, fromEnd > 1 { _ = segment.close(evenIfWanted: true) } }
    let extent = try segment.extent(of: segment.size, salt: salt)
    let (bytes, isRead) = try Self.readAround(file, max(0, extent - start), at: start)
    let scan = SegmentScan(bytes, from: start, salt: salt)
    if let version = scan.newerVersion, !isEncrypted { throw Self.newer(UInt64(version), directory) }
    // At its end somebody may be writing.
    let mayTell = access == .readWrite || !isLast
    if mayTell { state.damaged += scan.damaged }
    if !isRead || extent < segment.size { (state.damaged, isLogDoubtful) = (state.damaged + 1, true) }
    if !isRead { state.isLogUnread = true }
    // What was appended last may have reached the disk without its value, in the place of an older one that is there.
    let mark = scan.records.lastIndex { $0.header.flags & RecordHeader.followsSync != 0 }
    let firstInDoubt = isRead && fromEnd < 2 ? mark ?? 0 : scan.records.count
    var end = start
    var unfinished: [Int] = []
    for (position, found) in scan.records.enumerated() {
      note(found.header.sequence, found.ownFile?.number)
      if position >= firstInDoubt, try !isFinished(found, bytes, from: start, directory, mark != nil, reading) {
        unfinished.append(found.offset)
        continue
      }
      end = found.offset + found.header.recordLength
      state.apply(found, in: segment.number, reading)
    }
    if mayTell { state.damaged += unfinished.count }
    state.lengths[segment.number] = isLast && isRead ? min(end, extent) : extent
    guard access == .readWrite else { return }
    if try file.hasOtherNames() {
      // Somebody keeps a copy, or has put a file of theirs here: it stays as it is.
      if isLast { state.hasSegmentEnded = true }
      return
    }
    // Once more is written behind them they would be found again.
    for offset in unfinished where !isLast || offset < end {
      try? file.write([UInt8](repeating: 0, count: 8), at: offset)
    }
    guard isLast, end < segment.size else { return }
    if isRead, extent == segment.size {
      // The torn tail of a crash.
      try file.truncate(to: end)
    } else {
      state.hasSegmentEnded = true
    }
  }

  /// Reads as much as the disk gives: a stretch that it refuses is zeros, and no record begins with those.
  private static func readAround(
    _ file: StoreFile, _ count: Int, at offset: Int
  ) throws -> (bytes: [UInt8], isWhole: Bool) {
    do { return (try file.read(count, at: offset), true) } catch let failure as SystemFailure
      where failure.number == EIO
    {
      var bytes = [UInt8](repeating: 0, count: count)
      for place in stride(from: 0, to: count, by: 64 << 10) {
        do {
          let piece = try file.read(min(64 << 10, count - place), at: offset + place)
          bytes.replaceSubrange(place..<place + piece.count, with: piece)
        } catch let failure as SystemFailure where failure.number == EIO {}
      }
      return (bytes, false)
    }
  }

  /// Whether the value of a record came to the disk with it.
  ///
  /// `isSynced`: Somebody waited until the disk had what was written before it.
  private func isFinished(
    _ found: SegmentScan.Found, _ bytes: [UInt8], from start: Int, _ directory: StoreDirectory, _ isSynced: Bool,
    _ reading: ClockReading
  ) throws -> Bool {
    let isIntact = unsafe bytes.withUnsafeBytes {
      unsafe found.header.hasIntactValue(UnsafeRawBufferPointer(rebasing: $0[(found.offset - start)...]))
    }
    guard isIntact, let (number, length) = found.ownFile else { return isIntact }
    // It was evicted, or found damaged, and no record tells of that: the key has no value, and not the one before it.
    if found.header.flags & RecordHeader.followsOwnFile != 0 { return true }
    // A file that is not there has expired, or was evicted as long as nobody waited until its name was on the disk.
    return try directory.size(of: FileName.value.name(number)).map { $0 == length }
      ?? (!isSynced || found.header.times.deadline(at: reading) <= reading.now)
  }

  private mutating func note(_ sequence: UInt64, _ file: UInt64?) {
    self.sequence = max(self.sequence, min(sequence, Self.lastNumber))
    if let file { fileNumber = max(fileNumber, min(file, Self.lastNumber)) }
  }

  /// Counts the values in files of their own and removes what no record points to.
  private mutating func sweepFiles(_ names: [String], _ directory: StoreDirectory, _ access: StoreAccess) throws {
    var wanted: [UInt64: (key: StoreKey, entry: StoreIndex.Entry)] = [:]
    let files = Set(names.compactMap { FileName.value.number(in: $0) })
    for (key, entry) in state.index.withOwnFiles {
      guard let number = entry.ownFile else { continue }
      var lost: StoreKey?
      if !files.contains(number) {
        // It was evicted: its file went, and no record tells of that.
        lost = key
      } else if let other = wanted[number] {
        // The number was given again after the older one was evicted.
        let isNewer = (other.entry.segment, other.entry.offset) < (entry.segment, entry.offset)
        lost = isNewer ? other.key : key
        if isNewer { wanted[number] = (key, entry) }
      } else {
        wanted[number] = (key, entry)
      }
      guard let lost else { continue }
      state.index.remove(lost)
      state.hasForgotten = true
    }
    for name in names {
      if let number = FileName.value.number(in: name) {
        if let length = wanted[number]?.entry.ownFileLength {
          state.allocatedBytes += StoreIndex.blocks(length)
          state.settle(value: number, length, directory.allocatedBytes(of: name))
        } else if number < Self.highestNumber {
          fileNumber = max(fileNumber, number)
          if access == .readWrite { try sweep(name, number, directory) }
        }
      } else if FileName.temporary.number(in: name) != nil, access == .readWrite {
        try directory.remove(name)
      }
    }
  }

  /// Removes a value that no record points to; where not all of the log is known it stays until its room is needed.
  private mutating func sweep(_ name: String, _ number: UInt64, _ directory: StoreDirectory) throws {
    guard isLogDoubtful else { return try directory.remove(name) }
    guard !directory.isDirectory(name) else { return }
    let length = directory.allocatedBytes(of: name)
    state.orphans[number] = length
    state.allocatedBytes += StoreIndex.blocks(length)
  }
}

extension SegmentedStore.State {
  /// Takes over what a record of the log says.
  mutating func apply(_ found: SegmentScan.Found, in segment: UInt64, _ reading: ClockReading) {
    switch found.header.kind {
    case .value:
      index.insert(
        StoreIndex.Entry(
          found.header, segment: segment, offset: found.offset, ownFile: found.ownFile?.number,
          ownFileLength: found.ownFile?.length ?? 0, at: reading), for: found.key, tags: found.tags)
    case .tombstone, .ended: index.remove(found.key)
    case .cleared: index = StoreIndex()
    }
  }
}
