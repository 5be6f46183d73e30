/// Lets simultaneous reads of one key share one read of the level below.
///
/// Built by ``CacheLevel/pooled(name:observer:clock:)``. However many callers ask for a key at once, the level below is
/// asked once, and all of them get its one answer: value, miss or error. Nothing is kept afterwards.
///
/// - A caller that is cancelled returns at once with `CancellationError`; the others go on waiting. The load belongs to none of
///   them: the first one may leave like any other. When the last one leaves, the load is cancelled, and the next caller
///   starts a new one.
/// - The load runs in a task of its own. It has the task-local values of the caller that began it, whoever else may wait: what
///   a request carries in them (an identity, a trace) is that of the first one. It takes the priority of the most urgent caller.
/// - A load that asks this pool for the key that it is loading, directly or through others that wait for each other in a circle, gets
///   an error (``CacheError/Code/circular``) instead of waiting for ever. This is detected for child tasks of the load and tasks
///   started by it, but not if work is handed to somebody else's task.
/// - Below a composition, `memory.compose(source.pooled())`, a load ends when the upper level has its value: a caller that missed
///   above joins it, or finds the value, and never begins another load in between.
/// - Writes are not pooled. After a set, removal, clear or reload, once a value that was computed here is stored, and once a
///   composition inside has heard of a change by another process, callers no longer join a read that began earlier.
public final class PooledLevel<Base: CacheLevel>: CacheLevel {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The name of the pool in events.
  public let name: String
  /// The level that is asked once.
  public let base: Base

  @usableFromInline let sharedReads: SharedReads<Key, Value>
  @usableFromInline let computations: SharedLoads<Key, Value>
  @usableFromInline let gate = WriteGate<Key>()
  @usableFromInline let recorder: OperatorRecorder

  /// The executor is for the loads, which inherit none.
  // Inlinable, so that the closure is made where the types are known.
  @inlinable
  init(base: Base, recorder: OperatorRecorder, executor: (any TaskExecutor)? = nil) {
    self.base = base
    self.recorder = recorder
    name = recorder.name
    let loads = SharedLoads<Key, SharedAnswer<Value>>(recorder: recorder, executor: executor)
    sharedReads = PoolReads(loads, of: base)
    computations = SharedLoads(recorder: recorder, executor: executor)
    listen()
  }

  /// Lets nobody join a load from before a change that a composition inside has heard of.
  @usableFromInline
  func listen() {
    for (level, hasSameKeys) in base.listeners() {
      level.tell { [weak self] key in
        if hasSameKeys, let key, let key = key as? Key { self?.detach(key) } else { self?.detachAll() }
        return self != nil
      }
    }
  }

  @inlinable var reads: SharedLoads<Key, SharedAnswer<Value>> { sharedReads.loads }

  /// Returns the value of the level below, read once for all callers that ask at the same time.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The error of the shared read; `CancellationError` if this caller was cancelled.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = base.peek(key) { return value }
    return try await reads.answer(for: key, LevelRead(self, key)).lookup.value
  }

  /// Returns the value of the level below, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level below, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }

  /// Returns the answer of the level below, read once for all callers that ask at the same time.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if let entry = base.peekEntry(key) { return .hit(entry) }
    return try await lookupPastPeek(key)
  }

  /// Returns what `lookup(_:)` does, without a look at what the level below has at once.
  @inlinable
  public func lookupPastPeek(_ key: Key) async throws -> Lookup<Value> {
    try await reads.answer(for: key, LevelRead(self, key)).lookup
  }

  /// Returns the value for a key, computing and storing it if there is none.
  ///
  /// However many callers ask at once, the value is computed once, by the closure of the first caller, and all of them get it or
  /// the one error. A set, removal or clear through this level while the value is being computed
  /// wins: the value is then returned but not stored, or removed again if a clear came while it was being stored. A store that fails
  /// is reported to the observer and fails no caller.
  ///
  /// ```swift
  /// let thumbnail = try await thumbnails.value(forKey: photo) { try await render(photo) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - expiry: When a value computed here expires; `nil` for the level's own default.
  ///   - compute: Computes the value. It is cancelled when the last caller that waits for it is.
  /// - Returns: The value found or computed.
  /// - Throws: The error of the closure; `CancellationError` if this caller was cancelled; ``CacheError`` with code
  ///   ``CacheError/Code/circular`` if the closure asks this pool, directly or not, for the value that it computes, or for one
  ///   whose computation waits for that. If the level cannot be read, the observer is told, and the value is computed.
  public func value(
    forKey key: Key, expiry: Expiry? = nil, orCompute compute: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if let value = base.peek(key) { return value }
    return try await made(key, isShown: false) { _ in .value(try await compute(), expiry: expiry) }
  }

  /// Returns the value for a key, loading and storing it if there is none or it has expired.
  ///
  /// As ``CacheLevel/value(forKey:orLoad:)``; the loads are those of this pool, and are reported to its observer.
  ///
  /// - Throws: As ``CacheLevel/value(forKey:orLoad:)``.
  public func value(
    forKey key: Key, orLoad load: @escaping @Sendable (_ expired: Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    if let value = base.peek(key) { return value }
    return try await made(key, isShown: true, load)
  }

  private func made(
    _ key: Key, isShown: Bool, _ load: @escaping @Sendable (Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    try await computations.answer(
      for: key,
      ClosureLoad { [self] in
        try await makeValue(key, reading: base, isShown: isShown, LoadTicket(gate, key), recorder, load)
      })
  }

  /// Returns what the level below has for a key, including expired entries; this is not pooled.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(key)
  }

  /// Stores a value in the level below.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the level below on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    if terms.load != nil, try await storeLoaded(value, key, terms) { return }
    try await write(key) { try await base.store(value, forKey: key, terms: terms) }
  }

  /// Removes the value for a key from the level below.
  @inlinable
  public func remove(_ key: Key) async throws {
    try await write(key) { try await base.remove(key) }
  }

  /// Removes everything from the level below.
  public func clear() async throws {
    defer { detachAll() }
    try await gate.sweep(.everything) { try await base.clear() }
  }

  /// Passes the warning to the level below.
  public func onMemoryWarning() async { await base.onMemoryWarning() }

  /// Nothing is under way.
  var isIdle: Bool { reads.isIdle && computations.isIdle }

  @inlinable
  func write<Answer>(_ key: Key, _ body: () async throws -> Answer) async throws -> Answer {
    defer { detach(key) }
    return try await gate.write(key, body)
  }

  @inlinable
  func detach(_ key: Key) {
    reads.detach(key)
    computations.detach(key)
  }

  func detachAll() {
    reads.detachAll()
    computations.detachAll()
  }
}

extension PooledLevel: SharingLevel {}

extension PooledLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value in the level below if a condition holds.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await write(key) { try await base.store(value, forKey: key, terms: terms, if: condition) }
  }
}

extension PooledLevel: UpdatableLevel where Base: UpdatableLevel {
  /// Replaces a value with one computed from it, in the level below.
  @discardableResult
  public func update(
    _ key: Key, terms: StoreTerms = StoreTerms(), _ change: (Value?) throws -> Value?
  ) async throws -> Value? {
    try await write(key) { try await base.update(key, terms: terms, change) }
  }
}

extension PooledLevel: ReloadableLevel {
  /// Reads a key from the level below, or lets that reload it.
  ///
  /// This is not shared, and no later caller joins an earlier read.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    defer { reads.detach(key) }
    return try await base.reloadIfAble(key)
  }
}

extension PooledLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level below.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    defer { detachAll() }
    return try await gate.sweep(.tagged(tag)) { try await base.removeAll(tagged: tag) }
  }
}

extension PooledLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level below.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    defer { detachAll() }
    return try await gate.sweep(.keys(condition)) { try await base.removeAll(where: condition) }
  }
}

extension PooledLevel: InvalidatableLevel {
  /// Lets later callers share no load that began before, and forgets the copies in the level below, if that keeps any.
  public func invalidate(_ key: Key) async throws {
    defer { detach(key) }
    try await gate.sweep(.key(key)) { try await base.invalidateIfAble(key) }
  }

  /// Lets later callers share no load that began before, and forgets all copies in the level below, if that keeps any.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    defer { detachAll() }
    try await gate.sweep(.everything) { try await base.invalidateAllIfAble(cause) }
  }
}

extension CacheLevel {
  /// Lets simultaneous reads of one key share one read of this level.
  ///
  /// - Parameters:
  ///   - name: The name of the pool in events.
  ///   - observer: Notified of who waits for which load.
  ///   - clock: The clock by which loads are timed, if there is an observer.
  /// - Returns: The pooled level.
  @inlinable
  public func pooled(
    name: String = "pool", observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock()
  ) -> PooledLevel<Self> {
    PooledLevel(base: self, recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }
}

extension PooledLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("pooled", name: name), base) }
}
