/// Seals what a disk level writes, so that whoever has the files has neither its keys nor its values.
///
/// The library CacheEngineEncryption has one, `StoreEncryption`; CacheEngine itself depends on no cryptography. A cipher of
/// your own has to be authenticated, with associated data, and with fresh randomness in every call of
/// ``seal(_:binding:)``.
///
/// All levels on one directory must be given ciphers with the same keys. The one that opened the directory first works
/// for all of them.
public protocol StoreCipher: Sendable {
  /// The identifier of the key that seals.
  ///
  /// Identifiers are in the files in the clear. They must reveal nothing about the key, and differ if keys differ.
  var sealingKey: String { get }
  /// The identifiers of all keys that can open, including the one that seals.
  var openingKeys: Set<String> { get }

  /// Encrypts bytes and authenticates them together with what they belong to.
  ///
  /// - Parameters:
  ///   - bytes: What to encrypt; may be empty.
  ///   - binding: What is authenticated but not encrypted: opening needs exactly the same.
  /// - Returns: The sealed bytes, with everything but key and binding that is needed to open them.
  /// - Throws: Any error if it cannot be done; nothing is written then.
  func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8]

  /// Decrypts bytes that were sealed with this binding and one of ``openingKeys``.
  ///
  /// - Parameters:
  ///   - sealed: The sealed bytes.
  ///   - binding: What they were sealed with.
  /// - Returns: The bytes that were sealed.
  /// - Throws: Any error if they were not sealed in this way, or have changed since. The entry is then removed.
  func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8]

  /// Says which key sealed something, without opening it.
  ///
  /// - Parameter sealed: The sealed bytes.
  /// - Returns: The identifier of the key; `nil` for bytes that this cipher never makes.
  func key(of sealed: [UInt8]) -> String?

  /// Makes a name that does not reveal what it names: a keyed hash, such as HMAC.
  ///
  /// Keys and tags are looked up by these names. The same bytes and secret make the same name, whichever key seals.
  ///
  /// - Parameters:
  ///   - bytes: What to name.
  ///   - secret: 32 random bytes that belong to the directory.
  /// - Returns: The name, always of the same length, and at least 16 bytes.
  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8]
}
