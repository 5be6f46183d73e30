import CacheCore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The secrets of an encrypted store, and how a record is sealed with them.
///
/// The file `keys` in the directory, and its copy `keys-copy`, hold, sealed, a random secret and the identifiers of all keys
/// that records may be sealed with. Whoever opens the file has a right key, and no other key touches anything. A checksum
/// tells a file that was changed from a key that is not the right one. The secret names keys and tags,
/// so that names outlive a change of key and tell nothing about another directory; and it is part of every binding, so
/// that no record of another directory is ever taken for one of this.
final class StoreSealing: Sendable {
  static let fileName = "keys"
  static let copyName = "keys-copy"
  static let fileNames = [fileName, copyName]
  /// No file of secrets is longer.
  private static let longest = 1 << 20
  static let secretLength = 32
  private static let magic: UInt64 = 0x5359_454b_5f45_4143  // "CAE_KEYS"
  /// Since 2 a checksum ends the file, and there is a copy of it; what writes makes that of 1.
  private static let version: UInt64 = 2
  /// What is bound beside the secret changes with the format of records.
  private static let recordVersion: UInt8 = 1

  let cipher: any StoreCipher
  private let secret: [UInt8]
  /// What records in the directory may be sealed with.
  private let keys: Mutex<Set<String>>
  /// The file of the secrets as it was opened; `nil` if there was none.
  private let opened: [UInt8]?

  private init(_ cipher: any StoreCipher, secret: [UInt8], keys: Set<String>, opened: [UInt8]? = nil) {
    self.cipher = cipher
    self.secret = secret
    self.keys = Mutex(keys)
    self.opened = opened
  }

  /// What the file of the secrets and its copy take on the disk.
  var allocatedBytes: Int { 2 * StoreIndex.blocks(1) }

  // MARK: The file

  /// Finds out whether a directory is encrypted and whether the cipher is the right one, before anything else is read.
  ///
  /// - Returns: `nil` for a store that is not encrypted.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/wrongKey`` or ``CacheError/Code/notEncrypted``; nothing has
  ///   been changed then. ``SystemFailure``.
  static func open(_ directory: StoreDirectory, cipher: (any StoreCipher)?, access: StoreAccess) throws
    -> StoreSealing?
  {
    let names = try directory.names()
    let isEncrypted = fileNames.contains { names.contains($0) }
    guard let cipher else {
      if isEncrypted { throw needsCipher(directory) }
      return nil
    }
    guard isEncrypted else {
      guard !names.contains(where: { FileName.segment.number(in: $0) != nil }) else {
        throw CacheError(
          .notEncrypted,
          "the store in \(directory.path) is not encrypted, or its file \"keys\" was removed; nothing was changed: open it without a cipher, or give the encrypted store another directory"
        )
      }
      let secret = (0..<secretLength).map { _ in UInt8.random(in: 0 ... .max) }
      let sealing = StoreSealing(cipher, secret: secret, keys: [cipher.sealingKey])
      if access == .readWrite { try sealing.write(to: directory) }
      return sealing
    }
    let files = try fileNames.map { try read($0, directory) }
    guard let bytes = best(of: files) else { throw isDamaged(directory) }
    let sealing = try StoreSealing(reading: bytes, cipher, directory)
    try sealing.check(directory, access, isCurrent: isWhole(bytes) && files.allSatisfy { $0 == bytes })
    return sealing
  }

  private static func best(of files: [[UInt8]?]) -> [UInt8]? {
    files.first { $0.map(isWhole) ?? false } ?? files[0]
  }

  /// For who only looks: whether the file is the one that was opened, and names all keys that records may be sealed with.
  func isCurrent(in directory: StoreDirectory) throws -> Bool {
    Self.best(of: try Self.fileNames.map { try Self.read($0, directory) }) == opened
  }

  /// The bytes of a file of secrets; `nil` if there is none that can be one.
  private static func read(_ name: String, _ directory: StoreDirectory) throws -> [UInt8]? {
    do {
      let file = try directory.open(name, forWriting: false)
      return file.size <= longest ? try file.read(file.size, at: 0) : nil
    } catch let failure as SystemFailure
      where [ENOENT, EIO].contains(failure.number) || OpenedStore.notOurs.contains(failure.number)
    {
      return nil
    }
  }

  /// Whether a file is as it was written; one of version 1 cannot tell.
  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 24 else { return false }
    let sum = unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self).littleEndian
    }
    return Checksum.of(Array(bytes.dropLast(8)), seed: magic) == sum
  }

  private static func isDamaged(_ directory: StoreDirectory) -> CacheError {
    CacheError(
      .unusableStore,
      "the files \"keys\" and \"keys-copy\" in \(directory.path) are damaged, whatever the key is; nothing was changed: restore one of them, or remove the directory to start afresh"
    )
  }

  static func needsCipher(_ directory: StoreDirectory) -> CacheError {
    CacheError(
      .wrongKey, "the store in \(directory.path) is encrypted; open it with the cipher that it was made with")
  }

  private convenience init(reading bytes: [UInt8], _ cipher: any StoreCipher, _ directory: StoreDirectory) throws {
    let (magic, version, rest) = unsafe bytes.withUnsafeBytes { raw -> (UInt64, UInt64, [UInt8]) in
      var reader = unsafe ByteReader(raw)
      return (reader.take(), reader.take(), reader.take(count: reader.remaining))
    }
    guard magic == Self.magic else { throw Self.isDamaged(directory) }
    let isWhole = Self.isWhole(bytes)
    guard version <= Self.version || !isWhole else {
      throw CacheError(
        .unusableStore,
        "the encryption in \(directory.path) has version \(version), which this program does not know; it was left untouched"
      )
    }
    guard isWhole || version == 1 else { throw Self.isDamaged(directory) }
    let sealed = isWhole ? Array(rest.dropLast(8)) : rest
    guard let key = cipher.key(of: sealed) else {
      throw CacheError(
        .wrongKey,
        "the file \"keys\" in \(directory.path) is \(isWhole ? "" : "damaged or ")of another cipher; nothing was changed"
      )
    }
    guard cipher.openingKeys.contains(key) else { throw Self.isMissing([key], directory) }
    let plain: [UInt8]
    do { plain = try cipher.open(sealed, binding: Array(bytes.prefix(16))) } catch {
      let reason = isWhole ? "the key is not the right one" : "the key is not the right one, or the file was changed"
      throw CacheError(
        .wrongKey,
        "the key \(key) does not open the file \"keys\" in \(directory.path): \(reason); nothing was touched",
        underlying: error)
    }
    let keys = RecordTags.read(Array(plain.dropFirst(Self.secretLength)))
    self.init(cipher, secret: Array(plain.prefix(Self.secretLength)), keys: keys, opened: bytes)
  }

  private static func isMissing(_ keys: Set<String>, _ directory: StoreDirectory) -> CacheError {
    CacheError(
      .wrongKey,
      "the store in \(directory.path) has entries sealed with the key \(keys.sorted().joined(separator: ", ")), which was not given; nothing was changed: give it as an older key too"
    )
  }

  /// Sees to it that every entry can be opened, and notes a new key before the first record is sealed with it.
  ///
  /// `isCurrent`: The file and its copy are whole, and of this version.
  private func check(_ directory: StoreDirectory, _ access: StoreAccess, isCurrent: Bool) throws {
    let known = keys.withLock { $0 }
    let missing = known.subtracting(cipher.openingKeys)
    guard missing.isEmpty else { throw Self.isMissing(missing, directory) }
    let key = cipher.sealingKey
    guard access == .readWrite, !known.contains(key) || !isCurrent else { return }
    keys.withLock { _ = $0.insert(key) }
    try write(to: directory)
  }

  /// Writes the file and then its copy, each whole or not at all, and waits for the disk.
  func write(to directory: StoreDirectory) throws {
    var head = ByteWriter()
    head.put(Self.magic)
    head.put(Self.version)
    let plain = secret + (try RecordTags.bytes(keys.withLock { $0 }))
    var file = ByteWriter(bytes: head.bytes + (try seal(plain, binding: head.bytes)))
    file.put(Checksum.of(file.bytes, seed: Self.magic))
    for name in Self.fileNames { try Self.write(file.bytes, name, directory) }
  }

  private static func write(_ bytes: [UInt8], _ name: String, _ directory: StoreDirectory) throws {
    let temporary = FileName.temporary.name(1 << 61)
    do {
      let file = try directory.makeAnew(temporary)
      try file.write(bytes, at: 0)
      try file.sync()
      try directory.rename(temporary, to: name)
    } catch {
      try? directory.remove(temporary)
      throw error
    }
    try directory.sync()
  }

  /// Notes that no record is sealed with an older key any more.
  func forgetOlderKeys(in directory: StoreDirectory) throws {
    let key = cipher.sealingKey
    let before = keys.withLock { keys in
      defer { keys = [key] }
      return keys
    }
    do { try write(to: directory) } catch {
      keys.withLock { $0 = before }
      throw error
    }
  }

  // MARK: Names

  /// What a key is called in the store.
  func name(of key: StoreKey) -> StoreKey { StoreKey(cipher.name([0x6b] + key.bytes, secret: secret)) }

  /// What a tag is called in the store.
  func name(ofTag tag: String) -> String {
    let digits = Array("0123456789abcdef")
    return String(
      cipher.name([0x74] + CanonicalText.bytes(of: tag), secret: secret).flatMap {
        [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
      })
  }

  // MARK: Records

  /// What is sealed beside the value: small, and enough to list entries without reading their values.
  struct Label: Equatable, Sendable {
    var key: StoreKey
    var type: [UInt8]
    var tags: Set<String>
  }

  /// What a record is bound to: sealed bytes open in its place only.
  struct Binding: Sendable {
    /// The name of the key.
    var key: StoreKey
    var times: RecordTimes
    var cost: Int64
    /// The names of the tags, as they stand in the record.
    var tags: [UInt8]
  }

  /// Seals a value with its label; the value opens beside this label only.
  func seal(_ label: Label, value: [UInt8], for binding: Binding) throws -> (label: [UInt8], value: [UInt8]) {
    var writer = ByteWriter()
    writer.put(UInt32(clamping: label.key.bytes.count))
    writer.bytes += label.key.bytes
    writer.put(UInt16(clamping: label.type.count))
    writer.bytes += label.type
    writer.bytes += try RecordTags.bytes(label.tags)
    let bound = bytes(of: binding)
    let sealed = try seal(writer.bytes, binding: bound + [1])
    return (sealed, try seal(value, binding: bound + [2] + sealed))
  }

  /// Opens a label; `nil` if it was not sealed so.
  func openLabel(_ sealed: [UInt8], for binding: Binding) -> Label? {
    guard let plain = open(sealed, binding: bytes(of: binding) + [1]) else { return nil }
    return unsafe plain.withUnsafeBytes { raw -> Label? in
      var reader = unsafe ByteReader(raw)
      let key = StoreKey(reader.take(count: Int(clamping: reader.take(UInt32.self))))
      let type = reader.take(count: Int(reader.take(UInt16.self)))
      let tags = RecordTags.read(reader.take(count: reader.remaining))
      return reader.isPastEnd ? nil : Label(key: key, type: type, tags: tags)
    }
  }

  /// Opens a value; `nil` if it was not sealed so, or beside another label.
  func openValue(_ sealed: [UInt8], label: [UInt8], for binding: Binding) -> [UInt8]? {
    open(sealed, binding: bytes(of: binding) + [2] + label)
  }

  /// Whether something is sealed with the key that seals now.
  func isCurrent(_ sealed: [UInt8]) -> Bool { cipher.key(of: sealed) == cipher.sealingKey }

  private func bytes(of binding: Binding) -> [UInt8] {
    var writer = ByteWriter(bytes: secret)
    writer.put(Self.recordVersion)
    writer.put(UInt32(clamping: binding.key.bytes.count))
    writer.bytes += binding.key.bytes
    writer.put(binding.times.createdWall)
    writer.put(binding.times.createdBoot)
    writer.put(binding.times.boot)
    writer.put(binding.times.lifetime)
    writer.put(binding.cost)
    writer.put(UInt32(clamping: binding.tags.count))
    writer.bytes += binding.tags
    return writer.bytes
  }

  private func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    do { return try cipher.seal(bytes, binding: binding) } catch {
      throw CacheError(.encryptionFailed, "the cipher could not seal; nothing was written", underlying: error)
    }
  }

  private func open(_ sealed: [UInt8], binding: [UInt8]) -> [UInt8]? {
    guard let key = cipher.key(of: sealed), keys.withLock({ $0.contains(key) }) else { return nil }
    return try? cipher.open(sealed, binding: binding)
  }
}
