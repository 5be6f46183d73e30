import CacheCore
internal import CStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// When a record was made and how long it may live, by clocks that survive a restart.
struct RecordTimes: Equatable, Sendable {
  /// The lifetime that never ends.
  static let forever = Int64.max

  var createdWall: Int64
  var createdBoot: Int64
  var boot: UInt64
  var lifetime: Int64

  /// The deadline by the clock of this moment; `Int64.max` for never, `Int64.min` for "over, whatever the clock says".
  ///
  /// Within one boot the clock that cannot step decides. After a restart only the time of day is left, and the lifetime of a
  /// record created in its future cannot be trusted.
  func deadline(at reading: ClockReading) -> Int64 {
    guard lifetime != Self.forever else { return .max }
    if boot == reading.boot, boot != 0 {
      guard createdBoot <= reading.now else { return .min }
      return Self.sum(createdBoot, lifetime)
    }
    guard createdWall <= reading.wall else { return .min }
    let (age, overflow) = reading.wall.subtractingReportingOverflow(createdWall)
    guard !overflow, age < lifetime else { return .min }
    return Self.sum(reading.now, lifetime - age)
  }

  /// The moment of creation by the clock of this moment.
  func created(at reading: ClockReading) -> Int64 {
    guard boot != reading.boot || boot == 0 else { return createdBoot }
    let (age, overflow) = reading.wall.subtractingReportingOverflow(createdWall)
    return overflow ? .min : reading.now.subtractingReportingOverflow(age).partialValue
  }

  private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
    let (sum, overflow) = first.addingReportingOverflow(second)
    return overflow ? (second < 0 ? .min : .max) : sum
  }
}

/// Both clocks, read together.
struct ClockReading: Equatable, Sendable {
  var now: Int64
  var wall: Int64
  var boot: UInt64

  init(now: Int64, wall: Int64, boot: UInt64) { (self.now, self.wall, self.boot) = (now, wall, boot) }

  init(_ clock: any CacheClock) {
    now = clock.now.nanoseconds
    wall = clock.timeSinceEpoch.clampedNanoseconds
    boot = clock.bootIdentifier
  }
}

/// How long the parts of a record are, and so where each of them stands.
protocol RecordShape {
  var keyLength: UInt32 { get }
  var typeLength: UInt16 { get }
  var tagsLength: UInt32 { get }
  var valueLength: UInt64 { get }
}

extension RecordShape {
  /// Whether the lengths below are numbers: nobody wrote longer parts, but a damaged or forged file may say so.
  var isCountable: Bool {
    valueLength < 1 << 48 && UInt64(keyLength) + UInt64(tagsLength) + valueLength <= UInt64(Int.max) / 2
  }

  var prefixLength: Int { Int(keyLength) + Int(typeLength) + Int(tagsLength) }
  var bodyLength: Int { prefixLength + Int(valueLength) }
  /// What the record takes in a file: records begin at multiples of eight.
  var recordLength: Int { (RecordHeader.size + bodyLength + 7) & ~7 }
  var keyRange: Range<Int> { RecordHeader.size..<RecordHeader.size + Int(keyLength) }
  var typeRange: Range<Int> { keyRange.upperBound..<keyRange.upperBound + Int(typeLength) }
  var tagsRange: Range<Int> { typeRange.upperBound..<typeRange.upperBound + Int(tagsLength) }
  var valueRange: Range<Int> { RecordHeader.size + prefixLength..<RecordHeader.size + bodyLength }
}

/// What the head of a record says.
///
/// 104 bytes, little endian, each field at a fixed place.
///
/// The head has a checksum of its own, so that its lengths can be trusted before the body is read. It contains the
/// checksums of the body: one over key, type name and tags, and one over the value that continues from the first. All
/// checksums begin at the store's random number: bytes that somebody stored as a value are never taken for a record.
struct RecordHeader: Equatable, Sendable, RecordShape {
  enum Kind: UInt8 { case value = 1, tombstone, cleared, ended }

  static let size = 104
  /// No record is longer: nobody has such keys.
  static let longest = 1 << 30
  /// No value in a file of its own is longer: lengths are added up, and forged ones must not end the program.
  static let longestOwnFile: UInt64 = 1 << 40
  static let magic: UInt32 = 0x3143_4543  // "CEC1"
  static let version: UInt8 = 1
  /// The value stands in a file of its own, and the record holds that file's number and length.
  static let hasOwnFile: UInt16 = 1
  /// The record is that of an encrypted store.
  static let isSealed: UInt16 = 2
  /// Everything before the record in its segment was on the disk when the record was written.
  static let followsSync: UInt16 = 4
  /// The value's own file was on the disk, and its name, when the record was written: if it is not there, it was removed.
  ///
  /// Records of earlier versions do not say so.
  static let followsOwnFile: UInt16 = 8

  var kind: Kind
  var flags: UInt16 = 0
  var sequence: UInt64 = 0
  var keyLength: UInt32
  var typeLength: UInt16
  var tagsLength: UInt32 = 0
  var valueLength: UInt64
  var times: RecordTimes
  var cost: Int64
  var prefixChecksum: UInt64 = 0
  var valueChecksum: UInt64 = 0

  /// Writes the head at the beginning of a record.
  func write(to bytes: inout [UInt8], salt: UInt64) {
    unsafe bytes.withUnsafeMutableBytes { head in
      func put<Number: FixedWidthInteger>(_ number: Number, _ place: Int) {
        unsafe head.storeBytes(of: number.littleEndian, toByteOffset: place, as: Number.self)
      }
      put(Self.magic, 0)
      put(Self.version, 4)
      put(kind.rawValue, 5)
      put(flags, 6)
      put(sequence, 8)
      put(keyLength, 16)
      put(UInt32(typeLength), 20)
      put(UInt64(tagsLength), 24)
      put(valueLength, 32)
      put(times.createdWall, 40)
      put(times.createdBoot, 48)
      put(times.boot, 56)
      put(times.lifetime, 64)
      put(cost, 72)
      put(prefixChecksum, 80)
      put(valueChecksum, 88)
      put(unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: head[..<(Self.size - 8)]), seed: salt), Self.size - 8)
    }
  }

  /// Reads a head; `nil` if these bytes are not one of this store.
  init?(_ bytes: UnsafeRawBufferPointer, salt: UInt64) {
    guard bytes.count >= Self.size else { return nil }
    var reader = unsafe ByteReader(bytes)
    guard reader.take(UInt32.self) == Self.magic else { return nil }
    let sum = unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[0..<Self.size - 8]), seed: salt)
    guard unsafe bytes.loadUnaligned(fromByteOffset: Self.size - 8, as: UInt64.self).littleEndian == sum else {
      return nil
    }
    guard reader.take(UInt8.self) == Self.version, let kind = Kind(rawValue: reader.take()) else { return nil }
    self.kind = kind
    flags = reader.take()
    sequence = reader.take()
    keyLength = reader.take()
    typeLength = reader.take()
    _ = reader.take(UInt16.self)
    tagsLength = reader.take()
    _ = reader.take(UInt32.self)
    valueLength = reader.take()
    times = RecordTimes(
      createdWall: reader.take(), createdBoot: reader.take(), boot: reader.take(), lifetime: reader.take())
    cost = reader.take()
    prefixChecksum = reader.take()
    valueChecksum = reader.take()
    guard isCountable else { return nil }
  }

  /// What an intact head says of its record's times and cost.
  static func terms(in record: [UInt8]) -> (times: RecordTimes, cost: Int64)? {
    guard record.count >= Self.size else { return nil }
    return unsafe record.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes[40...]))
      return (
        RecordTimes(
          createdWall: reader.take(), createdBoot: reader.take(), boot: reader.take(), lifetime: reader.take()),
        reader.take()
      )
    }
  }

  /// The version of a head that is whole and of this store, but newer than this program; `nil` for all others.
  static func newerVersion(_ bytes: UnsafeRawBufferPointer, salt: UInt64) -> UInt8? {
    guard bytes.count >= Self.size, unsafe bytes.loadUnaligned(as: UInt32.self).littleEndian == magic,
      unsafe bytes[4] > version
    else { return nil }
    let sum = unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[0..<Self.size - 8]), seed: salt)
    let written = unsafe bytes.loadUnaligned(fromByteOffset: Self.size - 8, as: UInt64.self).littleEndian
    return unsafe written == sum ? bytes[4] : nil
  }

  init(kind: Kind, keyLength: Int, typeLength: Int, valueLength: Int, times: RecordTimes, cost: Int) {
    self.kind = kind
    self.keyLength = UInt32(keyLength)
    self.typeLength = UInt16(typeLength)
    self.valueLength = UInt64(valueLength)
    self.times = times
    self.cost = Int64(cost)
  }

  /// Whether key, type name and tags are as they were written.
  ///
  /// `bytes` begins with the head.
  func hasIntactPrefix(_ bytes: UnsafeRawBufferPointer, salt: UInt64) -> Bool {
    guard bytes.count >= Self.size + prefixLength else { return false }
    let prefix = unsafe UnsafeRawBufferPointer(rebasing: bytes[Self.size..<Self.size + prefixLength])
    return unsafe Checksum.of(prefix, seed: salt) == prefixChecksum
  }

  /// Whether the value is as it was written.
  ///
  /// `bytes` begins with the head.
  func hasIntactValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= valueRange.upperBound else { return false }
    return unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[valueRange]), seed: prefixChecksum)
      == valueChecksum
  }
}

/// A record on its way to the disk.
///
/// Everything but its sequence number is settled where the caller runs.
struct PreparedRecord: Sendable {
  var header: RecordHeader
  var bytes: [UInt8]
  let key: StoreKey
  /// In an encrypted store: the key that `key` stands for.
  var realKey: StoreKey?
  /// When it was made, for a new one.
  var reading: ClockReading?
  /// The head is complete.
  private(set) var isComplete = false

  init(
    _ kind: RecordHeader.Kind, key: StoreKey, type: [UInt8] = [], tags: [UInt8] = [], times: RecordTimes, cost: Int = 0,
    value: UnsafeRawBufferPointer, salt: UInt64
  ) {
    var header = RecordHeader(
      kind: kind, keyLength: key.bytes.count, typeLength: type.count, valueLength: value.count, times: times, cost: cost
    )
    header.tagsLength = UInt32(tags.count)
    // Cleared and written over: memory that is not cleared comes by a way that is not specialised, and costs more than that.
    bytes = [UInt8](repeating: 0, count: header.recordLength)
    unsafe bytes.withUnsafeMutableBytes { all in
      func copy(_ bytes: [UInt8], _ place: Range<Int>) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: all[place]).copyBytes(from: bytes)
      }
      copy(key.bytes, header.keyRange)
      copy(type, header.typeRange)
      copy(tags, header.tagsRange)
      let prefix = unsafe UnsafeRawBufferPointer(rebasing: all[RecordHeader.size..<header.valueRange.lowerBound])
      header.prefixChecksum = unsafe Checksum.of(prefix, seed: salt)
      unsafe UnsafeMutableRawBufferPointer(rebasing: all[header.valueRange]).copyMemory(from: value)
    }
    header.valueChecksum = unsafe Checksum.of(value, seed: header.prefixChecksum)
    self.header = header
    self.key = key
  }

  /// A record without a value.
  init(marker kind: RecordHeader.Kind, key: StoreKey, times: RecordTimes, salt: UInt64) {
    unsafe self.init(kind, key: key, times: times, value: UnsafeRawBufferPointer(start: nil, count: 0), salt: salt)
  }

  /// Gives the record its place in the order of writes and completes its head.
  mutating func seal(sequence: UInt64, flags: UInt16, salt: UInt64) {
    header.sequence = sequence
    header.flags = flags
    header.write(to: &bytes, salt: salt)
    isComplete = true
  }
}

extension PreparedRecord {
  /// A record as it stood elsewhere in the log; it gets a new place in the order of writes when that is decided.
  init(copying header: RecordHeader, key: StoreKey, bytes: [UInt8]) {
    self.header = header
    self.bytes = bytes
    self.key = key
  }
}

extension PreparedRecord {
  var tags: Set<String> { header.tagsLength == 0 ? [] : RecordTags.read(Array(bytes[header.tagsRange])) }
}
