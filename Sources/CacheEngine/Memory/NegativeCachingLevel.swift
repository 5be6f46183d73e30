public import CacheCore

/// A level that remembers for a while what the one inside does not have.
///
/// Built by ``CacheLevel/negativeCaching(for:countLimit:name:observer:clock:failures:)``.
///
/// | the level inside | the first read gives | later reads, for the lifetime |
/// |---|---|---|
/// | hit | the value | the level inside is asked |
/// | miss | a miss | a miss, ``MissReason/remembered``; the level inside is not asked |
/// | failed, of a kind to remember | the error | the same error; the level inside is not asked |
/// | failed otherwise, cancelled, refused, unsettled, unanswered | the same | the level inside is asked |
///
/// To a composition above, a remembered miss does not say that the value is gone: nothing is dropped for it.
///
/// A remembered miss says nothing about expired entries: ``CacheLevel/lookupIncludingExpired(_:)`` remembers its own misses.
///
/// A set, removal or clear through this level forgets the misses that it concerns, even if a read is under way. A removal
/// by tag forgets every miss, since a miss has no tags.
public final class NegativeCachingLevel<Base: CacheLevel>: LevelDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  @usableFromInline
  struct Remembered: Sendable {
    /// `nil` for a miss.
    @usableFromInline let error: (any Error)?
    /// There was nothing expired either.
    @usableFromInline let includesExpired: Bool

    @inlinable
    init(_ error: (any Error)?, includesExpired: Bool) {
      self.error = error
      self.includesExpired = includesExpired
    }
  }

  /// The level inside.
  public let base: Base

  @usableFromInline let remembered: MemoryCacheLevel<Key, Remembered>
  @usableFromInline let gate = WriteGate<Key>()
  @usableFromInline let recorder: OperatorRecorder
  @usableFromInline let isWorthRemembering: @Sendable (any Error) -> Bool

  init(
    base: Base, lifetime: Duration, countLimit: Int, recorder: OperatorRecorder,
    isWorthRemembering: @escaping @Sendable (any Error) -> Bool
  ) {
    self.base = base
    self.recorder = recorder
    self.isWorthRemembering = isWorthRemembering
    remembered = MemoryCacheLevel(
      name: recorder.name, capacity: .max, countLimit: countLimit, expiry: .after(lifetime), clock: recorder.clock)
  }

  /// Returns the value of the level inside, unless that is known to have nothing.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The error of the level inside, now or remembered.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Asks the level inside, unless it is known to have nothing.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await read(key, includingExpired: false) { try await base.lookup(key) }
  }

  /// Asks the level inside for what has expired, too, unless it is known to have neither.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await read(key, includingExpired: true) { try await base.lookupIncludingExpired(key) }
  }

  @inlinable
  func read(
    _ key: Key, includingExpired: Bool, by ask: () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    if let known = remembered.peek(key), known.includesExpired || !includingExpired {
      recorder.record(.rememberedMiss, key: key)
      if let error = known.error { throw error }
      return .miss(.remembered)
    }
    return try await readInside(key, includingExpired: includingExpired, isAnew: false, by: ask)
  }

  /// Asks the level inside and remembers its answer; what is read anew goes before all that was asked for earlier.
  @inlinable
  func readInside(
    _ key: Key, includingExpired: Bool, isAnew: Bool, by ask: () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    let asked = isAnew ? gate.beginReload(key) : (ticket: gate.beginRead(key), number: 0)
    defer { gate.endRead(key, asked.ticket) }
    var (ticket, meetsCopy) = (asked.ticket, false)
    do {
      let answer = try await ask()
      if isAnew { (ticket, meetsCopy) = gate.overtakeReads(key, by: asked) }
      switch answer {
      // A miss from before is just being remembered.
      case .hit where meetsCopy: try await gate.write(key) { try await remembered.remove(key) }
      case .hit where isAnew: try await remembered.remove(key)
      case .miss(let reason) where !Self.isForgotten(reason):
        try await remember(Remembered(nil, includesExpired: includingExpired), key, ticket)
      default: break
      }
      return answer
    } catch let error as CancellationError {
      throw error
    } catch {
      if isWorthRemembering(error) {
        try await remember(Remembered(error, includesExpired: includingExpired), key, ticket)
      }
      throw error
    }
  }

  /// Nobody was asked, whoever was cannot tell, or somebody remembers already.
  @inlinable
  static func isForgotten(_ reason: MissReason) -> Bool {
    reason == .refused || reason == .nothingToAsk || reason == .unsettled || reason == .unanswered
      || reason == .newer || reason == .remembered
  }

  /// Returns the value of the level inside, if that can answer at once and is not known to have nothing.
  @inlinable
  public func peek(_ key: Key) -> Value? { remembered.peek(key) == nil ? base.peek(key) : nil }

  /// Stores a value in the level inside.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the level inside on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await gate.write(key) {
      try await remembered.remove(key)
      try await base.store(value, forKey: key, terms: terms)
    }
  }

  /// Removes the value for a key from the level inside, and forgets that it was missed.
  @inlinable
  public func remove(_ key: Key) async throws {
    try await gate.write(key) {
      try await remembered.remove(key)
      try await base.remove(key)
    }
  }

  /// Removes everything from the level inside, and forgets every miss.
  public func clear() async throws {
    try await gate.writeAll {
      try await remembered.clear()
      try await base.clear()
    }
  }

  /// Forgets every miss and hands the warning to the level inside.
  public func onMemoryWarning() async {
    await remembered.onMemoryWarning()
    await base.onMemoryWarning()
  }

  @inlinable
  func remember(_ answer: Remembered, _ key: Key, _ ticket: ReadTicket) async throws {
    try await gate.backFill(key, in: remembered, ticket) { try await remembered.set(answer, forKey: key) }
  }
}

extension NegativeCachingLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds in the level inside.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await gate.write(key) {
      try await remembered.remove(key)
      return try await base.store(value, forKey: key, terms: terms, if: condition)
    }
  }
}

extension NegativeCachingLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside, and forgets that such keys were missed.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await gate.writeAll {
      try await remembered.removeAll(where: condition)
      return try await base.removeAll(where: condition)
    }
  }
}

extension NegativeCachingLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside, and forgets every miss.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await gate.writeAll {
      try await remembered.clear()
      return try await base.removeAll(tagged: tag)
    }
  }
}

extension NegativeCachingLevel: RenewingLevel where Base: RenewingLevel {
  /// Asks the level inside, with an expired entry to renew, unless it is known to have nothing.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    try await read(key, includingExpired: false) { try await base.lookup(key, renewing: old) }
  }
}

extension NegativeCachingLevel: ReloadableLevel {
  /// Asks the level inside, or lets that reload the key, whatever is remembered about it.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    try await readInside(key, includingExpired: false, isAnew: true) { try await base.reloadIfAble(key) }
  }
}

extension CacheLevel {
  /// Remembers for a while which keys this level does not have, and does not ask it for them again.
  ///
  /// ```swift
  /// let users = api.negativeCaching(for: .seconds(5)) { ($0 as? CacheError)?.status == 404 }
  /// ```
  ///
  /// - Parameters:
  ///   - lifetime: How long a miss is remembered. Keep it short, since missing values may appear.
  ///   - countLimit: How many keys are remembered at most; which of them are forgotten first is up to ``Eviction/adaptive``.
  ///   - name: The name of the memory in events.
  ///   - observer: Notified when a read is answered from what is remembered.
  ///   - clock: The clock by which the lifetime is measured.
  ///   - failures: Whether an error is remembered as well. By default none is.
  /// - Returns: The level with its memory for misses.
  public func negativeCaching(
    for lifetime: Duration, countLimit: Int = 10_000, name: String = "negative",
    observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock(),
    failures: @escaping @Sendable (any Error) -> Bool = { _ in false }
  ) -> NegativeCachingLevel<Self> {
    NegativeCachingLevel(
      base: self, lifetime: lifetime, countLimit: countLimit,
      recorder: OperatorRecorder(name: name, observer: observer, clock: clock), isWorthRemembering: failures)
  }
}

extension NegativeCachingLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("negative", name: recorder.name), base) }
}

extension NegativeCachingLevel: InvalidatableLevel {
  /// Forgets that the key was missed, and the copies in the level inside, if that keeps any.
  public func invalidate(_ key: Key) async throws {
    try await gate.sweep(.key(key)) {
      try await base.invalidateIfAble(key)
      try await remembered.remove(key)
    }
  }

  /// Forgets every miss, and all copies in the level inside, if that keeps any.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await gate.sweep(.everything) {
      try await base.invalidateAllIfAble(cause)
      try await remembered.clear()
    }
  }
}

extension NegativeCachingLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    try await gate.sweep(key.map { .key($0) } ?? .everything) {
      try await base.endOrRemove(key)
      if let key { try await remembered.remove(key) } else { try await remembered.clear() }
    }
  }
}
