import CacheCore

/// Finds the records in the bytes of a segment.
///
/// Damage is skipped: the scan goes on at the next place where a head with the store's checksum stands. What ends too
/// early is the torn tail of a crash.
struct SegmentScan {
  struct Found {
    var offset: Int
    var header: RecordHeader
    var key: StoreKey
    var tags: Set<String> = []
    /// For a value in a file of its own: that file's number and the value's length.
    var ownFile: (number: UInt64, length: Int)?
  }

  private(set) var records: [Found] = []
  /// How many stretches were not readable.
  private(set) var damaged = 0
  /// The version of a record that this program does not know.
  private(set) var newerVersion: UInt8?
  /// Where the last whole record ends: the place to append at.
  private(set) var end: Int

  /// Scans the bytes of a segment from `start` on.
  init(_ bytes: [UInt8], from start: Int, salt: UInt64) {
    end = start
    unsafe bytes.withUnsafeBytes { raw in
      var position = 0
      var isInDamage = false
      while position + RecordHeader.size <= raw.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[position...])
        guard let header = unsafe RecordHeader(rest, salt: salt), header.recordLength <= rest.count,
          unsafe header.hasIntactPrefix(rest, salt: salt)
        else {
          if !isInDamage { newerVersion = unsafe RecordHeader.newerVersion(rest, salt: salt) ?? newerVersion }
          if !isInDamage { damaged += 1 }
          isInDamage = true
          position += 8
          continue
        }
        isInDamage = false
        let key = unsafe StoreKey(Array(rest[header.keyRange]))
        var found = Found(offset: start + position, header: header, key: key)
        if header.tagsLength > 0 {
          found.tags = unsafe RecordTags.read(UnsafeRawBufferPointer(rebasing: rest[header.tagsRange]))
        }
        if header.flags & RecordHeader.hasOwnFile != 0, header.valueLength >= 16 {
          var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: rest[header.valueRange]))
          let (number, length): (UInt64, UInt64) = (reader.take(), reader.take())
          found.ownFile = (number, Int(clamping: min(length, RecordHeader.longestOwnFile)))
        }
        records.append(found)
        position += header.recordLength
        end = start + position
      }
    }
  }
}
