public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Holds values in a store that several processes share.
///
/// ```swift
/// let shared = try SharedCacheLevel<String, Data>(
///   redis, namespace: "photos", expiry: .after(.seconds(3_600)), valueCoding: .data)
/// let photos = memory.compose(shared, coherence: Coherence(redis, of: shared))
/// ```
///
/// An entry is a record with its key, the name of its coding, its deadline, its tags and a checksum. A record that is damaged, or was
/// not written by this library or under this key, is a miss with the reason `MissReason.damaged`; one that a newer version wrote is a
/// miss with the reason `MissReason.newer`. Both stay where they are until the key is written. A record of another coding is an error.
///
/// - Lifetimes go by the store's clock, so the clocks of processes do not matter. The store drops an entry one second after its
///   deadline plus ``keepsExpired``. One that lives longer than ``longestLife``, or never expires, is dropped as if it lived that long.
/// - The namespace and each tag have a stamp, a random token that every record carries. ``clear()`` and ``removeAll(tagged:)``
///   write a new one, whatever the number of entries; a stamp that the store has evicted counts as a new one.
/// - A write that fails may have happened or not. Its key is a miss for this level (`MissReason.unsettled`) until a later write of it
///   succeeds, or the store answers and the level has removed the key there.
/// - An entry that the store loses is a miss. After a failover to a replica, these may include acknowledged ones.
///
/// It does not list its entries: there are too many, and no moment at which they could all be seen.
public final class SharedCacheLevel<Key: Hashable & Sendable, Value: Sendable>: ConditionalLevel, TaggedLevel,
  ExpiringLevel
{
  /// The name of the level in errors, events and logs.
  public let name: String
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  public let expiry: Expiry
  /// How long an expired entry is kept for callers that ask for stale values.
  public let keepsExpired: Duration
  /// How long an entry lives in the store at most, and also what a clear leaves behind.
  public let longestLife: Duration
  /// The maximum size of a value, in bytes.
  public let largestValue: Int

  let store: any SharedStore
  let namespace: SharedNamespace
  let codec: SharedCodec<Key, Value>
  let clock: any CacheClock
  let unsettled: UnsettledWrites
  let known = Mutex(Known())

  struct Known {
    /// The store's time at an instant of the clock.
    var time: (store: Duration, at: CacheInstant)?
    /// Stamps as they were last seen; a hint, for a write is told which ones there are.
    var stamps: [[UInt8]: [UInt8]] = [:]
    /// With encryption: the keys behind the names that were asked for.
    var keys: [[UInt8]: Key] = [:]
    var hasForgottenKeys = false
  }

  /// Creates a level over a store, without asking the store anything yet.
  ///
  /// - Parameters:
  ///   - store: The store of the entries.
  ///   - namespace: Names this level's entries among all in the store: 1 to 128 letters, digits and signs of ASCII except space,
  ///     colon and braces. Levels with the same namespace, in all processes, hold the same entries.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - longestLife: How long an entry lives in the store at most, whatever its lifetime. Positive.
  ///   - largestValue: The maximum size of a value, in bytes.
  ///   - unsettledWrites: How many keys of failed writes are remembered; if there are more, the whole namespace is cleared.
  ///   - encryption: Hides keys, tags and values; `nil` for none.
  ///   - keyCoding: How keys become bytes, and bytes become keys. Equal keys must become equal bytes.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock in which deadlines are reported.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`.
  public init(
    _ store: some SharedStore, namespace: String, name: String = "shared", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, longestLife: Duration = .seconds(30 * 86_400), largestValue: Int = 64 << 20,
    unsettledWrites: Int = 10_000, encryption: SharedEncryption? = nil, keyCoding: ByteCoding<Key>,
    valueCoding: ByteCoding<Value>, clock: any CacheClock = SystemClock()
  ) throws {
    guard longestLife > .zero, keepsExpired >= .zero, largestValue > 0, unsettledWrites > 0 else {
      throw CacheError(
        .invalidSetting, "longestLife, largestValue and unsettledWrites are positive, and keepsExpired is not negative",
        level: name)
    }
    // Used in sums.
    let most = Duration.nanoseconds(Int64.max)
    let (keepsExpired, longestLife) = (min(keepsExpired, most), min(longestLife, most))
    self.store = store
    self.namespace = try SharedNamespace(namespace, level: name)
    self.name = name
    self.expiry = expiry
    self.keepsExpired = keepsExpired
    self.longestLife = longestLife
    self.largestValue = largestValue
    self.clock = clock
    codec = SharedCodec(
      namespace: self.namespace, keyCoding: keyCoding, valueCoding: valueCoding, encryption: encryption)
    unsettled = UnsettledWrites(
      store, self.namespace, limit: unsettledWrites, tagLife: (longestLife + keepsExpired) * 2, clock: clock)
  }

  deinit { unsettled.stop() }

  /// How many keys have failed writes, and are misses until they have been repaired in the store.
  public var unsettledCount: Int { unsettled.count }

  /// Returns the value held for a key, or `nil`.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns what is stored, or why there is nothing; many keys in one request.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await find(key, includingExpired: false) }

  /// Returns the entry for a key even if it has expired, for as long as ``keepsExpired`` says.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await find(key, includingExpired: true)
  }

  /// Stores a value with the level's default lifetime.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own; its cost is the length of its bytes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, and its tags.
  /// - Throws: `CacheError` with code `CacheError.Code.tooLarge` or `CacheError.Code.encryptionFailed`, or the coding's
  ///   error, or `CancellationError`; the value stored before is then still there. The error of the store: if the write has
  ///   begun, the key is then unsettled. A write that has begun is not cancelled.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await named {
      try await knowTime(forWriting: [key])
      try await put([try content(value, key, terms)])
    }
  }

  /// Stores a value if a condition holds, atomically for all processes.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await named {
      _ = try await time()
      let content = try content(value, key, terms)
      return try await change(content.id, content.key, under: stampNames([content])) { opened in
        condition.holds(isHeld: opened.map { $0.record.deadline > content.created } ?? false) ? content : nil
      }
    }
  }

  /// Removes the value for a key.
  public func remove(_ key: Key) async throws { try await remove([key]) }

  /// Removes everything in the namespace, for all processes, by one write.
  ///
  /// - Throws: The error of the store; then everything is a miss for this level until the store has been repaired, by the next write
  ///   at the latest.
  public func clear() async throws { try await renew(namespace.stamp, lifetime: nil) }

  /// Removes every entry that was stored with a tag, for all processes, by one write.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: 0: the entries are not counted, since they are not looked at.
  /// - Throws: As ``clear()``.
  /// - Complexity: O(1).
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    // Twice the life of any record that carries it.
    try await renew(namespace.tag(codec.id(ofTag: tag)), lifetime: stampLife)
    return 0
  }

  /// Ends the lifetime of an entry now; ``keepsExpired`` begins.
  ///
  /// - Parameter key: The key of the entry. An absent key is left alone.
  /// - Throws: As ``store(_:forKey:terms:)``.
  public func expire(_ key: Key) async throws {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let now = Self.nanoseconds(try await time())
      _ = try await change(id(of: key, bytes), bytes, under: [namespace.stamp]) { opened in
        guard let opened, opened.record.deadline > now else { return nil }
        return SharedCodec<Key, Value>.Content(
          id: opened.record.key, key: bytes, packed: opened.packed, tags: opened.tags, created: opened.record.created,
          deadline: now)
      }
    }
  }
}

extension SharedCacheLevel where Key == String {
  /// Creates a level for text keys; those that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - store: The store of the entries.
  ///   - namespace: Names this level's entries among all in the store.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - longestLife: How long an entry lives in the store at most, whatever its lifetime. Positive.
  ///   - encryption: Hides keys, tags and values; `nil` for none.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock in which deadlines are reported.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`.
  public convenience init(
    _ store: some SharedStore, namespace: String, name: String = "shared", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, longestLife: Duration = .seconds(30 * 86_400),
    encryption: SharedEncryption? = nil, valueCoding: ByteCoding<Value>, clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      store, namespace: namespace, name: name, expiry: expiry, keepsExpired: keepsExpired, longestLife: longestLife,
      encryption: encryption, keyCoding: .canonicalText, valueCoding: valueCoding, clock: clock)
  }
}

extension SharedCacheLevel: EndingLevel {
  // Which keys there are, nobody can tell: all of them cannot expire.
  package func end(_ key: Key?) async throws {
    if let key { try await expire(key) } else { try await clear() }
  }
}

extension SharedCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "shared") } }
