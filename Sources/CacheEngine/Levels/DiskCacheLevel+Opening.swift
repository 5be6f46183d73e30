#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DiskCacheLevel where Key == String, Value == Data {
  /// Opens a directory for bytes under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - directory: The path of a directory that belongs to this store alone.
  ///   - capacity: How many bytes everything in the directory may take. At least 1 MiB.
  ///   - name: What the level is called in errors, events and logs.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values. Of several levels on one
  ///     directory the longest counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left, on a thread of the store.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    directory: String, capacity: Int = 256 << 20, name: String = "disk", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, durability: Durability = .buffered, access: StoreAccess = .readWrite,
    cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) throws {
    try self.init(
      directory: directory, capacity: capacity, name: name, expiry: expiry, keepsExpired: keepsExpired,
      durability: durability, access: access,
      cipher: cipher, keyCoding: .canonicalText, valueCoding: .data, clock: clock, removalListener: removalListener)
  }
}

extension DiskCacheLevel where Key == String, Value: Codable {
  /// Opens a directory for values in JSON under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - directory: The path of a directory that belongs to this store alone.
  ///   - capacity: How many bytes everything in the directory may take. At least 1 MiB.
  ///   - name: What the level is called in errors, events and logs.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values. Of several levels on one
  ///     directory the longest counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left, on a thread of the store.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    jsonIn directory: String, capacity: Int = 256 << 20, name: String = "disk", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, durability: Durability = .buffered, access: StoreAccess = .readWrite,
    cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) throws {
    try self.init(
      directory: directory, capacity: capacity, name: name, expiry: expiry, keepsExpired: keepsExpired,
      durability: durability, access: access,
      cipher: cipher, keyCoding: .canonicalText, valueCoding: .json, clock: clock, removalListener: removalListener)
  }
}
