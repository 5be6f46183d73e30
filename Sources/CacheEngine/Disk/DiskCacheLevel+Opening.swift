public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DiskCacheLevel where Key == String, Value == Data {
  /// Where bytes are kept if nothing else is said: a directory in the program's folder among the user's caches, which the
  /// system may empty.
  ///
  /// On Linux that is `$XDG_CACHE_HOME/<program>/disk`, or `~/.cache/<program>/disk`. It is one store: levels that are opened
  /// there share it.
  public static var standardDirectory: String { StandardDirectory.path(.cachesDirectory) + "/disk" }

  /// Opens a directory for bytes under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - directory: The path of a directory that belongs to this store alone; by default ``standardDirectory``.
  ///   - capacity: How many bytes everything in the directory may take. At least 1 MiB.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values. Of several levels on one
  ///     directory the longest counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - sharing: Whether other processes write to the directory as well. Who only looks takes no part in that.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left, on a thread of the store.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    directory: String = standardDirectory, capacity: Int = 256 << 20, name: String = "disk", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, durability: Durability = .buffered, access: StoreAccess = .readWrite,
    sharing: StoreSharing = .exclusive, cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) throws {
    try self.init(
      directory: directory, capacity: capacity, name: name, expiry: expiry, keepsExpired: keepsExpired,
      durability: durability, access: access, sharing: sharing,
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
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values. Of several levels on one
  ///     directory the longest counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - sharing: Whether other processes write to the directory as well. Who only looks takes no part in that.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left, on a thread of the store.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    jsonIn directory: String, capacity: Int = 256 << 20, name: String = "disk", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, durability: Durability = .buffered, access: StoreAccess = .readWrite,
    sharing: StoreSharing = .exclusive, cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) throws {
    try self.init(
      directory: directory, capacity: capacity, name: name, expiry: expiry, keepsExpired: keepsExpired,
      durability: durability, access: access, sharing: sharing,
      cipher: cipher, keyCoding: .canonicalText, valueCoding: .json, clock: clock, removalListener: removalListener)
  }
}
