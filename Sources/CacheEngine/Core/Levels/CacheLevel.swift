/// A place that may hold a value for a key: memory, a disk, the network, or several of these behind one interface.
///
/// Levels are composed: ``compose(_:partialStores:backFill:observer:clock:)`` stacks one above another,
/// ``pooled(name:observer:clock:)`` lets simultaneous readers of one key share a load, and so on. Every operator returns a level.
///
/// A level of your own implements ``get(_:)``, ``set(_:forKey:)``, ``remove(_:)`` and ``clear()``. The other
/// requirements have default implementations; a level that knows more (a deadline, a cost, why a key missed,
/// how to answer without waiting) provides its own.
///
/// ```swift
/// struct Constants: CacheLevel {
///   func get(_ key: String) async throws -> Double? { key == "pi" ? Double.pi : nil }
///   func set(_ value: Double, forKey key: String) async throws {}
///   func remove(_ key: String) async throws {}
///   func clear() async throws {}
/// }
/// ```
public protocol CacheLevel<Key, Value>: Sendable {
  /// The type of the keys.
  associatedtype Key: Hashable & Sendable
  /// The type of the values.
  associatedtype Value: Sendable

  /// The name of the level in errors, events and logs; by default the name of its type.
  var name: String { get }

  /// Returns the value held for a key, or `nil` if this level has none.
  ///
  /// An entry at or past its deadline counts as absent.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss. A miss is an answer, not an error.
  /// - Throws: An error if the level could not answer; `CancellationError` if the task was cancelled first.
  func get(_ key: Key) async throws -> Value?

  /// Returns the value held for a key together with what is known about it, or why there is none.
  ///
  /// By default this asks ``get(_:)`` and knows neither deadline nor cost.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  func lookup(_ key: Key) async throws -> Lookup<Value>

  /// Returns what ``lookup(_:)`` does, to a caller for whom ``peek(_:)`` or ``peekEntry(_:)`` has just had nothing.
  ///
  /// For a level that begins a look-up with that question: it need not ask again. By default this is ``lookup(_:)``.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  func lookupPastPeek(_ key: Key) async throws -> Lookup<Value>

  /// Returns the entry for a key even if it has expired, as long as this level still keeps it.
  ///
  /// An expired entry is marked ``Entry/isStale``. By default this asks ``lookup(_:)``: nothing expired is kept.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value>

  /// Returns the value if this level can answer at once, without suspending or blocking.
  ///
  /// `nil` says nothing: the level may still hold the value and return it from ``get(_:)``. A value is what ``get(_:)``
  /// would return at this moment: callers ask here first and then look no further. By default a level never answers at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if only ``get(_:)`` can tell.
  func peek(_ key: Key) -> Value?

  /// Returns the entry that ``lookup(_:)`` would give, if this level can answer at once, without suspending or blocking.
  ///
  /// This is to ``lookup(_:)`` what ``peek(_:)`` is to ``get(_:)``: `nil` says nothing, and is not reported. An entry found this way is
  /// reported to the level's observers like any other. By default a level never answers at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or `nil` if only ``lookup(_:)`` can tell.
  func peekEntry(_ key: Key) -> Entry<Value>?

  /// Returns the value for a key, loading and storing it if there is none or it has expired.
  ///
  /// By default callers that ask at the same time share one load; see the method that every level has.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - load: Is given the expired entry, if there is one, and returns a value with its terms, or that the entry is still valid.
  /// - Returns: The value found or loaded.
  /// - Throws: The error of the closure; `CancellationError` if this caller was cancelled.
  func value(
    forKey key: Key,
    orLoad load: nonisolated(nonsending) @escaping @Sendable (_ expired: Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value

  /// Stores a value under a key, replacing any value there.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: An error if the value was not stored; the value stored before is then still there.
  func set(_ value: Value, forKey key: Key) async throws

  /// Stores a value under a key with a lifetime, a cost or a purpose of its own.
  ///
  /// By default the terms are ignored and ``set(_:forKey:)`` is called.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and whether it is stored on request or by a back-fill.
  /// - Throws: As ``set(_:forKey:)``.
  func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws

  /// Stores a value at once, without suspending or blocking, if this level can.
  ///
  /// This is to ``store(_:forKey:terms:)`` what ``peek(_:)`` is to ``get(_:)``: callers ask here first, and are done if the answer is
  /// `true`. `false` means that nothing was done. By default a level never stores at once.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and whether it is stored on request or by a back-fill.
  /// - Returns: Whether the value was stored.
  func storeAtOnce(_ value: Value, forKey key: Key, terms: StoreTerms) -> Bool

  /// Removes the value for a key.
  ///
  /// Removing an absent key succeeds.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: An error if the value may still be there.
  func remove(_ key: Key) async throws

  /// Removes everything.
  ///
  /// - Throws: An error if something may still be there.
  func clear() async throws

  /// Frees memory.
  ///
  /// Durable data is never lost to a warning. By default nothing happens.
  func onMemoryWarning() async

  /// Whether stores and removals complete without suspending, as they do in memory.
  ///
  /// A composition writes directly into an upper level for which this is `true`; it does not let any other hold up its reads
  /// (``BackFill``). By default `false`. It never changes.
  var storesAtOnce: Bool { get }
}

extension CacheLevel {
  /// Asks ``get(_:)``; neither deadline nor cost is known.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    guard let value = try await get(key) else { return .miss(.absent) }
    return .hit(Entry(value))
  }

  /// Asks ``lookup(_:)``.
  @inlinable
  public func lookupPastPeek(_ key: Key) async throws -> Lookup<Value> { try await lookup(key) }

  /// Asks ``lookup(_:)``: nothing expired is kept.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { try await lookup(key) }

  /// Never answers at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { nil }

  /// Never answers at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { nil }

  /// Ignores the terms and calls ``set(_:forKey:)``.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await set(value, forKey: key)
  }

  /// Never stores at once.
  @inlinable
  public func storeAtOnce(_ value: Value, forKey key: Key, terms: StoreTerms) -> Bool { false }

  /// Does nothing.
  @inlinable
  public func onMemoryWarning() async {}

  /// Stores and removals may take their time.
  @inlinable public var storesAtOnce: Bool { false }

  /// The name of the type.
  public var name: String { String(describing: Self.self) }

  /// Returns the value held for a key; a miss is an error here.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/valueNotInCache``, or
  ///   ``CacheError/Code/conditionNotSatisfied`` if a condition refused the key; otherwise as ``get(_:)``.
  @inlinable
  public func require(_ key: Key) async throws -> Value {
    if let value = peek(key) { return value }
    switch try await lookup(key) {
    case .hit(let entry): return entry.value
    case .miss(let reason): throw CacheError(missing: String(describing: key), reason: reason)
    }
  }

  /// Stores a value with a lifetime of its own, whatever the default lifetime of the level.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - expiry: When the entry expires, counted from the moment when a level stores it.
  /// - Throws: As ``set(_:forKey:)``.
  @inlinable
  public func set(_ value: Value, forKey key: Key, expiry: Expiry) async throws {
    try await store(value, forKey: key, terms: StoreTerms(expiry: expiry))
  }
}

/// A level that can only be read: a network, a generator, a simulated origin.
///
/// Storing into a fetcher succeeds and stores nothing, so that a fetcher can be anywhere in a composition.
public protocol Fetcher<Key, Value>: SelectiveRemoval, TaggedLevel, ConditionalLevel {}

extension Fetcher {
  /// Succeeds and stores nothing.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {}

  /// Succeeds and removes nothing.
  @inlinable
  public func remove(_ key: Key) async throws {}

  /// Succeeds and removes nothing.
  @inlinable
  public func clear() async throws {}

  /// Removes nothing.
  ///
  /// - Parameter condition: Not called.
  /// - Returns: 0.
  /// - Throws: Nothing.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int { 0 }

  /// Removes nothing.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: 0.
  /// - Throws: Nothing.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { 0 }

  /// Stores nothing, and says whether the condition holds for what a read returns.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    condition.holds(isHeld: try await lookup(key).entry != nil)
  }
}

/// A level that holds entries of its own, as opposed to an operator or a fetcher.
public protocol StorageLevel<Key, Value>: SelectiveRemoval {
  /// How much is stored, and the limits.
  ///
  /// - Complexity: O(1).
  var usage: LevelUsage { get }

  /// Every entry held, including expired ones that have not been dropped yet, in no particular order.
  ///
  /// - Returns: One summary for each entry.
  /// - Throws: An error if the level cannot be read.
  /// - Complexity: O(n).
  func contents() async throws -> [EntrySummary<Key>]

  /// Ends the lifetime of an entry now: the next read finds it expired.
  ///
  /// - Parameter key: The key of the entry. An absent key is left alone.
  /// - Throws: An error if the entry may still be alive.
  func expire(_ key: Key) async throws

  /// Drops the entries whose deadline has passed, except those that the level still keeps for stale reads.
  ///
  /// - Returns: How many were dropped.
  /// - Throws: An error if some could not be dropped.
  @discardableResult
  func removeExpired() async throws -> Int
}

extension StorageLevel {
  /// Removes the entries whose keys meet a condition, one by one.
  ///
  /// An entry that is stored while this runs may stay, and one that is replaced while this runs may be removed.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed.
  /// - Throws: An error if some may still be there.
  /// - Complexity: O(n).
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    let keys = try await contents().map(\.key).filter(condition)
    for key in keys { try await remove(key) }
    return keys.count
  }
}

/// A level with a default lifetime for the values that it stores.
public protocol ExpiringLevel: Sendable {
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  var expiry: Expiry { get }
}

/// How full a level is.
public struct LevelUsage: Sendable, Equatable, Codable {
  /// How many entries there are.
  public var count: Int
  /// Their total cost: in bytes, unless the level was given another cost function.
  ///
  /// A disk level counts every byte that its directory takes up, not only those of live values.
  public var cost: Int
  /// The most that ``cost`` may reach, if there is a limit.
  public var capacity: Int?
  /// The most that ``count`` may reach, if there is a limit.
  public var countLimit: Int?

  /// Creates a usage report.
  ///
  /// - Parameters:
  ///   - count: How many entries there are.
  ///   - cost: Their total cost.
  ///   - capacity: The maximum total cost; `nil` for no limit.
  ///   - countLimit: The maximum number of entries; `nil` for no limit.
  public init(count: Int, cost: Int, capacity: Int? = nil, countLimit: Int? = nil) {
    self.count = count
    self.cost = cost
    self.capacity = capacity
    self.countLimit = countLimit
  }
}

/// What a level knows about an entry without reading its value.
public struct EntrySummary<Key: Hashable & Sendable>: Sendable {
  /// The key.
  public var key: Key
  /// The cost of the entry: in bytes, unless the level was given another cost function.
  public var cost: Int
  /// When it was stored.
  public var created: CacheInstant
  /// When it expires; `nil` for never.
  public var deadline: CacheInstant?

  /// Creates a summary.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cost: The cost of the entry.
  ///   - created: When it was stored.
  ///   - deadline: When it expires; `nil` for never.
  public init(key: Key, cost: Int, created: CacheInstant, deadline: CacheInstant?) {
    self.key = key
    self.cost = cost
    self.created = created
    self.deadline = deadline
  }
}

extension EntrySummary: Codable where Key: Codable {}
