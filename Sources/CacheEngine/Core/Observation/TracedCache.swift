/// Gives every call a number and reports to an observer when it begins and how it ends.
///
/// Built by ``CacheLevel/traced(by:clock:)``, around a whole composition. While its observer does not listen
/// (``CacheObserver/attention``), a call costs one relaxed atomic load more and has no number. Events of the observed levels inside carry
/// the number of the call.
public struct TracedCache<Base: CacheLevel>: CacheLevel {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The composition whose calls are reported.
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
  @inline(__always)
  public func get(_ key: Key) async throws -> Value? {
    if recorder.isSilent { return try await base.get(key) }
    let (entry, call) = toldPeek(key)
    if let entry { return entry.value }
    return try await told(call, key).entry?.value
  }

  /// Returns the value of the cache inside, if that can answer at once and nobody listens.
  @inlinable
  public func peek(_ key: Key) -> Value? { recorder.isSilent ? base.peek(key) : nil }

  /// Returns the entry of the cache inside, if that can answer at once and nobody listens.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { recorder.isSilent ? base.peekEntry(key) : nil }

  /// Returns the entry for a key, or the reason for the miss.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if recorder.isSilent { return try await base.lookup(key) }
    let (entry, call) = toldPeek(key)
    if let entry { return .hit(entry) }
    return try await told(call, key)
  }

  /// Begins a call, and ends it if the entry can be had at once.
  @inlinable
  func toldPeek(_ key: Key) -> (entry: Entry<Value>?, call: TracedCall) {
    let call = recorder.beginRead(key: recorder.text(of: key))
    var entry: Entry<Value>?
    RequestContext.numbered(call.number) { entry = base.peekEntry(key) }
    recorder.endPeek(call, entry == nil ? nil : .some(entry?.level))
    return (entry, call)
  }

  @inlinable
  @inline(never)
  func told(_ call: TracedCall, _ key: Key) async throws -> Lookup<Value> {
    try await traced(call, { try await base.lookup(key) }, outcome: Self.outcome)
  }

  @inlinable
  static func outcome(of answer: Lookup<Value>) -> CacheEvent.Outcome {
    switch answer {
    case .hit(let entry): .hit(level: entry.level)
    case .miss(let reason): .miss(reason)
    }
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

  /// Frees memory.
  public func onMemoryWarning() async {
    let recorder = recorder
    guard !recorder.isSilent else { return await base.onMemoryWarning() }
    let call = recorder.beginCall(.warn, key: nil)
    await RequestContext.numbered(call.number) { await base.onMemoryWarning() }
    recorder.endCall(call, .done)
  }

  @inlinable
  func tracedRead(_ key: Key, _ body: () async throws -> Lookup<Value>) async throws -> Lookup<Value> {
    try await traced(.get, key: key, body, outcome: Self.outcome)
  }

  @inlinable
  func traced<Answer>(
    _ operation: CacheEvent.Operation, key: Key?, _ body: () async throws -> Answer,
    outcome: (Answer) -> CacheEvent.Outcome
  ) async throws -> Answer {
    try await traced(recorder.beginCall(operation, key: key.flatMap { recorder.text(of: $0) }), body, outcome: outcome)
  }

  @inlinable
  func traced<Answer>(
    _ call: TracedCall, _ body: () async throws -> Answer, outcome: (Answer) -> CacheEvent.Outcome
  ) async throws -> Answer {
    do {
      let answer = try await RequestContext.numbered(call.number) { try await body() }
      recorder.endCall(call, outcome(answer))
      return answer
    } catch let error as CancellationError {
      recorder.endCall(call, .cancelled)
      throw error
    } catch {
      recorder.endCall(call, .failed(String(describing: error)))
      throw error
    }
  }
}

/// A call that is told, and has not ended.
@usableFromInline
struct TracedCall: Sendable {
  @usableFromInline let number: RequestID
  let operation: CacheEvent.Operation
  let key: String?
  let began: CacheInstant
}

extension EventRecorder {
  @usableFromInline
  func beginCall(_ operation: CacheEvent.Operation, key: String?) -> TracedCall {
    let call = TracedCall(number: RequestContext.next(), operation: operation, key: key, began: now)
    tell(.requestBegan(operation), of: call, at: call.began)
    return call
  }

  @usableFromInline
  func endCall(_ call: TracedCall, _ outcome: CacheEvent.Outcome) {
    let now = now
    tell(.requestEnded(call.operation, outcome, call.began.duration(to: now)), of: call, at: now)
  }

  /// Begins a read, which is counted as begun only when it is known whether it has ended as well.
  @usableFromInline
  func beginRead(key: String?) -> TracedCall {
    if counter == nil { return beginCall(.get, key: key) }
    return TracedCall(number: RequestContext.next(), operation: .get, key: nil, began: now)
  }

  /// Tells whether a read was answered at once, and by which level.
  @usableFromInline
  func endPeek(_ call: TracedCall, _ level: String??) {
    guard let counter else {
      if let level { endCall(call, .hit(level: level)) }
      return
    }
    if let level {
      counter.countRead(from: level, call.began, now)
    } else {
      counter.count(.requestBegan(.get), of: call.number)
    }
  }

  private func tell(_ kind: CacheEvent.Kind, of call: TracedCall, at time: CacheInstant) {
    if let counter { return counter.count(kind, of: call.number) }
    observer.record(CacheEvent(time: time, request: call.number, level: level, key: call.key, kind: kind))
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

  /// Asks the level inside, with an expired entry to renew, and reports this as it reports any read.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard !recorder.isSilent else { return try await base.lookup(key, renewing: old) }
    return try await tracedRead(key) { try await base.lookup(key, renewing: old) }
  }
}

extension TracedCache: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key, and reports this as it reports any read.
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
  /// Gives every call of this cache a number and reports to an observer when it begins and how it ends.
  ///
  /// - Parameters:
  ///   - observer: Notified of every call.
  ///   - clock: The clock by which calls are timed.
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
