#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What stands in a directory, read when a store is opened.
struct OpenedStore {
  private(set) var salt: UInt64 = 0
  private(set) var state = SegmentedStore.State()
  private(set) var sequence: UInt64 = 0
  private(set) var fileNumber: UInt64 = 0

  /// Reads the checkpoint and what was appended after it, or the whole log.
  ///
  /// With access for writing, what a crash left over is removed: a torn tail, temporary files, values without a record.
  init(_ directory: StoreDirectory, access: StoreAccess, clock: any CacheClock) throws {
    let reading = ClockReading(clock)
    let names = try directory.names()
    try openSegments(names, directory, access)
    var scanned = try loadCheckpoint(names, directory, reading)
    for (position, segment) in state.segments.enumerated() {
      try scan(
        segment, from: scanned.removeValue(forKey: segment.number) ?? Segment.headSize,
        isLast: position == state.segments.count - 1, access, reading)
    }
    try sweepFiles(names, directory, access)
    for (_, length) in state.lengths { state.allocatedBytes += StoreIndex.blocks(length) }
  }

  private mutating func openSegments(_ names: [String], _ directory: StoreDirectory, _ access: StoreAccess) throws {
    let numbers = names.compactMap { FileName.segment.number(in: $0) }.sorted()
    state.lastSegmentNumber = numbers.last ?? 0
    var isSaltKnown = false
    for number in numbers {
      let file: StoreFile
      do { file = try directory.open(Segment.name(number), forWriting: access == .readWrite) } catch let failure
        as SystemFailure where [ELOOP, ENOENT, EINVAL, EISDIR, ENXIO].contains(failure.number)
      {
        // Not a file of ours, or gone meanwhile.
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
      case .unknownVersion(let version):
        throw CacheError(
          .unusableStore,
          "the store in \(directory.path) has format version \(version), which this program does not know; it was left untouched"
        )
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
  }

  /// Takes the entries of the checkpoint, and gives how far it knows each segment.
  private mutating func loadCheckpoint(
    _ names: [String], _ directory: StoreDirectory, _ reading: ClockReading
  ) throws -> [UInt64: Int] {
    guard names.contains(FileName.checkpoint), let file = try? directory.open(FileName.checkpoint, forWriting: false),
      let bytes = try? file.read(file.size, at: 0)
    else { return [:] }
    state.checkpointBytes = StoreIndex.blocks(file.size)
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
    _ segment: Segment, from start: Int, isLast: Bool, _ access: StoreAccess, _ reading: ClockReading
  ) throws {
    let scan = SegmentScan(
      try segment.file.read(max(0, segment.file.size - start), at: start), from: start, salt: salt)
    state.damaged += scan.damaged
    state.lengths[segment.number] = segment.file.size
    for found in scan.records { apply(found, in: segment, reading) }
    // The torn tail of a crash. Who only looks leaves it, and it counts.
    guard isLast, scan.end < segment.file.size, access == .readWrite else { return }
    try segment.file.truncate(to: scan.end)
    state.lengths[segment.number] = scan.end
  }

  private mutating func apply(_ found: SegmentScan.Found, in segment: Segment, _ reading: ClockReading) {
    note(found.header.sequence, found.ownFile?.number)
    switch found.header.kind {
    case .value:
      state.index.insert(
        StoreIndex.Entry(
          segment: segment.number, offset: found.offset, header: found.header, ownFile: found.ownFile?.number,
          ownFileLength: found.ownFile?.length ?? 0, deadline: found.header.times.deadline(at: reading),
          created: found.header.times.created(at: reading)), for: found.key, tags: found.tags)
    case .tombstone, .ended: state.index.remove(found.key)
    case .cleared: state.index = StoreIndex()
    }
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
        } else if access == .readWrite {
          try directory.remove(name)
        }
      } else if FileName.temporary.number(in: name) != nil, access == .readWrite {
        try directory.remove(name)
      }
    }
  }
}
