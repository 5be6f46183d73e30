/// A level that gives the values stored in it a lifetime.
///
/// Built by ``CacheLevel/expiring(after:clock:)``. The lifetime counts from the store:
///
/// | a value | its lifetime |
/// |---|---|
/// | set without a lifetime | that of this level |
/// | set with a lifetime | its own |
/// | copied upwards from a lower level | until its deadline, but at most that of this level |
///
/// With a jitter, the lifetimes of this level are shortened, each by a different share: see
/// ``CacheLevel/expiring(after:jitter:seed:clock:)``.
///
/// The level inside keeps the deadline; one of your own that ignores ``StoreTerms`` keeps everything.
public struct LifetimeLevel<Base: CacheLevel>: LevelDecorator, ExpiringLevel {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  public let expiry: Expiry

  @usableFromInline let clock: any CacheClock
  @usableFromInline let lifetime: Duration
  @usableFromInline let jitter: LifetimeJitter?

  init(base: Base, lifetime: Duration, jitter: LifetimeJitter? = nil, clock: any CacheClock) {
    self.base = base
    self.lifetime = lifetime
    self.jitter = jitter
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

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }

  /// Stores a value for as long as this level says.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own, with this level's lifetime where they name none.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: timedInside(terms))
  }

  /// The terms with this level's lifetime, for whoever tells of a store and then makes it on these.
  @inlinable
  func timed(_ terms: StoreTerms) -> StoreTerms {
    if terms.isTimed { return terms }
    var timed = terms
    timed.isTimed = true
    let expiry = jitter.map { .after($0.shortened(lifetime)) } ?? expiry
    timed.expiry = terms.deadline(levelDefault: expiry, clock: clock).map(Expiry.at) ?? .never
    return timed
  }

  /// The same for the level inside, which may have a lifetime of its own.
  @inlinable
  func timedInside(_ terms: StoreTerms) -> StoreTerms {
    var inside = timed(terms)
    inside.isTimed = false
    return inside
  }
}

extension LifetimeLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds in the level inside, for as long as this level says.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value, forKey: key, terms: timedInside(terms), if: condition)
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

extension LifetimeLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key.
  public func reload(_ key: Key) async throws -> Lookup<Value> { try await base.reload(key) }
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

  /// Gives what is stored in this level lifetimes that differ, so that what is stored together does not expire together.
  ///
  /// Each value that would get the lifetime of this level gets one that lies between it and what is left without the jitter,
  /// evenly spread: for a minute and a jitter of 0.25, between 45 and 60 seconds. So nothing lives longer than `lifetime`. What is
  /// set with a lifetime of its own keeps that.
  ///
  /// ```swift
  /// let prices = memory.expiring(after: .seconds(60), jitter: 0.25)
  /// ```
  ///
  /// - Parameters:
  ///   - lifetime: The longest that a value lives which is stored without a lifetime of its own.
  ///   - jitter: The share of the lifetime that may be missing, between 0 and 1.
  ///   - seed: Where the sequence of lifetimes begins, for tests; `nil` for anywhere.
  ///   - clock: The clock that lifetimes are measured by: that of the level inside.
  /// - Returns: The level with the lifetimes.
  public func expiring(
    after lifetime: Duration, jitter: Double, seed: UInt64? = nil, clock: any CacheClock = SystemClock()
  ) -> LifetimeLevel<Self> {
    precondition(jitter >= 0 && jitter <= 1, "a jitter lies between 0 and 1")
    let source = LifetimeJitter(share: jitter, seed: seed ?? .random(in: .min ... .max))
    return LifetimeLevel(base: self, lifetime: lifetime, jitter: source, clock: clock)
  }
}

extension LifetimeLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension LifetimeLevel: ShapedLevel { package var shape: LevelShape { .around(.init("expiry"), base) } }

extension LifetimeLevel: EndingLevel {}

extension LifetimeLevel: TimingLevel {}
