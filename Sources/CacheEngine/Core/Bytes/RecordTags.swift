/// The tags of an entry as they stand in its record, after key and type: each with its length before it.
///
/// Sorted, so that the same tags make the same bytes.
package enum RecordTags {
  /// What all tags of an entry may take together.
  package static let limit = 64 << 10

  /// - Throws: ``CacheError`` with code ``CacheError/Code/tooLarge`` for more than ``limit``.
  package static func bytes(_ tags: Set<String>) throws -> [UInt8] {
    guard !tags.isEmpty else { return [] }
    var writer = ByteWriter()
    for tag in tags.sorted() {
      let text = CanonicalText.bytes(of: tag)
      writer.put(UInt32(clamping: text.count))
      writer.bytes += text
    }
    guard writer.bytes.count <= limit else {
      throw CacheError(
        .tooLarge, "the tags of an entry take \(writer.bytes.count) bytes; a store keeps \(limit) for each entry")
    }
    return writer.bytes
  }

  package static func read(_ bytes: UnsafeRawBufferPointer) -> Set<String> {
    var reader = unsafe ByteReader(bytes)
    var tags: Set<String> = []
    while reader.remaining > 0 {
      let text = reader.take(count: Int(clamping: reader.take(UInt32.self)))
      if reader.isPastEnd { break }
      tags.insert(String(decoding: text, as: UTF8.self))
    }
    return tags
  }

  package static func read(_ bytes: [UInt8]) -> Set<String> { unsafe bytes.withUnsafeBytes { unsafe read($0) } }
}
