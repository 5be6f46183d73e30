/// A level whose reads, and on request also its writes, have a time limit.
///
/// Built by ``CacheLevel/timeout(after:writes:name:observer:clock:)``.
///
/// | the level inside | a read, or a limited write |
/// |---|---|
/// | answers in time | the same |
/// | has not answered in time | ``CacheError/Code/timedOut``, at once; the work is cancelled and not waited for |
/// | the caller is cancelled | `CancellationError`, at once; the work is cancelled |
///
/// Writes have no limit unless you give them one. A set, removal or clear that was given up may still be
/// carried out later, even after a newer one: limit writes only if a level that hangs is worse than that.
public struct TimeLimitedLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// How long a read may take.
  public let limit: Duration
  /// How long a set, a removal, a clear or an invalidation may take; `nil` for as long as it takes.
  public let writeLimit: Duration?

  let recorder: OperatorRecorder

  init(base: Base, limit: Duration, writeLimit: Duration?, recorder: OperatorRecorder) {
    self.base = base
    self.limit = limit
    self.writeLimit = writeLimit
    self.recorder = recorder
  }

  /// Reads the level inside, within the limit for reads.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/timedOut``; otherwise the error of the level inside.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    if let answer = try await race(limit, ask) { return answer }
    recorder.record(.timedOut(limit), key: key)
    throw CacheError(.timedOut, "no answer within \(limit.text)", level: base.name)
  }

  /// Stores a value in the level inside, within the limit for writes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/timedOut``; otherwise the error of the level inside.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the level inside on terms of its own, within the limit for writes.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await write(key) { try await base.store(value, forKey: key, terms: terms) }
  }

  /// Removes the value for a key from the level inside, within the limit for writes.
  public func remove(_ key: Key) async throws {
    try await write(key) { try await base.remove(key) }
  }

  /// Removes everything from the level inside, within the limit for writes.
  public func clear() async throws {
    try await write(nil) { try await base.clear() }
  }

  func write<Answer: Sendable>(
    _ key: Key?, _ body: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer {
    guard let writeLimit else { return try await body() }
    if let answer = try await race(writeLimit, body) { return answer }
    if let key {
      recorder.record(.timedOut(writeLimit), key: key)
    } else {
      recorder.record(.operated(.timedOut(writeLimit)))
    }
    throw CacheError(.timedOut, "not written within \(writeLimit.text)", level: base.name)
  }

  private func race<Answer: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer? {
    let (clock, deadline) = (recorder.clock, recorder.clock.now.advanced(by: limit))
    return try await Race<Answer>().first(of: work) {
      try await clock.sleep(until: deadline, tolerance: nil)
    }
  }

  /// Returns the value of the level inside, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }
}

extension TimeLimitedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside, within the limit for writes.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await write(nil) { try await base.removeAll(where: condition) }
  }
}

extension TimeLimitedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside, within the limit for writes.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await write(nil) { try await base.removeAll(tagged: tag) }
  }
}

extension TimeLimitedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value in the level inside if a condition holds there, within the limit for writes.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await write(key) { try await base.store(value, forKey: key, terms: terms, if: condition) }
  }
}

extension TimeLimitedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside, within the limit for writes.
  public func invalidate(_ key: Key) async throws { try await write(key) { try await base.invalidate(key) } }

  /// Forgets all copies in the level inside, within the limit for writes.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await write(nil) { try await base.invalidateAll(cause) }
  }
}

extension TimeLimitedLevel: EndingLevel {
  package func end(_ key: Key?) async throws { try await write(key) { try await base.endOrRemove(key) } }
}

extension TimeLimitedLevel: RenewingLevel where Base: RenewingLevel {}
extension TimeLimitedLevel: ReloadableLevel where Base: ReloadableLevel {}

extension CacheLevel {
  /// Gives reads of this level a time limit, and writes one of their own.
  ///
  /// - Parameters:
  ///   - limit: How long a read may take.
  ///   - writeLimit: How long a set, a removal, a clear or an invalidation may take; `nil` for as long as it takes.
  ///   - name: The name of the limit in events.
  ///   - observer: Notified of every call that took longer.
  ///   - clock: The clock by which the limit is measured.
  /// - Returns: The limited level.
  public func timeout(
    after limit: Duration, writes writeLimit: Duration? = nil, name: String = "timeout",
    observer: (any CacheObserver)? = nil,
    clock: any CacheClock = SystemClock()
  ) -> TimeLimitedLevel<Self> {
    TimeLimitedLevel(
      base: self, limit: limit, writeLimit: writeLimit,
      recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }
}

extension TimeLimitedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("timeout", name: recorder.name, setting: limit.text), base) }
}
