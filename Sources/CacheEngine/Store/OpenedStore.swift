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

  private let isEncrypted: Bool
  private(set) var salt: UInt64 = 0
  private(set) var state = SegmentedStore.State()
  private(set) var sequence: UInt64 = 0
  private(set) var fileNumber: UInt64 = 0

  /// Reads the checkpoint and what was appended after it, or the whole log.
  ///
  /// With access for writing, what a crash left over is removed: a torn tail, temporary files, values without a record.
  /// Who only looks may meet somebody who writes. Then the checkpoint is read before the segments are listed, so that it
  /// knows no more than they do, and files of values are listed after the log was read, so that none is missed.
  ///
  /// A record of a newer format is an error, but not in an encrypted store: there its version is as good as anything else
  /// that was changed, costs one entry, and only the versions of segments are believed.
  init(_ directory: StoreDirectory, access: StoreAccess, clock: any CacheClock, isEncrypted: Bool = false) throws {
    self.isEncrypted = isEncrypted
    let reading = ClockReading(clock)
    let checkpoint = Self.readCheckpoint(directory)
    var names = try directory.names()
    var attempts = access == .readOnly ? 16 : 1
    while try !openSegments(names, directory, access), attempts > 1 {
      // A segment was reclaimed before it could be opened; what lived in it stands in a newer one.
      attempts -= 1
      state = SegmentedStore.State()
      names = try directory.names()
    }
    var scanned = take(checkpoint, reading)
    for (position, segment) in state.segments.enumerated() {
      try scan(
        segment, from: scanned.removeValue(forKey: segment.number) ?? Segment.headSize,
        isLast: position == state.segments.count - 1, access, directory, reading)
    }
    if access == .readOnly { names = try directory.names() }
    try sweepFiles(names, directory, access)
    state.seenLength = state.segments.last?.file.size ?? 0
    for segment in state.segments {
      state.allocatedBytes += StoreIndex.blocks(state.lengths[segment.number] ?? 0)
      state.settle(segment: segment.number, segment.file.allocatedBytes)
    }
  }

  private static func readCheckpoint(_ directory: StoreDirectory) -> [UInt8]? {
    guard let file = try? directory.open(FileName.checkpoint, forWriting: false) else { return nil }
    return try? file.read(file.size, at: 0)
  }

  /// Opens the files of the log; `false` if one went since they were listed.
  private mutating func openSegments(
    _ names: [String], _ directory: StoreDirectory, _ access: StoreAccess
  ) throws -> Bool {
    let numbers = names.compactMap { FileName.segment.number(in: $0) }.sorted()
    state.lastSegmentNumber = numbers.last ?? 0
    var isWhole = true
    var isSaltKnown = false
    for number in numbers {
      let file: StoreFile
      do { file = try directory.open(Segment.name(number), forWriting: access == .readWrite) } catch let failure
        as SystemFailure where failure.number == ENOENT || Self.notOurs.contains(failure.number)
      {
        // Not a file of ours, or gone meanwhile.
        if failure.number == ENOENT { isWhole = false }
        state.damaged += 1
        continue
      }
      switch Segment.readHead(try file.read(Segment.headSize, at: 0), number: number) {
      case .valid(let found):
        guard !isSaltKnown || found == salt else {
          state.damaged += 1
          continue
        }
        (salt, isSaltKnown) = (found, true)
        state.isSealed = false
      case .unknownVersion(let version): throw Self.newer(version, directory)
      // Who writes is about to write it.
      case .damaged where access == .readOnly && number == numbers.last && file.size < Segment.headSize: continue
      case .damaged:
        state.damaged += 1
        // As a crash leaves one that was just made. What is appended to it would not be found again.
        state.isSealed = true
      }
      state.segments.append(Segment(number: number, file: file))
    }
    if !isSaltKnown {
      // Without a readable head there is nothing to be read at all.
      if access == .readWrite { for segment in state.segments { try directory.remove(segment.name) } }
      state.segments = []
      salt = UInt64.random(in: 1 ... .max)
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
  private mutating func take(_ bytes: [UInt8]?, _ reading: ClockReading) -> [UInt64: Int] {
    guard let bytes else { return [:] }
    state.checkpointBytes = StoreIndex.blocks(bytes.count)
    state.allocatedBytes += state.checkpointBytes
    guard let checkpoint = Checkpoint(bytes, salt: salt, at: reading) else { return [:] }
    let sizes = Dictionary(uniqueKeysWithValues: state.segments.map { ($0.number, $0.file.size) })
    // A segment shorter than the checkpoint knows it has lost something: then only the log itself can tell.
    for (number, length) in checkpoint.segments where sizes[number].map({ $0 < length }) ?? false { return [:] }
    for (key, entry, tags) in checkpoint.entries where sizes[entry.segment] != nil {
      note(entry.header.sequence, entry.ownFile)
      state.index.insert(entry, for: key, tags: tags)
    }
    return checkpoint.segments
  }

  private mutating func scan(
    _ segment: Segment, from start: Int, isLast: Bool, _ access: StoreAccess, _ directory: StoreDirectory,
    _ reading: ClockReading
  ) throws {
    let scan = SegmentScan(
      try segment.file.read(max(0, segment.file.size - start), at: start), from: start, salt: salt)
    if let version = scan.newerVersion, !isEncrypted { throw Self.newer(UInt64(version), directory) }
    // At its end somebody may be writing.
    if access == .readWrite || !isLast { state.damaged += scan.damaged }
    state.lengths[segment.number] = isLast ? scan.end : segment.file.size
    for found in scan.records {
      note(found.header.sequence, found.ownFile?.number)
      state.apply(found, in: segment.number, reading)
    }
    // The torn tail of a crash. Who only looks leaves it.
    guard isLast, scan.end < segment.file.size, access == .readWrite else { return }
    try segment.file.truncate(to: scan.end)
  }

  private mutating func note(_ sequence: UInt64, _ file: UInt64?) {
    // Both are counted on from here; a forged one must leave room for that.
    self.sequence = max(self.sequence, min(sequence, 1 << 62))
    if let file { fileNumber = max(fileNumber, min(file, 1 << 62)) }
  }

  /// Counts the values in files of their own and removes what no record points to.
  private mutating func sweepFiles(_ names: [String], _ directory: StoreDirectory, _ access: StoreAccess) throws {
    var wanted: [UInt64: Int] = [:]
    let files = Set(names.compactMap { FileName.value.number(in: $0) })
    for (key, entry) in state.index.all {
      guard let number = entry.ownFile else { continue }
      if files.contains(number) {
        wanted[number] = entry.ownFileLength
      } else {
        // It was evicted: its file went, and no record tells of that.
        state.index.remove(key)
        state.hasForgotten = true
      }
    }
    for name in names {
      if let number = FileName.value.number(in: name) {
        fileNumber = max(fileNumber, number)
        if let length = wanted[number] {
          state.allocatedBytes += StoreIndex.blocks(length)
          state.settle(value: number, length, directory.allocatedBytes(of: name))
        } else if access == .readWrite {
          try directory.remove(name)
        }
      } else if FileName.temporary.number(in: name) != nil, access == .readWrite {
        try directory.remove(name)
      }
    }
  }
}

extension SegmentedStore.State {
  /// Takes over what a record of the log says.
  mutating func apply(_ found: SegmentScan.Found, in segment: UInt64, _ reading: ClockReading) {
    switch found.header.kind {
    case .value:
      index.insert(
        StoreIndex.Entry(
          segment: segment, offset: found.offset, header: found.header, ownFile: found.ownFile?.number,
          ownFileLength: found.ownFile?.length ?? 0, deadline: found.header.times.deadline(at: reading),
          created: found.header.times.created(at: reading)), for: found.key, tags: found.tags)
    case .tombstone, .ended: index.remove(found.key)
    case .cleared: index = StoreIndex()
    }
  }
}
