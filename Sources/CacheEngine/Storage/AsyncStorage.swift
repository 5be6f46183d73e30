public import CacheCore

/// The asynchronous calls of a ``Storage``: `async` functions, or with a completion.
///
/// ```swift
/// let user = try await storage.async.object(forKey: "ada")
///
/// storage.async.object(forKey: "ada") { result in
///   print((try? result.get()) ?? nil ?? "nobody")
/// }
/// ```
///
/// **Async functions** encode and decode off the caller's actor, and may be cancelled; a write that is cancelled may take
/// effect later or never.
///
/// **Completions** are called on a thread of the storage, one by one: these requests are carried out in the order
/// in which they are made, so a read sees what was stored before it. Requests that wait when the storage is released end
/// with a `CacheError` of code `CacheError.Code.deallocated`; keep the storage until they have ended.
public struct AsyncStorage<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let storage: Storage<Key, Value>

  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: As ``lookup(forKey:)``.
  public func object(forKey key: Key) async throws -> Value? {
    if let value = storage.peek(key) { return value }
    return try await lookup(forKey: key).entry?.value
  }

  /// Returns the value of a key with its deadline and the tier that it comes from.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or `nil` on a miss.
  /// - Throws: As ``lookup(forKey:)``.
  public func entry(forKey key: Key) async throws -> Entry<Value>? { try await lookup(forKey: key).entry }

  /// Returns the entry of a key, or why there is none.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``Storage/lookup(forKey:)``; `CancellationError` if the task is cancelled.
  @concurrent
  public func lookup(forKey key: Key) async throws -> Lookup<Value> {
    try storage.unpacked(await storage.core.read { [core = storage.core] in try await core.lookup(key) })
  }

  /// Whether there is a value that has not expired.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there is one; for a missing key `false`, not an error.
  /// - Throws: As ``Storage/objectExists(forKey:)``.
  public func objectExists(forKey key: Key) async throws -> Bool { try storage.objectExists(forKey: key) }

  /// The keys whose entries have not expired, in no particular order.
  ///
  /// - Returns: The keys.
  /// - Throws: `CacheError` with code `CacheError.Code.closed`.
  public func allKeys() async throws -> [Key] {
    try await Array(storage.core.read { [core = storage.core] in try await core.keys() })
  }

  /// Stores a value under a key, in every tier.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: The key.
  ///   - expiry: When it expires; `nil` for the default of each tier.
  /// - Throws: As ``Storage/setObject(_:forKey:expiry:)``; `CancellationError` if the task is cancelled.
  public func setObject(_ object: Value, forKey key: Key, expiry: Expiry? = nil) async throws {
    try await storage.store(object, forKey: key, terms: StoreTerms(expiry: expiry))
  }

  /// Removes the value of a key from every tier.
  ///
  /// - Parameter key: The key.
  /// - Throws: As ``Storage/removeObject(forKey:)``; `CancellationError` if the task is cancelled.
  public func removeObject(forKey key: Key) async throws {
    try await storage.core.run { [core = storage.core] in try await core.remove(key) }
  }

  /// Drops the copy in memory; what is on the disk stays.
  ///
  /// - Parameter key: The key.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func removeInMemoryObject(forKey key: Key) async throws {
    try await storage.core.run { [core = storage.core] in try await core.removeInMemory(key) }
  }

  /// Removes everything, including values that other views have stored.
  ///
  /// - Throws: As ``Storage/removeAll()``; `CancellationError` if the task is cancelled.
  public func removeAll() async throws {
    try await storage.core.run { [core = storage.core] in try await core.removeAll() }
  }

  /// Removes what has expired, from both tiers.
  ///
  /// - Returns: How many entries were removed; one that had expired in both tiers counts twice.
  /// - Throws: As ``Storage/removeExpiredObjects()``; `CancellationError` if the task is cancelled.
  @discardableResult
  public func removeExpiredObjects() async throws -> Int {
    try await storage.core.run { [core = storage.core] in try await core.removeExpired() }
  }

  /// Seals everything in the folder with the newest key of its cipher, so that older keys are no longer needed.
  ///
  /// - Returns: How many entries were resealed.
  /// - Throws: As ``Storage/rotate()``; `CancellationError` if the task is cancelled.
  @discardableResult
  public func rotate() async throws -> Int {
    try await storage.core.run { [core = storage.core] in try await core.rotate() }
  }

  /// Releases the folder, even if the task was cancelled.
  ///
  /// - Throws: As ``Storage/close()``.
  public func close() async throws {
    try await Task { [core = storage.core] in try await core.run { try await core.close() } }.value
  }
}

extension Storage {
  /// The asynchronous calls: `async` functions, or with a completion.
  public var async: AsyncStorage<Key, Value> { AsyncStorage(storage: self) }
}
