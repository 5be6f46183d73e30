#if Encryption
public import CacheEngine
public import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encrypts a disk level with AES-256-GCM.
///
/// ```swift
/// let encryption = try StoreEncryption(key: key)
/// let disk = try DiskCacheLevel<String, Data>(directory: path, cipher: encryption)
/// ```
///
/// Every call of ``seal(_:binding:)`` derives a key of its own by HKDF-SHA256 from 32 fresh random bytes, so that no
/// nonce ever repeats under a key and no number of writes is too large. Names of keys and tags are HMAC-SHA256. A change of
/// key is made by a cipher that also opens with the older ones: see <doc:Encryption>.
public struct StoreEncryption: StoreCipher {
  /// A key and what is derived from it once.
  private struct Ring: Sendable {
    let identifier: [UInt8]
    /// What the key of each call is derived from.
    let root: SymmetricKey
  }

  private static let version: UInt8 = 1
  private static let saltLength = 32
  private static let identifierLength = 8
  private static let headLength = 1 + identifierLength + saltLength
  private static let tagLength = 16

  /// What sealing adds to the length of what is sealed, in bytes.
  static let overhead = headLength + tagLength

  /// The identifier of the key that seals: 16 hexadecimal digits that tell nothing of the key.
  public let sealingKey: String
  /// The identifiers of all keys that can open.
  public let openingKeys: Set<String>

  private let sealing: Ring
  private let rings: [[UInt8]: Ring]

  /// Creates a cipher.
  ///
  /// - Parameters:
  ///   - key: The key that seals: 256 bits, random. A password is not a key; derive one from it with a function made for that.
  ///   - olderKeys: Keys that open what was sealed before.
  ///   - namespace: What the keys are used for. The same key in another namespace is another key.
  /// - Throws: `CacheError` with code `CacheError.Code.encryptionFailed` for a key that has not 256 bits.
  public init(key: SymmetricKey, alsoOpening olderKeys: [SymmetricKey] = [], namespace: String = "") throws {
    let all = try ([key] + olderKeys).map { try Self.ring(of: $0, namespace) }
    sealing = all[0]
    rings = Dictionary(all.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    sealingKey = Self.text(all[0].identifier)
    openingKeys = Set(all.map { Self.text($0.identifier) })
  }

  private static func ring(of key: SymmetricKey, _ namespace: String) throws -> Ring {
    guard key.bitCount == 256 else {
      throw CacheError(.encryptionFailed, "a key for a store has 256 bits, and this one has \(key.bitCount)")
    }
    let root = HKDF<SHA256>.extract(
      inputKeyMaterial: key, salt: Array("CacheEngine StoreEncryption 1\0".utf8) + Array(namespace.utf8))
    let identifier = HKDF<SHA256>.expand(
      pseudoRandomKey: root, info: Array("identifier".utf8), outputByteCount: identifierLength)
    return Ring(identifier: unsafe identifier.withUnsafeBytes { unsafe Array($0) }, root: SymmetricKey(data: root))
  }

  private static func text(_ identifier: [UInt8]) -> String {
    identifier.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  // MARK: Sealing

  /// Encrypts bytes and authenticates them together with what they belong to.
  ///
  /// - Parameters:
  ///   - bytes: What to encrypt.
  ///   - binding: What is authenticated and not encrypted.
  /// - Returns: Version, identifier of the key, the random bytes, the encrypted bytes and the authentication tag.
  /// - Throws: `CryptoKitError` if it cannot be done.
  public func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    // 256 random bits from the system's generator for random numbers.
    let salt = unsafe SymmetricKey(size: .bits256).withUnsafeBytes { unsafe Array($0) }
    return try seal(bytes, binding: binding, salt: salt)
  }

  func seal(_ bytes: [UInt8], binding: [UInt8], salt: [UInt8]) throws -> [UInt8] {
    let head = [Self.version] + sealing.identifier + salt
    let box = try AES.GCM.seal(
      bytes, using: Self.key(sealing, salt), nonce: AES.GCM.Nonce(data: Self.nonce), authenticating: head + binding)
    return head + box.ciphertext + box.tag
  }

  /// Decrypts bytes that were sealed with this binding and one of the keys.
  ///
  /// - Parameters:
  ///   - sealed: The sealed bytes.
  ///   - binding: What they were sealed with.
  /// - Returns: The bytes that were sealed.
  /// - Throws: `CryptoKitError` if they were not sealed so, or changed since.
  public func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    guard let ring = ring(of: sealed) else { throw CryptoKitError.authenticationFailure }
    let head = Array(sealed[..<Self.headLength])
    let end = sealed.count - Self.tagLength
    let box = try AES.GCM.SealedBox(
      nonce: AES.GCM.Nonce(data: Self.nonce), ciphertext: sealed[Self.headLength..<end], tag: sealed[end...])
    let key = Self.key(ring, Array(head.suffix(Self.saltLength)))
    return Array(try AES.GCM.open(box, using: key, authenticating: head + binding))
  }

  /// Says which key sealed something, without opening it.
  ///
  /// - Parameter sealed: The sealed bytes.
  /// - Returns: The identifier of the key, whether it is one of ``openingKeys`` or not; `nil` for bytes of another form.
  public func key(of sealed: [UInt8]) -> String? {
    guard sealed.count >= Self.overhead, sealed[0] == Self.version else { return nil }
    return Self.text(Array(sealed[1...Self.identifierLength]))
  }

  /// Makes a name by HMAC-SHA256.
  ///
  /// - Parameters:
  ///   - bytes: What to name.
  ///   - secret: The secret of the directory.
  /// - Returns: 32 bytes.
  public func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret)))
  }

  /// No key seals twice, so that one nonce serves for all.
  private static let nonce = [UInt8](repeating: 0, count: 12)

  private static func key(_ ring: Ring, _ salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.expand(pseudoRandomKey: ring.root, info: Array("seal".utf8) + salt, outputByteCount: 32)
  }

  private func ring(of sealed: [UInt8]) -> Ring? {
    guard sealed.count >= Self.overhead, sealed[0] == Self.version else { return nil }
    return rings[Array(sealed[1...Self.identifierLength])]
  }
}

extension StoreEncryption: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The identifiers of the keys, and never the keys.
  public var description: String {
    let older = openingKeys.subtracting([sealingKey]).sorted()
    return "StoreEncryption(key \(sealingKey)\(older.map { ", also \($0)" }.joined()))"
  }

  /// As ``description``.
  public var debugDescription: String { description }

  /// What `dump` and a debugger show: the identifiers of the keys.
  public var customMirror: Mirror {
    Mirror(self, children: ["sealingKey": sealingKey, "openingKeys": openingKeys.sorted()])
  }
}
#endif
