public import CacheCore

/// Holds values in memory, bounded by cost and by count, with an eviction policy of your choice.
///
/// The default policy, ``Eviction/adaptive``, follows whichever of several strategies would have had the most hits lately. If you
/// need exact order of use, choose ``Eviction/lru``.
///
/// The cost of an entry is what the cost function says. Values that are ``CostRepresentable`` (data, text) have a cost of their own in
/// bytes, and the default capacity is 50 MiB. Other values cost 1 each, and the capacity is a number of entries, by default
/// 100,000. Both limits hold at every moment: an insertion makes room before it is visible.
/// A value with a cost above the whole capacity is not stored and evicts nothing else, but the previous value
/// under its key is removed, since it is out of date. A memory warning empties the level. Limits can be changed later
/// (``resize(capacity:countLimit:)``), and entries can be protected from eviction (``pin(_:)``).
///
/// A level with many entries is divided, so that threads that write rarely wait for each other: the limits remain those of the
/// whole, and the entry to evict is chosen among some of them (<doc:MemoryLevel>). With ``Eviction/lru`` it is never divided.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20, expiry: .after(.seconds(60)))
/// try await memory.set(Data("…".utf8), forKey: "avatar")
/// ```
///
/// Every method can be called from any thread. A read reads the clock only for entries that can expire. The clock, the cost
/// function, the listener, and the deinitialisers of values never run under the level's lock. The `==` of keys does and,
/// if entries have tags, so does their `hash(into:)`: neither may use the level.
public final class MemoryCacheLevel<Key: Hashable & Sendable, Value: Sendable>: StorageLevel, ConditionalLevel,
  TaggedLevel,
  ExpiringLevel
{
  /// The name of the level in errors, events and logs.
  public let name: String
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  public let expiry: Expiry
  /// How long an expired entry is kept for callers that ask for stale values.
  public let keepsExpired: Duration

  @usableFromInline let clock: any CacheClock
  @usableFromInline let hasSystemClock: Bool
  /// What is stored without a lifetime has one all the same.
  @usableFromInline let isMortal: Bool
  @usableFromInline let idleLimit: Duration?
  /// What is stored without terms cannot expire, and nobody is told of what leaves.
  @usableFromInline let isPlain: Bool
  /// `nil` where every entry costs 1, so that nothing is called to learn it.
  @usableFromInline let cost: (@Sendable (Key, Value) -> Int)?
  @usableFromInline let removalListener: (@Sendable (Removal<Key>) -> Void)?
  @usableFromInline let hashing = KeyHashing<Key>()
  @usableFromInline let parts: MemoryParts<Key, Value>

  /// Creates a memory level with a cost function.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - capacity: The maximum total cost of the entries. At least 0.
  ///   - countLimit: The maximum number of entries; `nil` for no limit. At least 0.
  ///   - eviction: The policy that chooses which entry to evict.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - timeToIdle: How long an entry may go unread before it expires; `nil` for no such limit.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left.
  ///   - cost: The cost of an entry. A negative cost counts as 0.
  public convenience init(
    name: String = "memory", capacity: Int = 50 << 20, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, timeToIdle: Duration? = nil,
    clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil,
    cost: @escaping @Sendable (Key, Value) -> Int
  ) {
    self.init(
      name, capacity, countLimit, eviction, expiry, keepsExpired, timeToIdle, clock, removalListener, cost,
      division: LevelDivision(capacity, countLimit, eviction, isWeighted: true))
  }

  init(
    _ name: String, _ capacity: Int, _ countLimit: Int?, _ eviction: Eviction, _ expiry: Expiry,
    _ keepsExpired: Duration, _ timeToIdle: Duration?, _ clock: any CacheClock,
    _ removalListener: (@Sendable (Removal<Key>) -> Void)?,
    _ cost: (@Sendable (Key, Value) -> Int)?, division: LevelDivision
  ) {
    precondition(capacity >= 0, "a capacity cannot be negative")
    precondition(countLimit ?? 0 >= 0, "a count limit cannot be negative")
    self.name = name
    self.expiry = expiry
    self.keepsExpired = max(.zero, keepsExpired)
    self.clock = clock
    hasSystemClock = clock is SystemClock
    isMortal = expiry != .never
    idleLimit = timeToIdle
    self.cost = cost
    self.removalListener = removalListener
    isPlain = !isMortal && timeToIdle == nil && removalListener == nil
    let order = MemoryOrder(
      capacity: capacity, countLimit: countLimit, eviction: eviction, mostUndivided: division.mostUndivided)
    parts = MemoryParts(
      MemoryEntries(uses: order.policy.uses, idle: timeToIdle.map(IdleTimes.init)), order, most: division.parts)
  }

  /// Creates a memory level in which every entry costs 1.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - capacity: The maximum number of entries. At least 0.
  ///   - countLimit: Another limit of the same kind; `nil` for none. At least 0.
  ///   - eviction: The policy that chooses which entry to evict.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - timeToIdle: How long an entry may go unread before it expires; `nil` for no such limit.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left.
  public convenience init(
    name: String = "memory", capacity: Int = 100_000, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, timeToIdle: Duration? = nil,
    clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) {
    self.init(
      name, capacity, countLimit, eviction, expiry, keepsExpired, timeToIdle, clock, removalListener, nil,
      division: LevelDivision(capacity, countLimit, eviction, isWeighted: false))
  }

  /// The usual clock is asked without the detour over its protocol.
  @inlinable var now: CacheInstant { hasSystemClock ? SystemClock().now : clock.now }

  /// Whether a moment is still to come.
  @inlinable
  func isAhead(_ moment: CacheInstant) -> Bool {
    hasSystemClock ? SystemClock.isAhead(moment) : moment > clock.now
  }

  /// Stores a value with the level's default lifetime.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(1) on average, plus O(1) for every entry that leaves.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    setNow(value, forKey: key)
  }

  /// Without terms, since making and releasing some costs as much as finding an entry.
  @inlinable
  func setNow(_ value: Value, forKey key: Key) {
    let now = now
    var entry = MemoryEntry(value: value, cost: max(0, cost?(key, value) ?? 1), created: now)
    if isPlain { return putPlain(entry, forKey: key, now: now) }
    if let deadline { entry.deadline = deadline }
    _ = insert(entry, forKey: key, tags: nil, now: now, if: nil, unwrittenSince: nil)
  }

  /// Stores an entry without tags that cannot expire, where nothing is idle and nobody is told of what leaves.
  @inlinable
  @inline(__always)
  func putPlain(_ entry: MemoryEntry<Value>, forKey key: Key, now: CacheInstant) {
    let hash = hashing(key)
    // What it takes the place of leaves with it, without the lock.
    var entry = entry
    // Filled in where it lies: to return it from under the lock is to copy it.
    var departed = Departed<Key, Value>()
    let left: Key? = parts.withLock(of: hash) { entries, order in
      let place = unsafe entries.table.locate(key, hash)
      if let place = unsafe place {
        if unsafe entries.overwrite(place.slot, place.record, hash: hash, with: &entry, order: &order) { return nil }
      } else if let left = entries.replace(
        with: key, &entry, hash: hash, order: &order, departed: &departed)
      {
        return left
      }
      unsafe entries.insert(
        Table.Record(key: key, entry: entry), hash: hash, over: place?.slot, tags: nil, keepsExpired: keepsExpired,
        now: now, order: &order, departed: &departed)
      return nil
    }
    // What made room leaves here, without the lock.
    withExtendedLifetime(left) {}
    if case .nothing = departed.followUp { return }
    follow(departed.followUp, entry, key, hash, tags: nil, now: now)
  }

  /// Stores a value on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and what it weighs.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    _ = insert(value, forKey: key, terms: terms, if: nil)
  }

  /// Stores a value on terms of its own, as ``store(_:forKey:terms:)`` does.
  @inlinable
  public func storeAtOnce(_ value: Value, forKey key: Key, terms: StoreTerms) -> Bool {
    insert(value, forKey: key, terms: terms, if: nil)
  }

  /// Stores a value if a condition holds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and what it weighs.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the condition held. A value that there is no room for is not stored then.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    insert(value, forKey: key, terms: terms, if: condition)
  }

  /// Removes the value for a key.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func remove(_ key: Key) async throws {
    removeNow(key)
  }

  /// The moment at which what is stored now expires; `nil` for never.
  @usableFromInline var deadline: CacheInstant? {
    if isMortal, let deadline = expiry.deadline(by: clock) { return deadline }
    return idleLimit == nil ? nil : CacheInstant(nanoseconds: .max)
  }

  @inlinable
  func removeNow(_ key: Key) {
    let hash = hashing(key)
    if let removed = parts.withLock(of: hash, { $0.remove(key, hash: hash, order: &$1) }) {
      report(removed, cause: .removed)
    }
  }

  /// Stores a value, if a condition holds, or if nothing was written since an update looked.
  @inlinable
  @inline(never)
  func insert(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition?, unwrittenSince seen: Int? = nil
  ) -> Bool {
    let now = now
    var deadline: CacheInstant?
    if isMortal || terms.canExpire { deadline = terms.deadline(levelDefault: expiry, clock: clock) }
    // Whatever can be idle can expire.
    if idleLimit != nil, deadline == nil { deadline = CacheInstant(nanoseconds: .max) }
    let cost = max(0, terms.cost ?? cost?(key, value) ?? 1)
    let entry = MemoryEntry(value: value, cost: cost, created: terms.created ?? now, deadline: deadline)
    let tags = terms.knownTags
    if isPlain, deadline == nil, tags == nil, condition == nil, seen == nil {
      putPlain(entry, forKey: key, now: now)
      return true
    }
    return insert(entry, forKey: key, tags: tags, now: now, if: condition, unwrittenSince: seen)
  }

  @inlinable
  @inline(never)
  func insert(
    _ entry: MemoryEntry<Value>, forKey key: Key, tags: Set<String>?, now: CacheInstant,
    if condition: StoreCondition?, unwrittenSince seen: Int?, mayDropDue: Bool = true
  ) -> Bool {
    let hash = hashing(key)
    let isPlain = tags == nil && entry.deadline == nil && removalListener == nil
    // What it takes the place of leaves with it, without the lock.
    var entry = entry
    var isStored = true
    var departed = Departed<Key, Value>()
    departed.mayDropDue = mayDropDue
    parts.withLock(of: hash) { entries, order in
      if let condition, !condition.holds(isHeld: entries.holds(key, hash: hash, at: now)) {
        isStored = false
        return
      }
      if let seen, entries.updates.writes(hash) != seen {
        isStored = false
        return
      }
      let place = unsafe entries.table.locate(key, hash)
      if isPlain, let place = unsafe place,
        unsafe entries.overwrite(place.slot, place.record, hash: hash, with: &entry, order: &order)
      {
        return
      }
      unsafe entries.insert(
        Table.Record(key: key, entry: entry), hash: hash, over: place?.slot, tags: tags, keepsExpired: keepsExpired,
        now: now, order: &order, departed: &departed)
    }
    guard isStored else { return false }
    if removalListener != nil { report(departed, now: now, madeRoomFor: key) }
    if case .nothing = departed.followUp { return true }
    return follow(departed.followUp, entry, key, hash, tags: tags, now: now, if: condition, unwrittenSince: seen)
  }

  /// Does what an insertion left to be done without the lock; returns whether the entry was stored.
  @inlinable
  @inline(never)
  @discardableResult
  func follow(
    _ followUp: Departed<Key, Value>.FollowUp, _ entry: MemoryEntry<Value>, _ key: Key, _ hash: UInt32,
    tags: Set<String>?, now: CacheInstant, if condition: StoreCondition? = nil, unwrittenSince seen: Int? = nil
  ) -> Bool {
    switch followUp {
    case .nothing: return true
    case .divide:
      parts.divide(keepsExpired: keepsExpired, now: now)
      return true
    case .makeRoom(let cost, let count):
      makeRoom(cost: cost, count: count, for: key, hash, now: now)
      return insert(entry, forKey: key, tags: tags, now: now, if: condition, unwrittenSince: seen)
    case .dropDue:
      removeDue(now: now)
      return insert(
        entry, forKey: key, tags: tags, now: now, if: condition, unwrittenSince: seen, mayDropDue: false)
    }
  }

  @usableFromInline typealias Table = EntryTable<Key, Value>

  @inlinable
  @inline(never)
  func report(_ departed: borrowing Departed<Key, Value>, now: CacheInstant, madeRoomFor key: Key? = nil) {
    departed.forEach { record, isReplaced in
      let isOver = record.entry.deadline.map { $0 <= now } ?? false
      let cause: RemovalCause = isReplaced ? .replaced : isOver ? .expired : .evicted
      report(record, cause: cause, madeRoomFor: cause == .evicted ? key : nil)
    }
  }

  @usableFromInline
  func report(_ record: Table.Record, cause: RemovalCause, madeRoomFor key: Key? = nil) {
    removalListener?(Removal(key: record.key, cause: cause, cost: record.entry.cost, madeRoomFor: key))
  }
}

extension MemoryCacheLevel where Value: CostRepresentable {
  /// Creates a memory level in which every entry costs what its value says: the bytes of data and of text.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - capacity: The maximum total cost of the entries. At least 0.
  ///   - countLimit: The maximum number of entries; `nil` for no limit. At least 0.
  ///   - eviction: The policy that chooses which entry to evict.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - timeToIdle: How long an entry may go unread before it expires; `nil` for no such limit.
  ///   - clock: The clock by which lifetimes are measured.
  ///   - removalListener: Called for every entry that leaves, after it has left.
  public convenience init(
    name: String = "memory", capacity: Int = 50 << 20, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, timeToIdle: Duration? = nil,
    clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) {
    self.init(
      name: name, capacity: capacity, countLimit: countLimit, eviction: eviction, expiry: expiry,
      keepsExpired: keepsExpired, timeToIdle: timeToIdle, clock: clock, removalListener: removalListener,
      cost: { $1.cost })
  }
}

extension MemoryCacheLevel {
  /// Memory does.
  @inlinable public var storesAtOnce: Bool { true }
}

extension MemoryCacheLevel: ImmediateLevel {
  package func removeAtOnce(_ key: Key) { removeNow(key) }
}

extension MemoryCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "memory") } }
