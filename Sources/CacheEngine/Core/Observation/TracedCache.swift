/// Gives every call a number and tells an observer when it begins and how it ends.
///
/// Built by ``CacheLevel/traced(by:clock:)``, around a whole composition. While its observer does not listen
/// (``CacheObserver/attention``), a call costs one relaxed atomic load more and has no number. What the observed levels inside tell carries
/// the number of the call.
public struct TracedCache<Base: CacheLevel>: CacheLevel {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// The composition whose calls are told.
  public let base: Base

  @usableFromInline let recorder: EventRecorder

  init(base: Base, observer: any CacheObserver, clock: any CacheClock) {
    self.base = base
    recorder = EventRecorder(level: nil, observer: observer, clock: clock)
  }

  /// The name of the composition.
  public var name: String { base.name }

  /// Returns the value held for a key, or `nil` if there is none.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    guard recorder.isSilent else { return try await told(key).entry?.value }
    return try await base.get(key)
  }

  /// Returns the value of the cache inside, if that can answer at once and nobody listens.
  @inlinable
  public func peek(_ key: Key) -> Value? { recorder.isSilent ? base.peek(key) : nil }

  /// Returns the entry for a key, or the reason for the miss.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    guard recorder.isSilent else { return try await told(key) }
    return try await base.lookup(key)
  }

  @inlinable
  func told(_ key: Key) async throws -> Lookup<Value> {
    try await tracedRead(key) { try await base.lookup(key) }
  }

  /// Returns the entry for a key even if it has expired, or the reason for the miss.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    guard !recorder.isSilent else { return try await base.lookupIncludingExpired(key) }
    return try await tracedRead(key) { try await base.lookupIncludingExpired(key) }
  }

  /// Stores a value under a key.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value under a key on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    guard !recorder.isSilent else { return try await base.store(value, forKey: key, terms: terms) }
    try await traced(.set, key: key) {
      try await base.store(value, forKey: key, terms: terms)
    } outcome: {
      .done
    }
  }

  /// Removes the value for a key.
  @inlinable
  public func remove(_ key: Key) async throws {
    guard !recorder.isSilent else { return try await base.remove(key) }
    try await traced(.remove, key: key) {
      try await base.remove(key)
    } outcome: {
      .done
    }
  }

  /// Removes everything.
  public func clear() async throws {
    guard !recorder.isSilent else { return try await base.clear() }
    try await traced(.clear, key: nil) {
      try await base.clear()
    } outcome: {
      .done
    }
  }

  /// Gives back memory.
  public func onMemoryWarning() async {
    let recorder = recorder
    guard !recorder.isSilent else { return await base.onMemoryWarning() }
    await RequestContext.numbered {
      let began = recorder.clock.now
      recorder.record(.requestBegan(.warn), key: nil)
      await base.onMemoryWarning()
      recorder.record(.requestEnded(.warn, .done, began.duration(to: recorder.clock.now)), key: nil)
    }
  }

  @inlinable
  func tracedRead(_ key: Key, _ body: () async throws -> Lookup<Value>) async throws -> Lookup<Value> {
    try await traced(.get, key: key, body) { answer in
      switch answer {
      case .hit(let entry): .hit(level: entry.level)
      case .miss(let reason): .miss(reason)
      }
    }
  }

  @inlinable
  func traced<Answer>(
    _ operation: CacheEvent.Operation, key: Key?, _ body: () async throws -> Answer,
    outcome: (Answer) -> CacheEvent.Outcome
  ) async throws -> Answer {
    let text = key.map { EventRecorder.text(of: $0) }
    return try await RequestContext.numbered {
      let began = recorder.clock.now
      func end(_ outcome: CacheEvent.Outcome) {
        recorder.record(.requestEnded(operation, outcome, began.duration(to: recorder.clock.now)), key: text)
      }
      recorder.record(.requestBegan(operation), key: text)
      do {
        let answer = try await body()
        end(outcome(answer))
        return answer
      } catch let error as CancellationError {
        end(.cancelled)
        throw error
      } catch {
        end(.failed(String(describing: error)))
        throw error
      }
    }
  }
}

extension TracedCache: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition; that is one call without a key.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    guard !recorder.isSilent else { return try await base.removeAll(where: condition) }
    return try await traced(.remove, key: nil) {
      try await base.removeAll(where: condition)
    } outcome: { _ in
      .done
    }
  }
}

extension TracedCache: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag; that is one call without a key.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    guard !recorder.isSilent else { return try await base.removeAll(tagged: tag) }
    return try await traced(.remove, key: nil) {
      try await base.removeAll(tagged: tag)
    } outcome: { _ in
      .done
    }
  }
}

extension TracedCache: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    guard !recorder.isSilent else { return try await base.store(value, forKey: key, terms: terms, if: condition) }
    return try await traced(.set, key: key) {
      try await base.store(value, forKey: key, terms: terms, if: condition)
    } outcome: { _ in
      .done
    }
  }
}

extension TracedCache: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks the level inside, with an expired entry to renew, and tells of it as of any read.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard !recorder.isSilent else { return try await base.lookup(key, renewing: old) }
    return try await tracedRead(key) { try await base.lookup(key, renewing: old) }
  }
}

extension TracedCache: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside read a key anew, and tells of it as of any read.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    guard !recorder.isSilent else { return try await base.reload(key) }
    return try await tracedRead(key) { try await base.reload(key) }
  }
}

extension TracedCache: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the cache inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the cache inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension CacheLevel {
  /// Gives every call of this cache a number and tells an observer when it begins and how it ends.
  ///
  /// - Parameters:
  ///   - observer: Told of every call.
  ///   - clock: The clock that calls are timed by.
  /// - Returns: The traced cache.
  public func traced(by observer: any CacheObserver, clock: any CacheClock = SystemClock()) -> TracedCache<Self> {
    TracedCache(base: self, observer: observer, clock: clock)
  }
}

extension TracedCache {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension TracedCache: ShapedLevel { package var shape: LevelShape { .traced(base, by: recorder.observer) } }
