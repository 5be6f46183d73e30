import CacheCore

/// The index as a file, so that opening need not read the log.
///
/// It names every entry, from the least to the most recently used, and how far it knows each segment. Whatever was appended
/// later is read from the log; whatever was reclaimed later has been copied there. It is written beside the old one and
/// renamed, and a checksum covers all of it: a damaged checkpoint counts as none.
struct Checkpoint {
  private static let magic: UInt64 = 0x5844_495f_4543_4143  // "CAC_IDX"
  /// Since 2 the tags of an entry follow its key; since 3 it tells how far sequence and files were counted; since 4 an entry has
  /// what the index knows of it in place of the head of its record, and times are by the clocks as they were read at the end.
  ///
  /// All are read. A program that does not know one takes it for damaged and reads the log.
  private static let version: UInt64 = 4

  /// How many bytes of each segment the entries come from.
  var segments: [UInt64: Int]
  var index: StoreIndex
  /// The highest numbers that a record and a value's own file have had, even if those are gone: no number is given twice.
  var sequence: UInt64
  var fileNumber: UInt64

  init(segments: [UInt64: Int], index: StoreIndex, sequence: UInt64, fileNumber: UInt64) {
    (self.segments, self.index, self.sequence, self.fileNumber) = (segments, index, sequence, fileNumber)
  }

  /// What some entries have and others have not.
  private struct Parts: OptionSet {
    let rawValue: UInt16
    static let ownFile = Parts(rawValue: 1)
    static let seal = Parts(rawValue: 2)
    static let longCost = Parts(rawValue: 4)
  }

  /// What every entry takes, beside its key.
  private static let entryLength = 44

  // MARK: Writing

  /// `nil` if the log knows more than the index, as it does of an entry from the future, for as long as the clock is wrong.
  func bytes(salt: UInt64, at reading: ClockReading) -> [UInt8]? {
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(128 + segments.count * 16 + index.count * (Self.entryLength + 40))
    for number in [Self.magic, Self.version, salt, sequence, fileNumber] { writer.put(number) }
    for time in [reading.now, reading.wall] { writer.put(time) }
    writer.put(reading.boot)
    writer.put(UInt64(segments.count))
    var places: [UInt64: UInt32] = [:]
    for (number, length) in segments.sorted(by: { $0.key < $1.key }) {
      writer.put(number)
      writer.put(UInt64(length))
      places[number] = UInt32(places.count)
    }
    let countPlace = writer.bytes.count
    writer.put(UInt64(0))
    var count: UInt64 = 0
    var isDoubtful = false
    unsafe index.forEachInOrderOfUse { key, entry, tags in
      isDoubtful = isDoubtful || (entry.deadline == .min && entry.created > reading.now)
      // One that was ended by hand is gone for whoever opens the store later.
      guard !entry.isEnded, let place = places[entry.segment] else { return }
      unsafe Self.put(entry, key, tags, in: place, &writer)
      count += 1
    }
    if isDoubtful { return nil }
    for byte in 0..<8 { writer.bytes[countPlace + byte] = UInt8(truncatingIfNeeded: count >> (8 * UInt64(byte))) }
    writer.put(Checksum.of(writer.bytes, seed: salt))
    return writer.bytes
  }

  private static func put(
    _ entry: StoreIndex.Entry, _ key: UnsafeRawBufferPointer, _ tags: Set<String>, in segment: UInt32,
    _ writer: inout ByteWriter
  ) {
    // What does not fit was refused when it was stored.
    let tagBytes = tags.isEmpty ? [] : (try? RecordTags.bytes(tags)) ?? []
    var parts: Parts = entry.isSealed ? .seal : []
    if entry.ownFile != nil { parts.insert(.ownFile) }
    if UInt32(exactly: entry.cost) == nil { parts.insert(.longCost) }
    writer.put(entry.deadline)
    writer.put(entry.created)
    writer.put(segment)
    writer.put(UInt32(clamping: entry.offset / 8))
    writer.put(entry.sequence)
    writer.put(UInt32(clamping: entry.valueLength))
    writer.put(UInt32(clamping: entry.cost))
    writer.put(entry.typeLength)
    writer.put(parts.rawValue)
    writer.put(entry.keyLength)
    writer.put(UInt32(tagBytes.count))
    if let ownFile = entry.ownFile {
      writer.put(ownFile)
      writer.put(UInt64(entry.ownFileLength))
    }
    if parts.contains(.longCost) { writer.put(entry.cost) }
    unsafe writer.bytes.append(contentsOf: key)
    writer.bytes += tagBytes
  }

  // MARK: Reading

  /// The random number of the store that a whole checkpoint is of.
  static func salt(of bytes: [UInt8]) -> UInt64? {
    unsafe bytes.withUnsafeBytes { raw in
      guard raw.count >= 48 else { return nil }
      let salt = unsafe raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian
      return unsafe isWhole(raw, salt) ? salt : nil
    }
  }

  private static func isWhole(_ raw: UnsafeRawBufferPointer, _ salt: UInt64) -> Bool {
    let sum = unsafe raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self).littleEndian
    return unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: raw[..<(raw.count - 8)]), seed: salt) == sum
  }

  /// Reads a checkpoint; `nil` if it is damaged, of another version, or of another store.
  ///
  /// `sizes`: How long the segments are by now. Entries that would end beyond that are left out.
  init?(_ bytes: [UInt8], salt: UInt64, at reading: ClockReading, sizes: [UInt64: Int]) {
    (segments, index, sequence, fileNumber) = ([:], StoreIndex(), 0, 0)
    let isRead = unsafe bytes.withUnsafeBytes { raw -> Bool in
      guard raw.count >= 48 else { return false }
      guard unsafe Self.isWhole(raw, salt) else { return false }
      let body = unsafe UnsafeRawBufferPointer(rebasing: raw[..<(raw.count - 8)])
      var reader = unsafe ByteReader(body)
      let (magic, version) = (reader.take(UInt64.self), reader.take(UInt64.self))
      guard magic == Self.magic, (1...Self.version).contains(version), reader.take(UInt64.self) == salt else {
        return false
      }
      if version >= 3 { (sequence, fileNumber) = (reader.take(), reader.take()) }
      let written = version >= 4 ? ClockReading(now: reader.take(), wall: reader.take(), boot: reader.take()) : nil
      let segmentCount = reader.take(UInt64.self)
      var known: [(number: UInt64, size: Int)] = []
      for _ in 0..<segmentCount {
        let number = reader.take(UInt64.self)
        segments[number] = Int(clamping: reader.take(UInt64.self))
        if reader.isPastEnd { return false }
        known.append((number, sizes[number, default: 0]))
      }
      let count = reader.take(UInt64.self)
      guard count <= UInt64(reader.remaining) / UInt64(Self.entryLength) else { return false }
      index.reserve(Int(count))
      for _ in 0..<count {
        let isEntry =
          if let written { unsafe take(&reader, body, known, written, reading) } else {
            unsafe takeHead(&reader, body, sizes, salt, reading)
          }
        if !isEntry || reader.isPastEnd { return false }
      }
      return !reader.isPastEnd
    }
    guard isRead else { return nil }
  }

  private mutating func take(
    _ reader: inout ByteReader, _ body: UnsafeRawBufferPointer, _ known: [(number: UInt64, size: Int)],
    _ written: ClockReading, _ reading: ClockReading
  ) -> Bool {
    let (deadline, created): (Int64, Int64) = (reader.take(), reader.take())
    let (segment, offset, sequence): (UInt32, UInt32, UInt32) = (reader.take(), reader.take(), reader.take())
    let (valueLength, cost): (UInt32, UInt32) = (reader.take(), reader.take())
    let (typeLength, parts) = (reader.take(UInt16.self), Parts(rawValue: reader.take()))
    let (keyLength, tagsLength): (UInt32, UInt32) = (reader.take(), reader.take())
    guard segment < known.count else { return false }
    let times = written.times(created: created, deadline: deadline)
    var entry = StoreIndex.Entry(
      segment: known[Int(segment)].number, offset: Int(clamping: UInt64(offset) * 8), sequence: sequence,
      keyLength: keyLength,
      typeLength: typeLength, tagsLength: tagsLength, valueLength: UInt64(valueLength), cost: Int64(cost),
      isSealed: parts.contains(.seal), deadline: times.deadline(at: reading), created: times.created(at: reading))
    if parts.contains(.ownFile) {
      entry.ownFile = reader.take()
      entry.ownFileLength = Int(clamping: min(reader.take(UInt64.self), RecordHeader.longestOwnFile))
    }
    if parts.contains(.longCost) { entry.cost = reader.take() }
    return unsafe insert(entry, &reader, body, within: known[Int(segment)].size)
  }

  /// Reads an entry of a format before the fourth: its place, and the head of its record.
  private mutating func takeHead(
    _ reader: inout ByteReader, _ body: UnsafeRawBufferPointer, _ sizes: [UInt64: Int], _ salt: UInt64,
    _ reading: ClockReading
  ) -> Bool {
    let (segment, offset, ownFile, ownLength): (UInt64, UInt64, UInt64, UInt64) = (
      reader.take(), reader.take(), reader.take(), reader.take()
    )
    let head = reader.take(count: RecordHeader.size)
    guard let header = unsafe head.withUnsafeBytes({ unsafe RecordHeader($0, salt: salt) }) else { return false }
    sequence = max(sequence, header.sequence)
    if ownFile != .max { fileNumber = max(fileNumber, ownFile) }
    let entry = StoreIndex.Entry(
      header, segment: segment, offset: Int(clamping: offset), ownFile: ownFile == .max ? nil : ownFile,
      ownFileLength: Int(clamping: min(ownLength, RecordHeader.longestOwnFile)), at: reading)
    return unsafe insert(entry, &reader, body, within: sizes[segment, default: 0])
  }

  /// Takes in an entry whose key and tags come next.
  private mutating func insert(
    _ entry: StoreIndex.Entry, _ reader: inout ByteReader, _ body: UnsafeRawBufferPointer, within size: Int
  ) -> Bool {
    guard entry.isCountable else { return false }
    let key = reader.takeRange(count: Int(entry.keyLength))
    let tags = entry.tagsLength > 0 ? RecordTags.read(reader.take(count: Int(entry.tagsLength))) : []
    guard !reader.isPastEnd else { return false }
    guard entry.offset % 8 == 0, entry.offset <= size - entry.recordLength else { return true }
    unsafe index.insert(entry, for: UnsafeRawBufferPointer(rebasing: body[key]), tags: tags)
    return true
  }
}

extension ClockReading {
  /// The times of a record that was made, and ends, at moments of the clock that was read here.
  fileprivate func times(created: Int64, deadline: Int64) -> RecordTimes {
    let (age, isOld) = now.subtractingReportingOverflow(created)
    let (madeAt, isOlder) = wall.subtractingReportingOverflow(age)
    let (lifetime, isLong) = deadline.subtractingReportingOverflow(created)
    return RecordTimes(
      createdWall: isOld || isOlder ? .min : madeAt, createdBoot: created, boot: boot,
      lifetime: deadline == .max ? RecordTimes.forever : isLong ? .min : lifetime)
  }
}
