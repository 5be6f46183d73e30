public import CacheEngine

/// A level whose operations fail or take long when an injector says so.
///
/// Built by `CacheLevel.injectingFaults(_:)`. Memory warnings always get through, and so do `usage` and `contents()` of a storage
/// level.
public struct FaultInjectingLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level that works.
  public let base: Base
  /// Says what goes wrong.
  public let injector: FaultInjector

  /// Asks the level inside, unless the injector makes the call fail.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    try await injector.strike(level: name)
    return try await ask()
  }

  /// Answers at once what the level inside does, as long as nothing goes wrong on purpose.
  public func peek(_ key: Key) -> Value? { injector.isIdle ? base.peek(key) : nil }

  /// Stores a value in the level inside, unless the injector makes the call fail.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await injector.strike(level: name)
    try await base.set(value, forKey: key)
  }

  /// Stores a value in the level inside on terms of its own, unless the injector makes the call fail.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await injector.strike(level: name)
    try await base.store(value, forKey: key, terms: terms)
  }

  /// Removes a value from the level inside, unless the injector makes the call fail.
  public func remove(_ key: Key) async throws {
    try await injector.strike(level: name)
    try await base.remove(key)
  }

  /// Removes everything from the level inside, unless the injector makes the call fail.
  public func clear() async throws {
    try await injector.strike(level: name)
    try await base.clear()
  }
}

// So that a level says the same about itself with faults around it: an observer tells nothing of writes into a fetcher, and
// reads a storage level's usage.
extension FaultInjectingLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside, unless the injector makes the call fail.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await injector.strike(level: name)
    return try await base.removeAll(where: condition)
  }
}

extension FaultInjectingLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside, unless the injector makes the call fail.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await injector.strike(level: name)
    return try await base.removeAll(tagged: tag)
  }
}

extension FaultInjectingLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds in the level inside, unless the injector makes the call fail.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await injector.strike(level: name)
    return try await base.store(value, forKey: key, terms: terms, if: condition)
  }
}

extension FaultInjectingLevel: RenewingLevel where Base: RenewingLevel {}
extension FaultInjectingLevel: ReloadableLevel where Base: ReloadableLevel {}

extension FaultInjectingLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies of a key in the level inside, unless the injector makes the call fail.
  public func invalidate(_ key: Key) async throws {
    try await injector.strike(level: name)
    try await base.invalidate(key)
  }

  /// Forgets all copies in the level inside, unless the injector makes the call fail.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await injector.strike(level: name)
    try await base.invalidateAll(cause)
  }
}

extension FaultInjectingLevel: Fetcher where Base: Fetcher {}

extension FaultInjectingLevel: ExpiringLevel where Base: ExpiringLevel {
  /// The lifetime of the level inside.
  public var expiry: Expiry { base.expiry }
}

extension FaultInjectingLevel: StorageLevel where Base: StorageLevel {
  /// How full the level inside is.
  public var usage: LevelUsage { base.usage }

  /// Every entry of the level inside.
  public func contents() async throws -> [EntrySummary<Key>] { try await base.contents() }

  /// Ends the lifetime of an entry of the level inside, unless the injector makes the call fail.
  public func expire(_ key: Key) async throws {
    try await injector.strike(level: name)
    try await base.expire(key)
  }

  /// Drops what has expired in the level inside, unless the injector makes the call fail.
  @discardableResult
  public func removeExpired() async throws -> Int {
    try await injector.strike(level: name)
    return try await base.removeExpired()
  }
}

extension CacheLevel {
  /// Lets operations of this level fail or take long when an injector says so.
  ///
  /// - Parameter injector: Decides what goes wrong; it can be changed at any time.
  /// - Returns: The level with its faults.
  public func injectingFaults(_ injector: FaultInjector) -> FaultInjectingLevel<Self> {
    FaultInjectingLevel(base: self, injector: injector)
  }
}

extension FaultInjectingLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    try await injector.strike(level: name)
    try await base.endOrRemove(key)
  }
}
