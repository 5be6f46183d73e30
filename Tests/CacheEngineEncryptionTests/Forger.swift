#if Encryption
import CacheEngine
import Foundation
@testable import CacheDisk

/// Edits the log of a store as somebody does who knows the format well, and has no key: all checksums are right.
struct Forger {
  let name: String
  private(set) var bytes: [UInt8]
  let salt: UInt64

  init(_ folder: EncryptedFolder) throws {
    name = folder.segments[0]
    bytes = try folder.bytes(of: name)
    guard let number = FileName.segment.number(in: name),
      case .valid(let salt) = Segment.readHead(bytes, number: number)
    else { throw CocoaError(.fileReadCorruptFile) }
    self.salt = salt
  }

  var records: [SegmentScan.Found] {
    SegmentScan(Array(bytes[Segment.headSize...]), from: Segment.headSize, salt: salt).records
  }

  func body(_ position: Int) -> [UInt8] {
    let found = records[position]
    return Array(bytes[(found.offset + RecordHeader.size)...].prefix(found.header.bodyLength))
  }

  /// Changes head and body of a record; the body may change its length if the head says so too.
  mutating func edit(_ position: Int, _ change: (inout RecordHeader, inout [UInt8]) -> Void) {
    let found = records[position]
    var (header, body) = (found.header, body(position))
    change(&header, &body)
    var record = [UInt8](repeating: 0, count: RecordHeader.size) + body
    record += [UInt8](repeating: 0, count: header.recordLength - record.count)
    header.prefixChecksum = Checksum.of(Array(body.prefix(header.prefixLength)), seed: salt)
    header.valueChecksum = Checksum.of(Array(body.dropFirst(header.prefixLength)), seed: header.prefixChecksum)
    header.write(to: &record, salt: salt)
    bytes.replaceSubrange(found.offset..<found.offset + found.header.recordLength, with: record)
  }

  /// Changes one bit of the head, and its checksum with it.
  mutating func flip(headOf position: Int, byte: Int, bit: Int) {
    let offset = records[position].offset
    bytes[offset + byte] ^= 1 << bit
    var writer = ByteWriter()
    writer.put(Checksum.of(Array(bytes[offset..<offset + RecordHeader.size - 8]), seed: salt))
    bytes.replaceSubrange(offset + RecordHeader.size - 8..<offset + RecordHeader.size, with: writer.bytes)
  }
}
#endif
