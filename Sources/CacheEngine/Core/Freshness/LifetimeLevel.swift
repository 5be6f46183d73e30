/// A level that gives what is stored in it a lifetime.
///
/// Built by ``CacheLevel/expiring(after:clock:)``. The lifetime counts from the store:
///
/// | what is stored | how long it lives |
/// |---|---|
/// | set without a lifetime | as long as this level says |
/// | set with a lifetime | as long as it asks for |
/// | copied upwards from a lower level | until its deadline, at most as long as this level says |
///
/// The level inside keeps the deadline; one of your own that ignores ``StoreTerms`` keeps everything.
public struct LifetimeLevel<Base: CacheLevel>: LevelDecorator, ExpiringLevel {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// The lifetime of what is stored without one, and the longest lifetime of what a back-fill brings.
  public let expiry: Expiry

  @usableFromInline let clock: any CacheClock

  init(base: Base, lifetime: Duration, clock: any CacheClock) {
    self.base = base
    self.clock = clock
    expiry = .after(lifetime)
  }

  /// Asks the level inside.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await base.get(key) }

  /// Asks the level inside.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await base.lookup(key) }

  /// Asks the level inside.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(key)
  }

  /// Asks the level inside.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Stores a value for as long as this level says.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own, with this level's lifetime where they name none.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: timed(terms))
  }

  @inlinable
  func timed(_ terms: StoreTerms) -> StoreTerms {
    var timed = terms
    timed.expiry = terms.deadline(levelDefault: expiry, clock: clock).map(Expiry.at) ?? .never
    return timed
  }
}

extension LifetimeLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds in the level inside, for as long as this level says.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value, forKey: key, terms: timed(terms), if: condition)
  }
}

extension LifetimeLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension LifetimeLevel: TaggedLevel where Base: TaggedLevel {}
extension LifetimeLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension LifetimeLevel: RenewingLevel where Base: RenewingLevel {
  /// Asks the level inside, with an expired entry to renew.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    try await base.lookup(key, renewing: old)
  }
}

extension CacheLevel {
  /// Gives what is stored in this level a lifetime.
  ///
  /// - Parameters:
  ///   - lifetime: How long a value lives that is stored without a lifetime of its own.
  ///   - clock: The clock that lifetimes are measured by: that of the level inside.
  /// - Returns: The level with the lifetime.
  public func expiring(after lifetime: Duration, clock: any CacheClock = SystemClock()) -> LifetimeLevel<Self> {
    LifetimeLevel(base: self, lifetime: lifetime, clock: clock)
  }
}

extension LifetimeLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension LifetimeLevel: ShapedLevel { package var shape: LevelShape { .around(.init("expiry"), base) } }
