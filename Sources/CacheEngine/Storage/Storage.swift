import CacheDisk

public import CacheCore

/// One store of typed values over memory, a disk, or both, with an expiry for each entry and each tier, and observers.
///
/// ```swift
/// let users = try Storage(
///   diskConfig: DiskConfig(name: "users", expiry: .seconds(86_400), maxSize: 64 << 20),
///   memoryConfig: MemoryConfig(expiry: .seconds(600), countLimit: 500),
///   transformer: TransformerFactory.forCodable(ofType: User.self))
///
/// try users.setObject(ada, forKey: "ada", expiry: .seconds(60))
/// let user = try users.object(forKey: "ada")  // nil would be a miss
/// ```
///
/// **Blocking, async and callbacks.** The methods of this type block the caller's thread. Those of ``async`` take a completion, or
/// are awaited. All of them work on the same levels and may be mixed from any thread, task, observer and completion: whatever has to
/// wait runs on a thread of the storage, so tasks in blocking calls cannot keep each other from making progress. A value in
/// memory is returned without waiting. A storage is a `CacheLevel` as well, and can be composed.
///
/// **Tiers.** A value is stored on the disk first, then in memory; if the disk fails, both keep the old value. A value
/// found only on the disk is copied to memory with its deadline, shortened to memory's own lifetime. Expired entries are
/// never returned, except by ``staleEntry(forKey:)``.
///
/// **Types.** ``transform(to:)`` and its siblings return views of the same storage for values of other types. All views
/// share tiers and observers, so each sees what the others store. Two storages that are opened on one folder share the
/// disk, but not memory and observers: open a folder once, and make views.
public final class Storage<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let core: StorageCore<Key>
  let transformer: Transformer<Value>?

  init(core: StorageCore<Key>, transformer: Transformer<Value>?) {
    self.core = core
    self.transformer = transformer
  }

  /// Opens a storage on a disk, by default with memory above it, for keys of any type.
  ///
  /// Opening blocks while the folder's index is read.
  ///
  /// - Parameters:
  ///   - diskConfig: The location, size limit and lifetimes of the disk tier.
  ///   - memoryConfig: The limits and lifetimes of the memory tier, by default ``MemoryConfig/standard``; `nil` for none.
  ///   - keyCoding: How keys become bytes. Equal keys must become equal bytes, in every run of the program.
  ///   - transformer: How values become bytes.
  ///   - sweepInterval: How often expired entries are swept out, so that they are reported and take up no room; `nil` for
  ///     only when ``removeExpiredObjects()`` is called.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: `CacheError` with code `CacheError.Code.inUse`, `CacheError.Code.invalidSetting`,
  ///   `CacheError.Code.unusableStore`, `CacheError.Code.wrongKey`, `CacheError.Code.notEncrypted`, `CacheError.Code.diskReadFailed` or
  ///   `CacheError.Code.diskWriteFailed`.
  public convenience init(
    diskConfig: DiskConfig, memoryConfig: MemoryConfig? = .standard, keyCoding: ByteCoding<Key>,
    transformer: Transformer<Value>, sweepInterval: Duration? = .seconds(300), clock: any CacheClock = SystemClock()
  ) throws {
    self.init(
      core: try StorageCore(
        memory: memoryConfig, opening: diskConfig, keys: keyCoding, sweepInterval: sweepInterval, clock: clock),
      transformer: transformer)
  }

  /// Creates a storage in memory only.
  ///
  /// Without a transformer it holds values that need not be `Codable`, and views of other types see only values of
  /// their own type.
  ///
  /// - Parameters:
  ///   - memoryConfig: The limits and lifetimes of the storage.
  ///   - transformer: How values become bytes for views of other types and for ``MemoryConfig/totalCostLimit``.
  ///   - sweepInterval: How often expired entries are swept out; `nil` for only when ``removeExpiredObjects()`` is
  ///     called.
  ///   - clock: The clock by which lifetimes are measured.
  public convenience init(
    memoryConfig: MemoryConfig, transformer: Transformer<Value>? = nil, sweepInterval: Duration? = .seconds(300),
    clock: any CacheClock = SystemClock()
  ) {
    self.init(
      core: StorageCore(memory: memoryConfig, sweepInterval: sweepInterval, clock: clock),
      transformer: transformer)
  }

  // MARK: Reading

  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` on a miss. A miss is an answer, not an error.
  /// - Throws: As ``lookup(forKey:)``.
  public func object(forKey key: Key) throws -> Value? {
    if let value = peek(key) { return value }
    return try lookup(forKey: key).entry?.value
  }

  /// Returns the value of a key; a miss is an error here.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value.
  /// - Throws: `CacheError` with code `CacheError.Code.valueNotInCache`; otherwise as ``lookup(forKey:)``.
  public func requiredObject(forKey key: Key) throws -> Value {
    if let value = peek(key) { return value }
    switch try lookup(forKey: key) {
    case .hit(let entry): return entry.value
    case .miss(let reason): throw CacheError(missing: String(describing: key), reason: reason)
    }
  }

  /// Returns the value of a key with its deadline and the tier that it comes from.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or `nil` on a miss.
  /// - Throws: As ``lookup(forKey:)``.
  public func entry(forKey key: Key) throws -> Entry<Value>? { try lookup(forKey: key).entry }

  /// Returns the entry of a key, or why there is none.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or `MissReason.absent`, `MissReason.expired` or `MissReason.damaged`.
  /// - Throws: `CacheError` with code `CacheError.Code.diskReadFailed`, `CacheError.Code.closed`, or
  ///   `CacheError.Code.typeMismatch` for a value of another type that has no bytes; the transformer's error for bytes
  ///   that are not such a value. The entry stays.
  public func lookup(forKey key: Key) throws -> Lookup<Value> {
    try unpacked(core.waitForRead { [core] in try await core.lookup(key) })
  }

  /// Returns the entry of a key even if it has expired, for as long as the configurations' `keepsExpired` says.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, fresh or marked `Entry.isStale`, or `nil`.
  /// - Throws: As ``lookup(forKey:)``.
  public func staleEntry(forKey key: Key) throws -> Entry<Value>? {
    try unpacked(core.waitForRead { [core] in try await core.lookupIncludingExpired(key) }).entry
  }

  /// Returns whether there is a value that has not expired.
  ///
  /// Nothing is read or decoded. Whether the bytes on the disk are intact is not known until they are read.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there is one, of whatever type.
  /// - Throws: `CacheError` with code `CacheError.Code.closed`, or the key coding's error.
  public func objectExists(forKey key: Key) throws -> Bool { try core.exists(key) }

  /// Returns whether there is no value that has not expired.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` also for a key that was never stored.
  /// - Throws: As ``objectExists(forKey:)``.
  public func isExpiredObject(forKey key: Key) throws -> Bool { try !core.exists(key) }

  // MARK: Writing

  /// Stores a value under a key, in every tier.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: The key.
  ///   - expiry: When it expires; `nil` for the default of each tier.
  /// - Throws: The transformer's error, or `CacheError` with code `CacheError.Code.tooLarge`,
  ///   `CacheError.Code.diskWriteFailed` or `CacheError.Code.closed`. The value stored before is then still there, in
  ///   every tier.
  public func setObject(_ object: Value, forKey key: Key, expiry: Expiry? = nil) throws {
    let object = try packed(object)
    try core.wait { [core] in try await core.store(object, forKey: key, terms: StoreTerms(expiry: expiry)) }
  }

  /// Removes the value of a key from every tier.
  ///
  /// Removing an absent key succeeds, and nobody is notified.
  ///
  /// - Parameter key: The key.
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed` or `CacheError.Code.closed`, in a storage of
  ///   two tiers within one of code `CacheError.Code.partialFailure`.
  public func removeObject(forKey key: Key) throws { try core.wait { [core] in try await core.remove(key) } }

  /// Drops the copy in memory; what is on the disk stays, and the next read brings it back.
  ///
  /// - Parameter key: The key.
  /// - Throws: Nothing as yet.
  public func removeInMemoryObject(forKey key: Key) throws {
    try core.wait { [core] in try await core.removeInMemory(key) }
  }

  /// Removes everything, including values that other views have stored and files that hyperoslo/Cache has left in the folder.
  ///
  /// - Throws: As ``removeObject(forKey:)``; `CacheError` with code `CacheError.Code.diskReadFailed` if the folder cannot be listed.
  public func removeAll() throws { try core.wait { [core] in try await core.removeAll() } }

  /// Removes what has expired, from both tiers.
  ///
  /// - Returns: How many entries were removed; one that had expired in both tiers counts twice.
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed` or `CacheError.Code.closed`.
  @discardableResult
  public func removeExpiredObjects() throws -> Int { try core.wait { [core] in try await core.removeExpired() } }

  /// Removes the value of a key if it has expired.
  ///
  /// - Parameter key: The key.
  /// - Throws: `CacheError` with code `CacheError.Code.closed`.
  public func removeObjectIfExpired(forKey key: Key) throws {
    try core.wait { [core] in try await core.removeIfExpired(key) }
  }

  /// Seals everything in the folder with the newest key of its cipher, so that older keys are no longer needed.
  ///
  /// - Returns: How many entries were resealed.
  /// - Throws: As `DiskCacheLevel.rotate()`.
  /// - Complexity: O(n), and every byte is read and written.
  @discardableResult
  public func rotate() throws -> Int { try core.wait { [core] in try await core.rotate() } }

  /// Closes the storage: what was written is synced, the index is written, the folder is released and memory is emptied.
  ///
  /// Every later call on any view of a storage with a disk fails with `CacheError.Code.closed` (``removeAll()`` with that within a
  /// `partialFailure` if there are two tiers); only ``removeInMemoryObject(forKey:)`` finds nothing to do. A storage that is released
  /// without being closed does the same a moment later.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed`.
  public func close() throws { try core.wait { [core] in try await core.close() } }

  // MARK: Packing

  func packed(_ value: Value) throws -> StoredObject {
    try StoredObject(value, by: transformer, isEncoded: core.needsBytes)
  }

  func unpacked(_ found: Lookup<StoredObject>) throws -> Lookup<Value> {
    switch found {
    case .miss(let reason): return .miss(reason)
    case .hit(let entry):
      var unpacked = entry.with(try entry.value.value(by: transformer))
      unpacked.cost = entry.cost
      return .hit(unpacked)
    }
  }
}

extension Storage where Key == String {
  /// Opens a storage on a disk, by default with memory above it, under text keys.
  ///
  /// Keys that are equal strings are one key. Opening blocks while the folder's index is read.
  ///
  /// - Parameters:
  ///   - diskConfig: The location, size limit and lifetimes of the disk tier.
  ///   - memoryConfig: The limits and lifetimes of the memory tier, by default ``MemoryConfig/standard``; `nil` for none.
  ///   - transformer: How values become bytes.
  ///   - sweepInterval: How often expired entries are swept out; `nil` for only when ``removeExpiredObjects()`` is
  ///     called.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: As the initialiser with a key coding.
  public convenience init(
    diskConfig: DiskConfig, memoryConfig: MemoryConfig? = .standard, transformer: Transformer<Value>,
    sweepInterval: Duration? = .seconds(300), clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      diskConfig: diskConfig, memoryConfig: memoryConfig, keyCoding: .canonicalText, transformer: transformer,
      sweepInterval: sweepInterval, clock: clock)
  }
}

extension Storage where Key: Codable {
  /// Opens a storage on a disk, by default with memory above it, under keys that are written as JSON.
  ///
  /// Keys that are equal are one key: sets and dictionaries in them are written in a fixed order, texts in canonical form,
  /// and `-0.0` as `0.0`. A type that defines equality itself, and encodes equal values differently, needs a key coding.
  /// Opening blocks while the folder's index is read.
  ///
  /// - Parameters:
  ///   - diskConfig: The location, size limit and lifetimes of the disk tier.
  ///   - memoryConfig: The limits and lifetimes of the memory tier, by default ``MemoryConfig/standard``; `nil` for none.
  ///   - transformer: How values become bytes.
  ///   - sweepInterval: How often expired entries are swept out; `nil` for only when ``removeExpiredObjects()`` is
  ///     called.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: As the initialiser with a key coding.
  public convenience init(
    diskConfig: DiskConfig, memoryConfig: MemoryConfig? = .standard, transformer: Transformer<Value>,
    sweepInterval: Duration? = .seconds(300), clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      diskConfig: diskConfig, memoryConfig: memoryConfig, keyCoding: .canonicalJSON, transformer: transformer,
      sweepInterval: sweepInterval, clock: clock)
  }
}
