/// The index as a file, so that opening need not read the log.
///
/// It names every entry with the head of its record, from the least to the most recently used, and how far it knows each
/// segment. Whatever was appended later is read from the log; whatever was reclaimed later has been copied there. It is
/// written beside the old one and renamed, and a checksum covers all of it: a damaged one is as good as none.
struct Checkpoint {
  private static let magic: UInt64 = 0x5844_495f_4543_4143  // "CAC_IDX"
  /// Since 2 the tags of an entry follow its key.
  ///
  /// In 1 there were none, so that both are read alike; a program that knows 1 only takes 2 for damaged and reads the log.
  private static let version: UInt64 = 2

  /// How many bytes of each segment the entries come from.
  var segments: [UInt64: Int]
  /// From the least to the most recently used.
  var entries: [(key: StoreKey, entry: StoreIndex.Entry, tags: Set<String>)]

  func bytes(salt: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(Self.version)
    writer.put(salt)
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

  init(segments: [UInt64: Int], entries: [(key: StoreKey, entry: StoreIndex.Entry, tags: Set<String>)]) {
    self.segments = segments
    self.entries = entries
  }

  /// Reads a checkpoint; `nil` if it is damaged, of another version, or of another store.
  init?(_ bytes: [UInt8], salt: UInt64, at reading: ClockReading) {
    segments = [:]
    entries = []
    let isRead = unsafe bytes.withUnsafeBytes { raw -> Bool in
      guard raw.count >= 48 else { return false }
      let body = unsafe UnsafeRawBufferPointer(rebasing: raw[..<(raw.count - 8)])
      let sum = unsafe raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self).littleEndian
      guard unsafe Checksum.of(body, seed: salt) == sum else { return false }
      var reader = unsafe ByteReader(body)
      guard reader.take(UInt64.self) == Self.magic, (1...Self.version).contains(reader.take(UInt64.self)),
        reader.take(UInt64.self) == salt
      else { return false }
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
