import CacheCore

/// The index as a file, so that opening need not read the log.
///
/// It names every entry with the head of its record, from the least to the most recently used, and how far it knows each
/// segment. Whatever was appended later is read from the log; whatever was reclaimed later has been copied there. It is
/// written beside the old one and renamed, and a checksum covers all of it: a damaged one is as good as none.
struct Checkpoint {
  private static let magic: UInt64 = 0x5844_495f_4543_4143  // "CAC_IDX"
  /// Since 2 the tags of an entry follow its key; since 3 it tells how far sequence and files were counted.
  ///
  /// All are read. A program that does not know one takes it for damaged and reads the log.
  private static let version: UInt64 = 3

  /// How many bytes of each segment the entries come from.
  var segments: [UInt64: Int]
  /// From the least to the most recently used.
  var entries: [(key: StoreKey, entry: StoreIndex.Entry, tags: Set<String>)]
  /// The highest numbers that a record and a value's own file have had, also those that are gone: none is given twice.
  var sequence: UInt64
  var fileNumber: UInt64

  func bytes(salt: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(Self.version)
    writer.put(salt)
    writer.put(sequence)
    writer.put(fileNumber)
    writer.put(UInt64(segments.count))
    for (number, length) in segments.sorted(by: { $0.key < $1.key }) {
      writer.put(number)
      writer.put(UInt64(length))
    }
    writer.put(UInt64(entries.count))
    var head = [UInt8](repeating: 0, count: RecordHeader.size)
    for (key, entry, tags) in entries {
      writer.put(entry.segment)
      writer.put(UInt64(entry.offset))
      writer.put(entry.ownFile ?? .max)
      writer.put(UInt64(entry.ownFileLength))
      entry.header.write(to: &head, salt: salt)
      writer.bytes += head
      writer.bytes += key.bytes
      // What does not fit was refused when it was stored.
      if !tags.isEmpty, let bytes = try? RecordTags.bytes(tags) { writer.bytes += bytes }
    }
    writer.put(Checksum.of(writer.bytes, seed: salt))
    return writer.bytes
  }

  init(
    segments: [UInt64: Int], entries: [(key: StoreKey, entry: StoreIndex.Entry, tags: Set<String>)], sequence: UInt64,
    fileNumber: UInt64
  ) {
    (self.segments, self.entries, self.sequence, self.fileNumber) = (segments, entries, sequence, fileNumber)
  }

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
  init?(_ bytes: [UInt8], salt: UInt64, at reading: ClockReading) {
    (segments, entries, sequence, fileNumber) = ([:], [], 0, 0)
    let isRead = unsafe bytes.withUnsafeBytes { raw -> Bool in
      guard raw.count >= 48 else { return false }
      guard unsafe Self.isWhole(raw, salt) else { return false }
      var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: raw[..<(raw.count - 8)]))
      let (magic, version) = (reader.take(UInt64.self), reader.take(UInt64.self))
      guard magic == Self.magic, (1...Self.version).contains(version), reader.take(UInt64.self) == salt else {
        return false
      }
      if version >= 3 { (sequence, fileNumber) = (reader.take(), reader.take()) }
      let segmentCount = reader.take(UInt64.self)
      for _ in 0..<segmentCount {
        let number = reader.take(UInt64.self)
        segments[number] = Int(clamping: reader.take(UInt64.self))
        if reader.isPastEnd { return false }
      }
      let count = reader.take(UInt64.self)
      for _ in 0..<count {
        let (segment, offset, ownFile, ownLength): (UInt64, UInt64, UInt64, UInt64) = (
          reader.take(), reader.take(), reader.take(), reader.take()
        )
        let head = reader.take(count: RecordHeader.size)
        guard let header = unsafe head.withUnsafeBytes({ unsafe RecordHeader($0, salt: salt) }) else { return false }
        let key = StoreKey(reader.take(count: Int(header.keyLength)))
        let tags = header.tagsLength > 0 ? RecordTags.read(reader.take(count: Int(header.tagsLength))) : []
        if reader.isPastEnd { return false }
        entries.append(
          (
            key,
            StoreIndex.Entry(
              segment: segment, offset: Int(clamping: offset), header: header, ownFile: ownFile == .max ? nil : ownFile,
              ownFileLength: Int(min(ownLength, 1 << 48)), deadline: header.times.deadline(at: reading),
              created: header.times.created(at: reading)), tags
          ))
      }
      return !reader.isPastEnd
    }
    guard isRead else { return nil }
  }
}
