import CacheCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a memory level held, as a file has it: little-endian, and a checksum over all of it at the end.
///
/// | what | bytes |
/// |---|---|
/// | "cachemem", the version | 8 + 4 |
/// | the wall clock as it was written, in nanoseconds since 1970 | 8 |
/// | the names of the codings of keys and of values, each with its length | 2 + n |
/// | the number of records | 8 |
/// | each record: lengths of key, form and bytes; number of tags; cost, age, and time left (the greatest number for all) | 36 |
/// | its key, form and bytes, and each tag with its length | n |
/// | XXH3 of all before | 8 |
///
/// Times are spans and not moments, so that only the wall clock's way from the one process to the other matters.
struct SnapshotFile: Equatable {
  struct Record: Equatable {
    var key: [UInt8]
    var value: NamedBytes
    var tags: [String]
    var cost: Int64
    var age: Int64
    /// `Int64.max` for no end.
    var left: Int64

    /// What it takes in the file at least.
    static let fewestBytes = 36
  }

  private static let magic = UInt64(littleEndianText: "cachemem")
  private static let version: UInt32 = 1

  var written: Int64
  var keyForm: String
  var valueForm: String
  var records: [Record]

  /// The file's bytes; throws if something in it is longer than its place can say, or all of it longer than a limit.
  func bytes(limit: Int) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(Self.version)
    writer.put(written)
    for name in [keyForm, valueForm] { try writer.put(text: name) }
    writer.put(UInt64(records.count))
    for record in records {
      let form = Array(record.value.form.utf8)
      writer.put(try UInt32(fitting: record.key.count))
      writer.put(try UInt16(fitting: form.count))
      writer.put(try UInt32(fitting: record.value.bytes.count))
      writer.put(try UInt16(fitting: record.tags.count))
      writer.put(record.cost)
      writer.put(record.age)
      writer.put(record.left)
      writer.bytes += record.key
      writer.bytes += form
      writer.bytes += record.value.bytes
      for tag in record.tags { try writer.put(text: tag) }
      guard writer.bytes.count <= limit - 8 else {
        throw CacheError(.tooLarge, "the snapshot would be larger than \(limit) bytes")
      }
    }
    writer.put(Checksum.of(writer.bytes, seed: 0))
    return writer.bytes
  }

  /// Reads a file, whatever it is.
  init(_ bytes: [UInt8]) throws {
    self = try unsafe bytes.withUnsafeBytes { bytes throws -> SnapshotFile in
      var reader = unsafe ByteReader(bytes)
      guard reader.take(UInt64.self) == Self.magic else {
        throw CacheError(.unusableStore, "the file is no snapshot of a memory level")
      }
      let version = reader.take(UInt32.self)
      guard version == Self.version || reader.isPastEnd else {
        throw CacheError(.unusableStore, "the snapshot is of version \(version), which this one cannot read")
      }
      guard reader.remaining >= 8 else { throw Self.damaged }
      let body = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
      var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
      let sum = unsafe Checksum.of(body, seed: 0)
      guard end.take(UInt64.self) == sum else { throw Self.damaged }
      let file = try SnapshotFile(reading: &reader)
      guard !reader.isPastEnd, reader.remaining == 8 else { throw Self.damaged }
      return file
    }
  }

  init(written: Int64, keyForm: String, valueForm: String, records: [Record]) {
    self.written = written
    self.keyForm = keyForm
    self.valueForm = valueForm
    self.records = records
  }

  private init(reading reader: inout ByteReader) throws {
    written = reader.take()
    keyForm = try reader.takeText()
    valueForm = try reader.takeText()
    let count = reader.take(UInt64.self)
    // A number that somebody made up asks for no memory.
    guard count <= UInt64(reader.remaining / Record.fewestBytes) else { throw Self.damaged }
    records = []
    for _ in 0..<count {
      let (keyLength, formLength) = (reader.take(UInt32.self), reader.take(UInt16.self))
      let (valueLength, tagCount) = (reader.take(UInt32.self), reader.take(UInt16.self))
      let (cost, age, left) = (reader.take(Int64.self), reader.take(Int64.self), reader.take(Int64.self))
      let key = reader.take(count: Int(clamping: keyLength))
      let form = try reader.takeText(Int(formLength))
      let value = NamedBytes(form: form, bytes: Data(reader.take(count: Int(clamping: valueLength))))
      var tags: [String] = []
      for _ in 0..<tagCount {
        tags.append(try reader.takeText())
        guard !reader.isPastEnd else { throw Self.damaged }
      }
      guard !reader.isPastEnd, cost >= 0, age >= 0 else { throw Self.damaged }
      records.append(Record(key: key, value: value, tags: tags, cost: cost, age: age, left: left))
    }
  }

  static var damaged: CacheError { CacheError(.invalidCachedData, "the snapshot is damaged") }
}

extension UInt64 {
  fileprivate init(littleEndianText text: StaticString) {
    self = "\(text)".utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension FixedWidthInteger {
  fileprivate init(fitting count: Int) throws {
    guard let fitting = Self(exactly: count) else {
      throw CacheError(.tooLarge, "a key, a value, a name or the tags of an entry are too long for a snapshot")
    }
    self = fitting
  }
}

extension ByteWriter {
  fileprivate mutating func put(text: String) throws {
    put(try UInt16(fitting: text.utf8.count))
    bytes += text.utf8
  }
}

extension ByteReader {
  fileprivate mutating func takeText() throws -> String { try takeText(Int(take(UInt16.self))) }

  fileprivate mutating func takeText(_ length: Int) throws -> String {
    guard let text = String(validating: take(count: length), as: UTF8.self) else { throw SnapshotFile.damaged }
    return text
  }
}
