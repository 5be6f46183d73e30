/// A level made of closures: the type that stands for any level.
///
/// Get one from ``CacheLevel/normalize()``, once, at the edge of an app, where the type of a composition is in the way.
/// A look-up through it costs some hundred nanoseconds more than through the composition's own type; a value that can
/// be peeked, some ten.
///
/// It removes by keys or tags and stores on a condition if the level inside can; else that fails with
/// ``CacheError/Code/unsupported``.
public final class BasicCache<Key: Hashable & Sendable, Value: Sendable>: CacheLevel {
  /// The name of the level in errors, events and logs.
  public let name: String

  @usableFromInline let lookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let staleLookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let peekClosure: @Sendable (Key) -> Value?
  @usableFromInline let peekEntryClosure: @Sendable (Key) -> Entry<Value>?
  @usableFromInline let storeClosure: @Sendable (Value, Key, StoreTerms) async throws -> Void
  @usableFromInline let removeClosure: @Sendable (Key) async throws -> Void
  @usableFromInline let clearClosure: @Sendable () async throws -> Void
  @usableFromInline let memoryWarningClosure: @Sendable () async -> Void
  /// What was hidden, for those who show a composition.
  @usableFromInline let inner: (any CacheLevel)?

  /// Creates a level from closures.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - get: Returns the value for a key, or `nil`.
  ///   - set: Stores a value under a key.
  ///   - remove: Removes a key.
  ///   - clear: Removes everything.
  ///   - onMemoryWarning: Frees memory.
  public init(
    name: String = "BasicCache",
    get: @escaping @Sendable (Key) async throws -> Value?,
    set: @escaping @Sendable (Value, Key) async throws -> Void,
    remove: @escaping @Sendable (Key) async throws -> Void,
    clear: @escaping @Sendable () async throws -> Void,
    onMemoryWarning: @escaping @Sendable () async -> Void = {}
  ) {
    self.name = name
    lookupClosure = { key in
      guard let value = try await get(key) else { return .miss(.absent) }
      return .hit(Entry(value))
    }
    staleLookupClosure = lookupClosure
    peekClosure = { _ in nil }
    peekEntryClosure = { _ in nil }
    storeClosure = { value, key, _ in try await set(value, key) }
    removeClosure = remove
    clearClosure = clear
    memoryWarningClosure = onMemoryWarning
    inner = nil
  }

  // Inlinable, so that the closures are made where the types are known and carry specialised code.
  @inlinable
  init<Base: CacheLevel>(erasing base: Base) where Base.Key == Key, Base.Value == Value {
    name = base.name
    lookupClosure = { try await base.lookup($0) }
    staleLookupClosure = { try await base.lookupIncludingExpired($0) }
    peekClosure = { base.peek($0) }
    peekEntryClosure = { base.peekEntry($0) }
    storeClosure = { try await base.store($0, forKey: $1, terms: $2) }
    removeClosure = { try await base.remove($0) }
    clearClosure = { try await base.clear() }
    memoryWarningClosure = { await base.onMemoryWarning() }
    inner = base
  }

  /// Returns the value held for a key, or `nil` if there is none.
  ///
  /// - Throws: The error of the level inside.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = peekClosure(key) { return value }
    return try await lookupClosure(key).entry?.value
  }

  /// Returns the entry for a key, or the reason for the miss.
  ///
  /// - Throws: The error of the level inside.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if let entry = peekEntryClosure(key) { return .hit(entry) }
    return try await lookupClosure(key)
  }

  /// Returns the entry for a key even if it has expired, as long as the level inside keeps it.
  ///
  /// - Throws: The error of the level inside.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { try await staleLookupClosure(key) }

  /// Returns the value if the level can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { peekClosure(key) }

  /// Returns the entry if the level can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { peekEntryClosure(key) }

  /// Stores a value under a key.
  ///
  /// - Throws: The error of the level inside.
  public func set(_ value: Value, forKey key: Key) async throws { try await storeClosure(value, key, StoreTerms()) }

  /// Stores a value under a key on terms of its own.
  ///
  /// - Throws: The error of the level inside.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await storeClosure(value, key, terms)
  }

  /// Removes the value for a key.
  ///
  /// - Throws: The error of the level inside.
  public func remove(_ key: Key) async throws { try await removeClosure(key) }

  /// Removes everything.
  ///
  /// - Throws: The error of the level inside.
  public func clear() async throws { try await clearClosure() }

  /// Frees memory.
  public func onMemoryWarning() async { await memoryWarningClosure() }

  /// Returns this very level.
  ///
  /// - Returns: The level itself.
  public func normalize() -> BasicCache { self }
}

extension BasicCache: SelectiveRemoval, TaggedLevel, ConditionalLevel, UpdatableLevel, ReloadableLevel {
  /// Removes the entries whose keys meet a condition.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unsupported`` if the level inside cannot; else its error.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    guard let able = inner as? any SelectiveRemoval<Key, Value> else { throw unsupported("remove by keys") }
    return try await able.removeAll(where: condition)
  }

  /// Removes every entry that was stored with a tag.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed.
  /// - Throws: As ``removeAll(where:)``.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    guard let able = inner as? any TaggedLevel else { throw unsupported("remove by tags") }
    return try await able.removeAll(tagged: tag)
  }

  /// Stores a value if a condition holds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and who stores it.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the condition held.
  /// - Throws: As ``removeAll(where:)``.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    guard let able = inner as? any ConditionalLevel<Key, Value> else { throw unsupported("store on a condition") }
    return try await able.store(value, forKey: key, terms: terms, if: condition)
  }

  /// Puts a value in the place of the one before.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - terms: How long the new value may live and what it weighs.
  ///   - change: Makes the new value of the present one. `nil` removes it.
  /// - Returns: The value that was stored; `nil` if there is none now.
  /// - Throws: As ``removeAll(where:)``; what the closure throws.
  @discardableResult
  public func update(
    _ key: Key, terms: StoreTerms = StoreTerms(), _ change: (Value?) throws -> Value?
  ) async throws -> Value? {
    guard let able = inner as? any UpdatableLevel<Key, Value> else { throw unsupported("update") }
    return try await able.update(key, terms: terms, change)
  }

  /// Reloads a key from the lowest level; a level with none below is read as usual.
  ///
  /// - Parameter key: The key to read again.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: The error of the lowest level; `CancellationError`.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    guard let able = inner as? any ReloadableLevel<Key, Value> else { return try await lookup(key) }
    return try await able.reload(key)
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "the level whose type was hidden cannot \(what); nothing was changed", level: name)
  }
}

// What is behind the closures is known at run time only.
extension BasicCache: InvalidatableLevel {
  /// Forgets the copies in the level inside; one that keeps none has nothing to forget.
  ///
  /// - Throws: The error of the level inside.
  public func invalidate(_ key: Key) async throws {
    try await (inner as? any InvalidatableLevel<Key, Value>)?.invalidate(key)
  }

  /// Forgets all copies in the level inside; one that keeps none has nothing to forget.
  ///
  /// - Throws: The error of the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await (inner as? any InvalidatableLevel<Key, Value>)?.invalidateAll(cause)
  }
}

extension BasicCache {
  /// Returns the value for a key, and lets the level inside load it if there is none.
  ///
  /// - Throws: The error of the closure; `CancellationError` if this caller was cancelled.
  public func value(
    forKey key: Key, orLoad load: @escaping @Sendable (_ expired: Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    guard let level = inner as? any CacheLevel<Key, Value> else { return try await loadedOnce(key, load) }
    return try await level.value(forKey: key, orLoad: load)
  }
}

extension BasicCache: RenewingLevel {
  /// If the level inside makes use of expired entries.
  public var renews: Bool { (inner as? any CacheLevel<Key, Value>)?.renewer != nil }

  /// Asks the level inside, with an expired entry to renew if it can make use of that.
  ///
  /// - Throws: The error of the level inside.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard let level = inner as? any CacheLevel<Key, Value> else { return try await lookup(key) }
    return try await level.lookupIfAble(key, renewing: old)
  }
}

extension CacheLevel {
  /// Hides the type of this level behind closures.
  ///
  /// - Returns: A level that forwards everything. A level that is one already returns itself.
  @inlinable
  public func normalize() -> BasicCache<Key, Value> {
    (self as? BasicCache<Key, Value>) ?? BasicCache(erasing: self)
  }
}

extension CacheLevel {
  /// This level, or what it hides.
  @usableFromInline var unerased: any CacheLevel { (self as? BasicCache<Key, Value>)?.inner ?? self }
}

extension BasicCache {
  /// As the level inside.
  public var storesAtOnce: Bool { inner?.storesAtOnce ?? false }
}
