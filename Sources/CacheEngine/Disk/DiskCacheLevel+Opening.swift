public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DiskCacheLevel where Key == String, Value == Data {
  /// The default directory: one in the program's folder among the user's caches, which the system may empty.
  ///
  /// On Linux this is `$XDG_CACHE_HOME/<program>/disk`, or `~/.cache/<program>/disk`. It is one store, shared by all levels that are
  /// opened there.
  public static var standardDirectory: String { StandardDirectory.path(.cachesDirectory) + "/disk" }

  /// Opens a directory for bytes under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - directory: The path of a directory that belongs to this store alone; by default ``standardDirectory``.
  ///   - capacity: The maximum size of everything in the directory, in bytes. At least 1 MiB.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values. If several levels share a
  ///     directory, the longest time counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - sharing: Whether other processes write to the directory as well. A level that only looks takes no part in that.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left, on a thread of the store.
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
  ///   - capacity: The maximum size of everything in the directory, in bytes. At least 1 MiB.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values. If several levels share a
  ///     directory, the longest time counts.
  ///   - durability: What an acknowledged write survives.
  ///   - access: Whether the level writes, or only looks.
  ///   - sharing: Whether other processes write to the directory as well. A level that only looks takes no part in that.
  ///   - cipher: Seals keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left, on a thread of the store.
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
