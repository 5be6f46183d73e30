// Without it, `peek` below would be that of every level, which says nothing.
import CacheMemory

public import CacheCore

extension Storage: CacheLevel {
  /// The name of the level in errors, events and logs.
  public var name: String { "storage" }

  /// Returns the value held for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: As ``AsyncStorage/lookup(forKey:)``.
  public func get(_ key: Key) async throws -> Value? { try await async.object(forKey: key) }

  /// Returns the entry for a key, or why there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``AsyncStorage/lookup(forKey:)``.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await async.lookup(forKey: key) }

  /// Returns the entry for a key even if it has expired, for as long as the configurations' `keepsExpired` says.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or the reason for the miss.
  /// - Throws: As ``AsyncStorage/lookup(forKey:)``.
  @concurrent
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try unpacked(await core.read { [core] in try await core.lookupIncludingExpired(key) })
  }

  /// Returns the value if it is in memory as one of this view's type.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if only ``get(_:)`` can tell.
  public func peek(_ key: Key) -> Value? { core.memory?.peek(key)?.value(readBy: transformer) }

  /// Stores a value with the default lifetime of each tier.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: As ``setObject(_:forKey:expiry:)``.
  public func set(_ value: Value, forKey key: Key) async throws { try await async.setObject(value, forKey: key) }

  /// Stores a value on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, and who stores it. A cost is not passed on: it is that of the bytes.
  /// - Throws: As ``setObject(_:forKey:expiry:)``.
  @concurrent
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    let object = try packed(value)
    try await core.run { [core] in try await core.store(object, forKey: key, terms: terms) }
  }

  /// Removes the value for a key.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: As ``removeObject(forKey:)``.
  public func remove(_ key: Key) async throws { try await async.removeObject(forKey: key) }

  /// Removes everything, including values that other views have stored.
  ///
  /// - Throws: As ``removeObject(forKey:)``.
  public func clear() async throws { try await async.removeAll() }

  /// Empties memory; what is on the disk stays.
  public func onMemoryWarning() async { await core.warn() }
}
