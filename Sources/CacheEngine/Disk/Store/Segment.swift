import CacheCore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file of the log.
///
/// Records are appended to the newest one only; the oldest one is reclaimed as a whole. One that is only read may be closed for a
/// while, and is opened again when it is asked for.
///
/// Its head: magic, version, the store's random number, the segment's number, a checksum. 40 bytes.
final class Segment: Sendable {
  static let headSize = 40
  private static let magic: UInt64 = 0x474f_4c5f_4543_4143  // "CACE_LOG"
  private static let version: UInt64 = 1

  let number: UInt64
  /// How long the file was when it was opened first.
  let size: Int
  private let directory: StoreDirectory
  private let files: SegmentFiles
  private let held: Mutex<Held>

  private struct Held: Sendable {
    var file: StoreFile?
    /// Somebody has asked for it since it was last to be closed.
    var isWanted = true
  }

  init(number: UInt64, file: StoreFile, in directory: StoreDirectory, among files: SegmentFiles) {
    (self.number, self.directory, self.files) = (number, directory, files)
    size = file.size
    held = Mutex(Held(file: file))
    files.count.add(1, ordering: .relaxed)
  }

  deinit { if held.withLock({ $0.file != nil }) { files.count.subtract(1, ordering: .relaxed) } }

  /// Opens the file if it is closed.
  ///
  /// - Throws: ``SystemFailure``.
  func file() throws -> StoreFile {
    try held.withLock { held in
      held.isWanted = true
      if let file = held.file { return file }
      return take(try directory.open(name, forWriting: false), &held)
    }
  }

  /// The file if no disk has to be asked for it; `nil` otherwise.
  var fileNow: StoreFile? {
    held.withLock { held in
      held.isWanted = true
      if let file = held.file { return file }
      return directory.openNow(name).map { take($0, &held) }
    }
  }

  private func take(_ file: StoreFile, _ held: inout Held) -> StoreFile {
    held.file = file
    files.count.add(1, ordering: .relaxed)
    return file
  }

  /// Closes the file, or notes that it is to be closed the next time if somebody has asked for it since the last.
  ///
  /// - Returns: Whether it was closed.
  func close(evenIfWanted: Bool) -> Bool {
    let closed = held.withLock { held -> StoreFile? in
      guard evenIfWanted || !held.isWanted else {
        held.isWanted = false
        return nil
      }
      return held.file.take()
    }
    // Whoever reads it at this moment holds it, too.
    guard closed != nil else { return false }
    files.count.subtract(1, ordering: .relaxed)
    return true
  }

  /// Reads so many bytes; fewer at the end of the file, and none where there is no file any more.
  func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    let file: StoreFile
    do { file = try self.file() } catch let failure as SystemFailure
      where failure.number == ENOENT || OpenedStore.notOurs.contains(failure.number)
    { return [] }
    return try file.read(count, at: offset)
  }

  /// How many names the file has; 0 where there is no file any more.
  func nameCount() throws -> Int {
    do { return try file().nameCount() } catch let failure as SystemFailure where failure.number == ENOENT { return 0 }
  }

  /// What the file takes on the disk; 0 if that cannot be told.
  var allocatedBytes: Int { held.withLock(\.file)?.allocatedBytes ?? directory.allocatedBytes(of: name) }

  /// Nothing longer is written, except for a single record that does not fit.
  static let longest = 8 << 20

  /// How much of a file of this length can be records; the rest was not written by a store.
  func extent(of size: Int, salt: UInt64) throws -> Int {
    guard size > Self.longest else { return size }
    let head = try read(RecordHeader.size, at: Self.headSize)
    let first = unsafe head.withUnsafeBytes { unsafe RecordHeader($0, salt: salt)?.recordLength } ?? 0
    return min(size, max(Self.longest, Self.headSize + (first <= RecordHeader.longest ? first : 0)))
  }

  // MARK: Which segment has records

  static let begunSize = 16

  /// What the lock says of the newest segment that got a record: that one cannot be empty, and not be missing.
  static func begun(_ number: UInt64, salt: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(number)
    writer.put(Checksum.of(writer.bytes, seed: salt))
    return writer.bytes
  }

  /// The number; `nil` if none is there.
  static func begun(in bytes: [UInt8], salt: UInt64) -> UInt64? {
    guard bytes.count >= begunSize else { return nil }
    let number = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self).littleEndian }
    return begun(number, salt: salt) == Array(bytes.prefix(begunSize)) ? number : nil
  }

  var name: String { Self.name(number) }

  static func name(_ number: UInt64) -> String { FileName.segment.name(number) }

  /// The head of a new segment.
  static func head(number: UInt64, salt: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(magic)
    writer.put(version)
    writer.put(salt)
    writer.put(number)
    writer.put(Checksum.of(writer.bytes, seed: 0))
    return writer.bytes
  }

  /// What the head of a segment says.
  enum Head: Equatable {
    case valid(salt: UInt64)
    /// Written by a version that this one does not know.
    case unknownVersion(UInt64)
    case damaged
  }

  static func readHead(_ bytes: [UInt8], number: UInt64) -> Head {
    unsafe bytes.withUnsafeBytes { raw in
      guard raw.count >= headSize else { return .damaged }
      let sum = unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: raw[..<(headSize - 8)]), seed: 0)
      var reader = unsafe ByteReader(raw)
      guard reader.take(UInt64.self) == magic else { return .damaged }
      let (version, salt, found, checksum): (UInt64, UInt64, UInt64, UInt64) = (
        reader.take(), reader.take(), reader.take(), reader.take()
      )
      guard checksum == sum else { return .damaged }
      guard version == Self.version else { return .unknownVersion(version) }
      return found == number ? .valid(salt: salt) : .damaged
    }
  }
}

/// The names of the files of a store.
///
/// Nothing of another name is ever touched.
enum FileName: String, CaseIterable {
  case segment = "log-"
  case value = "val-"
  case temporary = "tmp-"

  static let lock = "lock"
  static let checkpoint = "index"
  /// Where those who share the directory find its owner.
  static let socket = "socket"

  /// Whether a store makes files of this name.
  static func isOurs(_ name: String) -> Bool {
    name == lock || name == checkpoint || allCases.contains { $0.number(in: name) != nil }
  }

  func name(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return rawValue + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The number in a name of this kind.
  func number(in name: String) -> UInt64? {
    guard name.utf8.count == 20, name.hasPrefix(rawValue) else { return nil }
    let digits = name.dropFirst(4)
    guard digits.allSatisfy({ $0.isHexDigit && !$0.isUppercase }) else { return nil }
    // None of ours is so high, and the next number is this one and one more.
    return UInt64(digits, radix: 16).flatMap { $0 < 1 << 63 ? $0 : nil }
  }
}
