public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Holds values in a directory, bounded in bytes, and evicts the least recently used first.
///
/// ```swift
/// let disk = try DiskCacheLevel<String, Data>(directory: "/var/cache/photos", capacity: 256 << 20)
/// try await disk.set(photo, forKey: "42.jpg")
/// ```
///
/// Values survive the process, with their deadlines. A get returns what was set for exactly that key, or a miss: every
/// record carries its key and checksums, a damaged one is a miss with the reason ``MissReason/damaged``, and no other
/// entry is affected. The capacity covers everything in the directory, and room is made before a write.
///
/// All levels on one directory in a process share one store. Another process that opens it for writing gets
/// ``CacheError/Code/inUse``, unless all of them share it (``StoreSharing/acrossProcesses``), but may open it for reading. Data in
/// the page cache is read on the caller's thread; everything that may have to wait for the disk runs on threads of the
/// store.
///
/// All levels that have a directory open in a process share its capacity and its clock; another capacity or clock is an error
/// (``CacheError/Code/invalidSetting``). On iOS, close a level in an app group's container before the app is suspended.
/// <doc:ThreatModel> says what is promised against whom, and what is ever deleted.
///
/// A level that is released without ``close()`` releases the directory a moment later, and writes its index then, so that
/// the next opening is quick as well; only if the process ends before that does the next opening have to read the whole log.
public final class DiskCacheLevel<Key: Hashable & Sendable, Value: Sendable>: StorageLevel, ConditionalLevel,
  ExpiringLevel, TaggedLevel
{
  /// The name of the level in errors, events and logs.
  public let name: String
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  public let expiry: Expiry
  /// How long an expired entry is kept for callers that ask for stale values.
  public let keepsExpired: Duration
  /// What an acknowledged write survives.
  public let durability: Durability

  /// The store, if this process has it for itself.
  let store: SegmentedStore?
  /// If it does not.
  let elsewhere: (any StoreElsewhere)?
  /// Tells this level's changes of a shared directory from those of others.
  let origin = UInt64.random(in: 1 ... .max)
  let keyCoding: ByteCoding<Key>
  let valueCoding: ByteCoding<Value>
  let type: [UInt8]
  private let closing = Closing()

  /// Opens a directory, and creates it if it is missing.
  ///
  /// The call blocks while it reads the index, or the log if the store was not closed: about a second for a million entries.
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
  ///   - keyCoding: How keys become bytes. Equal keys must become equal bytes.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left, on a thread of the store. Of what leaves after
  ///     ``close()``, because other levels use the directory, it hears nothing.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse``, ``CacheError/Code/unusableStore``,
  ///   ``CacheError/Code/invalidSetting``, ``CacheError/Code/wrongKey``, ``CacheError/Code/notEncrypted``, ``CacheError/Code/diskReadFailed`` or
  ///   ``CacheError/Code/diskWriteFailed``.
  public convenience init(
    directory: String, capacity: Int = 256 << 20, name: String = "disk", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, durability: Durability = .buffered, access: StoreAccess = .readWrite,
    sharing: StoreSharing = .exclusive, cipher: (any StoreCipher)? = nil, keyCoding: ByteCoding<Key>,
    valueCoding: ByteCoding<Value>, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) throws {
    try self.init(
      directory: directory, capacity: capacity, name: name, expiry: expiry, keepsExpired: keepsExpired,
      durability: durability, access: access,
      keyCoding: keyCoding, valueCoding: valueCoding, clock: clock, removalListener: removalListener,
      calls: FileCalls(), cipher: cipher, sharing: sharing)
  }

  package init(
    directory: String, capacity: Int, name: String, expiry: Expiry, keepsExpired: Duration, durability: Durability,
    access: StoreAccess,
    keyCoding: ByteCoding<Key>, valueCoding: ByteCoding<Value>, clock: any CacheClock,
    removalListener: (@Sendable (Removal<Key>) -> Void)?, calls: FileCalls,
    cipher: (any StoreCipher)? = nil, sharing: StoreSharing = .exclusive
  ) throws {
    guard capacity >= 1 << 20 else {
      throw CacheError(
        .invalidSetting, "a disk level needs a capacity of at least 1 MiB (1048576 bytes), and was given \(capacity)",
        level: name)
    }
    guard valueCoding.name.utf8.count < 1 << 16 else {
      throw CacheError(.invalidSetting, "the name of a coding has at most 65535 bytes", level: name)
    }
    self.name = name
    self.expiry = expiry
    self.keepsExpired = keepsExpired
    self.durability = durability
    self.keyCoding = keyCoding
    self.valueCoding = valueCoding
    type = Array(valueCoding.name.utf8)
    do {
      if access == .readOnly || sharing.limit != nil {
        let settings = CommonStore.Settings(
          path: directory, capacity: capacity, durability: durability, clock: clock, calls: calls, cipher: cipher,
          limit: sharing.limit?.clampedNanoseconds ?? 0, isApart: sharing.isApart)
        store = nil
        elsewhere = access == .readOnly ? try StoreFollower(settings) : try CommonStores.store(settings)
      } else {
        store = try StoreRegistry.store(
          at: directory, access: access, capacity: capacity, durability: durability, clock: clock, calls: calls,
          cipher: cipher)
        elsewhere = nil
      }
    } catch var error as CacheError {
      error.level = name
      throw error
    }
    store?.keepExpired(for: keepsExpired)
    elsewhere?.keepExpired(for: keepsExpired)
    guard let removalListener else { return }
    let listener: @Sendable (SegmentedStore.Loss) -> Void = { loss in
      // A key of another level on this directory may not be one of ours.
      guard let bytes = loss.key?.bytes, let key = try? keyCoding.decode(Data(bytes)) else { return }
      let madeRoomFor = loss.madeRoomFor.flatMap { try? keyCoding.decode(Data($0.bytes)) }
      removalListener(Removal(key: key, cause: loss.cause, cost: loss.cost, madeRoomFor: madeRoomFor))
    }
    store?.learnKeys()
    store?.listeners.withLock { $0[ObjectIdentifier(self)] = listener }
    elsewhere?.listen(ObjectIdentifier(self), listener)
  }

  deinit {
    stopListening()
    guard !closing.hasBegun else { return }
    store?.leave()
    elsewhere?.leave()
  }

  /// Returns the value held for a key, or `nil` if there is none.
  public func get(_ key: Key) async throws -> Value? {
    do {
      if let known = try (store ?? elsewhere?.storeHere)?.readAtOnce(try storeKey(key)) {
        guard case .found(let found) = known else { return nil }
        return try value(of: found.type, found.value)
      }
    } catch { throw named(error) }
    return try await getInTurn(key)
  }

  /// In a function of its own, since what is generic here is looked up as soon as the function is called.
  @inline(never)
  private func getInTurn(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  private func value(of foundType: [UInt8], _ bytes: Data) throws -> Value {
    let form = foundType == type ? valueCoding.name : String(decoding: foundType, as: UTF8.self)
    return try valueCoding.unpack(NamedBytes(form: form, bytes: bytes))
  }

  /// Returns the entry for a key, or why there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or ``MissReason/absent``, ``MissReason/expired``, ``MissReason/damaged``,
  ///   ``MissReason/authenticationFailed`` or ``MissReason/unanswered``: the directory is shared and its owner does not answer, or
  ///   another one stands in its place.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``, ``CacheError/Code/closed``, or
  ///   ``CacheError/Code/invalidCachedData`` for bytes that were stored as another type; these are left alone.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await find(key, includingExpired: false) }

  /// Returns the entry for a key even if it has expired, for as long as ``keepsExpired`` says.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await find(key, includingExpired: true)
  }

  private func find(_ key: Key, includingExpired: Bool) async throws -> Lookup<Value> {
    do {
      let stored = try storeKey(key)
      let here = store ?? elsewhere?.storeHere
      if !includingExpired, let known = try here?.readAtOnce(stored) { return try lookup(known) }
      guard let store else { return try await find(elsewhere: stored, includingExpired) }
      return try lookup(try await store.read(stored, includingExpired: includingExpired))
    } catch { throw named(error) }
  }

  private func find(elsewhere key: StoreKey, _ includingExpired: Bool) async throws -> Lookup<Value> {
    guard let elsewhere else { return .miss(.absent) }
    switch try await elsewhere.find(key, includingExpired: includingExpired) {
    case .miss(let reason): return .miss(reason)
    case .found(let found):
      return try hit(
        found.type, found.value, found.tags, cost: found.cost, created: found.created,
        deadline: found.deadline == .max ? nil : CacheInstant(nanoseconds: found.deadline), isStale: found.isExpired)
    }
  }

  private func lookup(_ answer: SegmentedStore.Answer) throws -> Lookup<Value> {
    switch answer {
    case .miss(let reason): return .miss(reason)
    case .found(let found):
      return try hit(
        found.type, found.value, found.tags, cost: Int(clamping: found.entry.cost), created: found.entry.created,
        deadline: found.entry.deadlineInstant, isStale: found.isExpired)
    }
  }

  private func hit(
    _ foundType: [UInt8], _ bytes: Data, _ tags: Set<String>, cost: Int, created: Int64, deadline: CacheInstant?,
    isStale: Bool
  ) throws -> Lookup<Value> {
    var entry = Entry(
      try value(of: foundType, bytes), deadline: deadline, cost: cost, level: name,
      created: CacheInstant(nanoseconds: created))
    entry.isStale = isStale
    entry.tags = tags
    return .hit(entry)
  }

  /// Carries out a change where the entries are.
  @discardableResult
  func change(
    _ request: @autoclosure () throws -> StoreRequest, here: (SegmentedStore) async throws -> Int
  ) async throws -> Int {
    // The store may be open for another level.
    try checkOpen()
    return try await named {
      if let store {
        // What failed may have been carried out in part.
        defer { try? store.ears.tell(try request().change, from: origin) }
        return try await here(store)
      }
      return try await elsewhere?.change(try request(), from: origin) ?? 0
    }
  }

  /// Removes the value for a key.
  public func remove(_ key: Key) async throws {
    try await change(.remove(try storeKey(key), durability)) { store in
      try await store.remove(try storeKey(key), durability: durability)
      return 1
    }
  }

  /// Removes every entry that was stored with a tag, whatever its type.
  ///
  /// Tags survive a restart with their entries.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed.
  /// - Throws: As ``store(_:forKey:terms:)``.
  /// - Complexity: O(k) for k entries with the tag.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await change(.removeTagged(tag, durability)) { try await $0.removeAll(tagged: tag, durability: durability) }
  }

  /// Removes everything, whatever its type.
  public func clear() async throws {
    try await change(.clear(durability)) { store in
      try await store.clear(durability: durability)
      return 1
    }
  }

  /// Ends the lifetime of an entry now.
  public func expire(_ key: Key) async throws {
    try await change(.expire(try storeKey(key), durability)) { store in
      try await store.expire(try storeKey(key), durability: durability)
      return 1
    }
  }

  /// Drops the entries whose deadline has passed, except those that ``keepsExpired`` still keeps.
  ///
  /// - Returns: How many were dropped.
  /// - Throws: As ``store(_:forKey:terms:)``.
  /// - Complexity: O(k log n) for k of n entries: no scan.
  @discardableResult
  public func removeExpired() async throws -> Int { try await change(.removeExpired) { try await $0.removeExpired() } }

  /// Syncs what was written and releases the directory.
  ///
  /// Closing writes the index, so that the next opening is quick. Every later call fails with
  /// ``CacheError/Code/closed``. Closing twice is harmless: whoever closes again waits for the first closing, and is told how it
  /// ended.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskWriteFailed``.
  public func close() async throws {
    try await closing.close {
      // What leaves by closing is still told.
      defer { stopListening() }
      try await named {
        try await store?.close()
        try await elsewhere?.close()
      }
    }
  }

  private func stopListening() {
    _ = store?.listeners.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    elsewhere?.unlisten(ObjectIdentifier(self))
  }

  func checkOpen() throws {
    if closing.hasBegun { throw CacheError(.closed, "the level is closed", level: name) }
  }

  func storeKey(_ key: Key) throws -> StoreKey {
    try checkOpen()
    return StoreKey(try keyCoding.bytes(key))
  }

  func named<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do { return try await body() } catch { throw named(error) }
  }

  func named(_ error: any Error) -> any Error {
    guard var error = error as? CacheError else { return error }
    error.level = error.level ?? name
    return error
  }
}

extension DiskCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "disk") } }
