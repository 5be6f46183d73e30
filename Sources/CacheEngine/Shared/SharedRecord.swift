import CacheCore

/// An entry as it stands in a shared store.
///
/// Little endian: a head of 88 bytes, the key as the store knows it, the name of the coding, the stamps of the tags, the value.
///
/// | bytes | |
/// |---|---|
/// | 0–3 | `CES1` |
/// | 4, 5 | version, 1 or of a sealed record 2; flags: 1 for a sealed record |
/// | 6–7, 8–11, 12–15, 16–23 | lengths of the coding's name, the key, the tags, the value |
/// | 24–31 | a random number: no two writes make the same head |
/// | 32–39, 40–47 | when it was stored, and its deadline, in nanoseconds since 1970 by the store's clock |
/// | 48–55 | the cost |
/// | 56–71 | the stamp of the namespace |
/// | 72–79, 80–87 | XXH3 over what follows the head, and over the head before it; both begin at the namespace's number |
struct SharedRecord: Equatable, Sendable {
  /// A tag as the store knows it, and the stamp that it had.
  struct Tag: Equatable, Sendable {
    var id: [UInt8]
    var stamp: [UInt8]
  }

  enum Reading: Equatable, Sendable {
    case record(SharedRecord)
    /// Whole, and written by a newer version of this library.
    case newer
    /// Nothing that this library wrote under this namespace, or no more.
    case damaged
  }

  static let headLength = 88
  static let never = Int64.max
  private static let magic: UInt32 = 0x3153_4543  // "CES1"
  private static let version: UInt8 = 1
  /// The version of a sealed record; the seals of version 1 held in every namespace.
  private static let sealedVersion: UInt8 = 2
  private static let sealedFlag: UInt8 = 1

  var isSealed = false
  var number = UInt64.random(in: 0 ... .max)
  var created: Int64
  var deadline: Int64
  var cost: Int64
  var stamp: [UInt8]
  var key: [UInt8]
  /// The name of the coding; empty in a sealed record.
  var type: [UInt8] = []
  var tags: [Tag] = []
  var value: [UInt8] = []

  /// What a cipher binds a sealed value to: its place and its times, so that it is believed nowhere else.
  func binding(in namespace: SharedNamespace) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.sealedVersion)
    writer.put(UInt32(clamping: namespace.prefix.count))
    writer.bytes += namespace.prefix
    writer.put(created)
    writer.put(deadline)
    writer.put(UInt32(clamping: key.count))
    writer.bytes += stamp + key + tagBytes
    return writer.bytes
  }

  private var tagBytes: [UInt8] {
    var writer = ByteWriter()
    for tag in tags {
      writer.put(UInt32(clamping: tag.id.count))
      writer.bytes += tag.id + tag.stamp
    }
    return writer.bytes
  }

  func bytes(seed: UInt64) -> [UInt8] {
    let tags = tagBytes
    let body = key + type + tags + value
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(Self.headLength + body.count)
    writer.put(Self.magic)
    writer.put(isSealed ? Self.sealedVersion : Self.version)
    writer.put(isSealed ? Self.sealedFlag : 0)
    writer.put(UInt16(clamping: type.count))
    writer.put(UInt32(clamping: key.count))
    writer.put(UInt32(clamping: tags.count))
    writer.put(UInt64(value.count))
    writer.put(number)
    writer.put(created)
    writer.put(deadline)
    writer.put(cost)
    writer.bytes += stamp
    writer.put(Checksum.of(body, seed: seed))
    writer.put(Checksum.of(writer.bytes, seed: seed))
    return writer.bytes + body
  }

  static func read(_ bytes: [UInt8], seed: UInt64) -> Reading {
    guard bytes.count >= headLength else { return .damaged }
    return unsafe bytes.withUnsafeBytes { raw -> Reading in
      var reader = unsafe ByteReader(raw)
      guard reader.take(UInt32.self) == magic else { return .damaged }
      let version = reader.take(UInt8.self)
      let sum = unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: raw[0..<headLength - 8]), seed: seed)
      guard unsafe raw.loadUnaligned(fromByteOffset: headLength - 8, as: UInt64.self).littleEndian == sum else {
        return .damaged
      }
      let flags = reader.take(UInt8.self)
      let isSealed = flags & sealedFlag != 0
      guard version <= (isSealed ? sealedVersion : self.version) else { return .newer }
      let (typeLength, keyLength, tagsLength, valueLength) = (
        Int(reader.take(UInt16.self)), Int(clamping: reader.take(UInt32.self)), Int(clamping: reader.take(UInt32.self)),
        reader.take(UInt64.self)
      )
      let (number, created, deadline, cost) = (
        reader.take(UInt64.self), reader.take(Int64.self), reader.take(Int64.self), reader.take(Int64.self)
      )
      let stamp = reader.take(count: SharedToken.length)
      let bodySum = reader.take(UInt64.self)
      _ = reader.take(UInt64.self)
      guard valueLength <= UInt64(bytes.count),
        UInt64(bytes.count - headLength) == UInt64(typeLength) + UInt64(keyLength) + UInt64(tagsLength) + valueLength,
        unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: raw[headLength...]), seed: seed) == bodySum
      else { return .damaged }
      var record = SharedRecord(
        isSealed: isSealed, number: number, created: created, deadline: deadline, cost: cost,
        stamp: stamp, key: reader.take(count: keyLength))
      record.type = reader.take(count: typeLength)
      let tagsEnd = reader.offset + tagsLength
      while reader.offset < tagsEnd, !reader.isPastEnd {
        let id = reader.take(count: Int(clamping: reader.take(UInt32.self)))
        record.tags.append(Tag(id: id, stamp: reader.take(count: SharedToken.length)))
      }
      guard !reader.isPastEnd, reader.offset == tagsEnd else { return .damaged }
      record.value = reader.take(count: reader.remaining)
      return .record(record)
    }
  }
}
