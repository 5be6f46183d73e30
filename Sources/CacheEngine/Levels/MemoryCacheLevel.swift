#if !CACHEENGINE_TSAN
  public import Synchronization
#endif

/// Holds values in memory, bounded by cost and by count; what leaves first is a choice.
///
/// By default that is what was not used for the longest time, until one of a few other ways would have had more hits:
/// ``Eviction/adaptive``. Where the order of use is what matters, ask for ``Eviction/lru``.
///
/// The cost of an entry is what the cost function says, by default 1, or for values that are ``CostRepresentable``
/// (data, text, numbers) their own. Both limits hold at every moment: an insertion makes room before it is visible.
/// A value heavier than the whole capacity is not kept, nothing else leaves for it, and the value stored before
/// under that key is gone, since it is no longer true. A memory warning empties the level.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20, expiry: .after(.seconds(60)))
/// try await memory.set(Data("…".utf8), forKey: "avatar")
/// ```
///
/// Every method can be called from any thread. The clock is read only for entries that can expire; the clock, the cost
/// function, the listener, and the deinitialisers of values never run under the level's lock.
public final class MemoryCacheLevel<Key: Hashable & Sendable, Value: Sendable>: StorageLevel, ConditionalLevel,
  TaggedLevel,
  ExpiringLevel
{
  /// What the level is called in errors, events and logs.
  public let name: String
  /// The lifetime of what is stored without one, and the longest lifetime of what a back-fill brings.
  public let expiry: Expiry
  /// For how long an expired entry stays, for those who ask for stale values.
  public let keepsExpired: Duration

  @usableFromInline let clock: any CacheClock
  private let cost: @Sendable (Key, Value) -> Int
  private let removalListener: (@Sendable (Removal<Key>) -> Void)?
  @usableFromInline let state: Mutex<MemoryEntries<Key, Value>>

  /// Creates a memory level with a cost function.
  ///
  /// - Parameters:
  ///   - name: What the level is called in errors, events and logs.
  ///   - capacity: The most that the entries may cost together. At least 0.
  ///   - countLimit: The most entries that there may be; `nil` for no limit. At least 0.
  ///   - eviction: Which entry leaves when room is needed.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left.
  ///   - cost: What an entry weighs. A negative cost counts as 0.
  public init(
    name: String = "memory", capacity: Int = 50 << 20, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil,
    cost: @escaping @Sendable (Key, Value) -> Int
  ) {
    precondition(capacity >= 0, "a capacity cannot be negative")
    precondition(countLimit ?? 0 >= 0, "a count limit cannot be negative")
    self.name = name
    self.expiry = expiry
    self.keepsExpired = keepsExpired
    self.clock = clock
    self.cost = cost
    self.removalListener = removalListener
    state = Mutex(MemoryEntries(capacity: capacity, countLimit: countLimit, eviction: eviction))
  }

  /// Creates a memory level in which every entry costs 1.
  ///
  /// - Parameters:
  ///   - name: What the level is called in errors, events and logs.
  ///   - capacity: The most that the entries may cost together. At least 0.
  ///   - countLimit: The most entries that there may be; `nil` for no limit. At least 0.
  ///   - eviction: Which entry leaves when room is needed.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left.
  public convenience init(
    name: String = "memory", capacity: Int = 50 << 20, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) {
    self.init(
      name: name, capacity: capacity, countLimit: countLimit, eviction: eviction, expiry: expiry,
      keepsExpired: keepsExpired, clock: clock, removalListener: removalListener, cost: { _, _ in 1 })
  }

  /// Returns the value held for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(1) on average.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = peek(key) { return value }
    return try await lookup(key).entry?.value
  }

  /// Returns the value held for a key, at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if there is none or it has expired.
  /// - Complexity: O(1) on average.
  @inlinable
  public func peek(_ key: Key) -> Value? {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    guard let entry = state.withLock({ $0.read(key, hash: hash) }) else { return nil }
    if let deadline = entry.deadline, deadline <= clock.now { return nil }
    return entry.value
  }

  /// Returns the entry for a key, or why there is none; an expired entry that is kept no longer is dropped on the way.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or ``MissReason/absent`` or ``MissReason/expired``.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { find(key, includingExpired: false) }

  /// Returns the entry for a key even if it has expired, for as long as ``keepsExpired`` says.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or ``MissReason/absent`` or ``MissReason/expired``.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { find(key, includingExpired: true) }

  @inlinable
  func find(_ key: Key, includingExpired: Bool) -> Lookup<Value> {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    let (read, tags) = state.withLock { ($0.read(key, hash: hash), $0.tags.tags(of: key)) }
    guard let found = read else { return .miss(.absent) }
    var entry = Entry(
      found.value, deadline: found.deadline, cost: found.cost, level: name, created: found.created)
    entry.tags = tags
    guard let deadline = found.deadline, deadline <= clock.now else { return .hit(entry) }
    guard deadline.advanced(by: keepsExpired) <= clock.now else {
      entry.isStale = true
      return includingExpired ? .hit(entry) : .miss(.expired)
    }
    dropExpired(key, deadline: deadline)
    return .miss(.expired)
  }

  /// Drops only the entry that was seen: a newer one may have come since.
  @usableFromInline
  func dropExpired(_ key: Key, deadline: CacheInstant) {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    report(state.withLock { $0.remove(key, hash: hash) { $0.deadline == deadline } }, cause: .expired)
  }

  /// Stores a value for as long as the level's default lifetime says.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(1) on average, plus O(1) for every entry that leaves.
  public func set(_ value: Value, forKey key: Key) async throws {
    _ = insert(value, forKey: key, terms: StoreTerms(), if: nil)
  }

  /// Stores a value on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and what it weighs.
  /// - Throws: Nothing: memory always answers.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    _ = insert(value, forKey: key, terms: terms, if: nil)
  }

  /// Stores a value if a condition holds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and what it weighs.
  ///   - condition: What must hold of the key.
  /// - Returns: Whether the value was stored.
  /// - Throws: Nothing: memory always answers.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    insert(value, forKey: key, terms: terms, if: condition)
  }

  /// Removes the value for a key.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: Nothing: memory always answers.
  public func remove(_ key: Key) async throws {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    report(state.withLock { $0.remove(key, hash: hash) { _ in true } }, cause: .removed)
  }

  /// Removes everything.
  public func clear() async throws { empty(cause: .cleared) }

  /// Removes everything: what is in memory only is not durable.
  public func onMemoryWarning() async { empty(cause: .memoryWarning) }

  /// How much is held, and how much may be.
  public var usage: LevelUsage { state.withLock { $0.usage } }

  /// Every entry held, in no particular order.
  ///
  /// - Returns: One summary for each entry.
  public func contents() async throws -> [EntrySummary<Key>] { state.withLock { $0.summaries } }

  /// Whether there is an entry that has not expired, at once.
  ///
  /// It does not count as a use.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is one.
  /// - Complexity: O(1) on average.
  public func contains(_ key: Key) -> Bool {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    let now = clock.now
    return state.withLock { $0.holds(key, hash: hash, at: now) }
  }

  /// Ends the lifetime of an entry now.
  ///
  /// - Parameter key: The key of the entry.
  /// - Throws: Nothing: memory always answers.
  public func expire(_ key: Key) async throws {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    let now = clock.now
    state.withLock { $0.setDeadline(now, for: key, hash: hash) }
  }

  /// Drops the entries whose deadline has passed, but those that ``keepsExpired`` still keeps.
  ///
  /// - Returns: How many were dropped.
  /// - Complexity: O(n).
  @discardableResult
  public func removeExpired() async throws -> Int {
    let past = clock.now.advanced(by: .zero - keepsExpired)
    let dropped = state.withLock { $0.removeAll { $0.deadline.map { $0 <= past } ?? false } }
    for entry in dropped { report(entry, cause: .expired) }
    return dropped.count
  }

  /// Removes every entry that was stored with a tag.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(k) for k entries with the tag.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    let dropped = state.withLock { $0.removeAll(tagged: tag) }
    for entry in dropped { report(entry, cause: .removed) }
    return dropped.count
  }

  private func insert(_ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition?) -> Bool {
    let hash = SlotTable<Key, MemoryEntry<Value>>.hash(key)
    let now = clock.now
    let entry = MemoryEntry(
      value: value, cost: max(0, terms.cost ?? cost(key, value)), created: terms.created ?? now,
      deadline: terms.deadline(levelDefault: expiry, clock: clock))
    let left = state.withLock { entries -> (replaced: Slot?, evicted: [Slot])? in
      guard condition?.holds(isHeld: entries.holds(key, hash: hash, at: now)) ?? true else { return nil }
      return entries.insert(key, hash: hash, entry: entry, tags: terms.tags)
    }
    guard let left else { return false }
    report(left.replaced, cause: .replaced)
    for entry in left.evicted {
      let isOver = entry.payload.deadline.map { $0 <= now } ?? false
      report(entry, cause: isOver ? .expired : .evicted, madeRoomFor: isOver ? nil : key)
    }
    return true
  }

  private func empty(cause: RemovalCause) {
    let dropped = state.withLock { $0.takeAll() }
    guard removalListener != nil else { return }
    for entry in dropped { report(entry, cause: cause) }
  }

  private typealias Slot = SlotTable<Key, MemoryEntry<Value>>.Slot

  private func report(_ slot: Slot?, cause: RemovalCause, madeRoomFor: Key? = nil) {
    guard let slot, let removalListener else { return }
    removalListener(Removal(key: slot.key, cause: cause, cost: slot.payload.cost, madeRoomFor: madeRoomFor))
  }
}

extension MemoryCacheLevel where Value: CostRepresentable {
  /// Creates a memory level in which every entry costs what its value says: bytes of data, characters of text.
  ///
  /// - Parameters:
  ///   - name: What the level is called in errors, events and logs.
  ///   - capacity: The most that the entries may cost together. At least 0.
  ///   - countLimit: The most entries that there may be; `nil` for no limit. At least 0.
  ///   - eviction: Which entry leaves when room is needed.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values.
  ///   - clock: The clock that lifetimes are measured by.
  ///   - removalListener: Told of every entry that leaves, after it left.
  public convenience init(
    name: String = "memory", capacity: Int = 50 << 20, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    expiry: Expiry = .never, keepsExpired: Duration = .zero, clock: any CacheClock = SystemClock(),
    removalListener: (@Sendable (Removal<Key>) -> Void)? = nil
  ) {
    self.init(
      name: name, capacity: capacity, countLimit: countLimit, eviction: eviction, expiry: expiry,
      keepsExpired: keepsExpired, clock: clock, removalListener: removalListener, cost: { $1.cost })
  }
}
