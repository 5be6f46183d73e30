public import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What hides keys, tags and values from whoever can read a shared store.
///
/// All processes on a namespace need the same secret, and ciphers that open each other's records.
public struct SharedEncryption: Sendable {
  let cipher: any StoreCipher
  let secret: [UInt8]

  /// Creates an encryption.
  ///
  /// - Parameters:
  ///   - cipher: Seals values, with their keys and tags.
  ///   - secret: The secret from which names of keys and tags are made. At least 32 random bytes, kept as the cipher's key is:
  ///     whoever has them can test guesses at keys.
  public init(_ cipher: any StoreCipher, secret: [UInt8]) {
    precondition(secret.count >= 32, "a secret has at least 32 bytes")
    self.cipher = cipher
    self.secret = secret
  }
}

extension SharedEncryption: CustomReflectable {
  /// What is printed and what `dump` shows: the cipher, and never the secret.
  public var customMirror: Mirror { Mirror(self, children: ["cipher": cipher], displayStyle: .struct) }
}

/// How the entries of a shared level become records, and records become entries.
struct SharedCodec<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What all of an entry is but its stamps.
  struct Content: Sendable {
    var id: [UInt8]
    var key: [UInt8]
    var packed: NamedBytes
    var tags: Set<String>
    var created: Int64
    var deadline: Int64
  }

  /// A record that is one of this level's, its value not decoded yet.
  struct Opened: Sendable {
    var record: SharedRecord
    var packed: NamedBytes
    var tags: Set<String>
  }

  let namespace: SharedNamespace
  let keyCoding: ByteCoding<Key>
  let valueCoding: ByteCoding<Value>
  let encryption: SharedEncryption?

  /// What a key is called in the store: with encryption, in each namespace by another name.
  func id(of key: [UInt8]) -> [UInt8] {
    guard let encryption else { return key }
    return encryption.cipher.name([0x6b] + namespace.prefix + key, secret: encryption.secret)
  }

  /// What a tag is called in the store.
  func id(ofTag tag: String) -> [UInt8] {
    let text = CanonicalText.bytes(of: tag)
    guard let encryption else { return text }
    return encryption.cipher.name([0x74] + namespace.prefix + text, secret: encryption.secret)
  }

  /// - Throws: `CacheError` with code `CacheError.Code.encryptionFailed` or `CacheError.Code.tooLarge`.
  func bytes(of content: Content, stamp: [UInt8], tagStamps: [[UInt8]: [UInt8]]) throws -> [UInt8] {
    var record = SharedRecord(
      created: content.created, deadline: content.deadline, cost: Int64(content.packed.bytes.count),
      stamp: SharedToken.carried(stamp), key: content.id)
    record.tags = content.tags.sorted().map { tag in
      let id = id(ofTag: tag)
      return SharedRecord.Tag(id: id, stamp: SharedToken.carried(tagStamps[id] ?? SharedToken.random()))
    }
    let type = Array(content.packed.form.utf8)
    guard let encryption else {
      record.type = type
      record.value = Array(content.packed.bytes)
      return record.bytes(seed: namespace.seed)
    }
    var plain = ByteWriter()
    let tags = try RecordTags.bytes(content.tags)
    plain.put(UInt32(clamping: content.key.count))
    plain.put(UInt32(clamping: type.count))
    plain.put(UInt32(clamping: tags.count))
    plain.bytes += content.key + type + tags + content.packed.bytes
    record.isSealed = true
    do { record.value = try encryption.cipher.seal(plain.bytes, binding: record.binding(in: namespace)) } catch {
      throw CacheError(.encryptionFailed, "the cipher could not seal; nothing was written", underlying: error)
    }
    return record.bytes(seed: namespace.seed)
  }

  /// Opens what stands in the store under a key.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.wrongKey` for a sealed record where there is no cipher.
  func open(_ bytes: [UInt8], id: [UInt8], key: [UInt8]) throws -> Result<Opened, SharedMiss> {
    let record: SharedRecord
    switch SharedRecord.read(bytes, seed: namespace.seed) {
    case .newer: return .failure(.init(.newer))
    case .damaged: return .failure(.init(.damaged))
    case .record(let read): record = read
    }
    guard record.key == id else { return .failure(.init(.damaged)) }
    guard let encryption else {
      guard !record.isSealed else {
        throw CacheError(
          .wrongKey,
          "the records of this namespace are encrypted; give the level the encryption that they were made with")
      }
      let packed = NamedBytes(form: String(decoding: record.type, as: UTF8.self), bytes: Data(record.value))
      let tags = record.tags.map { String(decoding: $0.id, as: UTF8.self) }
      return .success(Opened(record: record, packed: packed, tags: Set(tags)))
    }
    // Whoever can write to the store could have put it there.
    guard record.isSealed, let name = encryption.cipher.key(of: record.value),
      encryption.cipher.openingKeys.contains(name),
      let plain = try? encryption.cipher.open(record.value, binding: record.binding(in: namespace))  // else a miss
    else { return .failure(.init(.authenticationFailed)) }
    return unsafe plain.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      let lengths = (
        Int(clamping: reader.take(UInt32.self)), Int(clamping: reader.take(UInt32.self)),
        Int(clamping: reader.take(UInt32.self))
      )
      let (sealedKey, type) = (reader.take(count: lengths.0), reader.take(count: lengths.1))
      let tags = RecordTags.read(reader.take(count: lengths.2))
      guard !reader.isPastEnd, sealedKey == key else { return .failure(.init(.authenticationFailed)) }
      let packed = NamedBytes(
        form: String(decoding: type, as: UTF8.self), bytes: Data(reader.take(count: reader.remaining)))
      return .success(Opened(record: record, packed: packed, tags: tags))
    }
  }
}

/// Why bytes in a shared store are no entry.
struct SharedMiss: Error {
  let reason: MissReason

  init(_ reason: MissReason) { self.reason = reason }
}
