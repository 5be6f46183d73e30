/// Tells an observer what a level is asked and what it answers.
///
/// Built by ``CacheLevel/observed(as:by:clock:)``. A level that is not observed costs nothing for it, and one whose observer
/// does not listen at the moment (``CacheObserver/attention``) one relaxed atomic load for each call.
public struct ObservedLevel<Base: CacheLevel>: CacheLevel {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// The name that the events carry.
  public let name: String
  /// The level that is observed.
  public let base: Base

  @usableFromInline let recorder: EventRecorder

  init(base: Base, name: String, observer: any CacheObserver, clock: any CacheClock) {
    self.base = base
    self.name = name
    recorder = EventRecorder(level: name, observer: observer, clock: clock)
  }

  /// Returns the value held for a key, or `nil` if there is none.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    guard recorder.isSilent else { return try await told(key).entry?.value }
    return try await base.get(key)
  }

  /// Returns the value of the level observed, if that can answer at once and nobody listens.
  @inlinable
  public func peek(_ key: Key) -> Value? { recorder.isSilent ? base.peek(key) : nil }

  /// Returns the entry for a key with this level's name, or the reason for the miss.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    guard recorder.isSilent else { return try await told(key) }
    return named(try await base.lookup(key))
  }

  // Inlinable, as what it calls: from another module it would otherwise go through witnesses, at twice the time.
  @inlinable
  func told(_ key: Key) async throws -> Lookup<Value> { try await told(key) { try await base.lookup(key) } }

  @inlinable
  func told(_ key: Key, by ask: () async throws -> Lookup<Value>) async throws -> Lookup<Value> {
    let text = EventRecorder.text(of: key)
    recorder.record(.lookupBegan, key: text)
    return try await recorder.timed(.get, key: text) {
      named(try await ask())
    } event: { answer, duration in
      switch answer {
      case .hit(let entry): .hit(cost: entry.cost, deadline: entry.deadline, duration)
      case .miss(let reason): .miss(reason, duration)
      }
    }
  }

  /// Returns the entry for a key even if it has expired, with this level's name.
  ///
  /// This is told to nobody: the look-up was answered before, by a miss, and only who asked knows whether the stale entry
  /// is served.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    named(try await base.lookupIncludingExpired(key))
  }

  @inlinable
  func named(_ answer: consuming Lookup<Value>) -> Lookup<Value> {
    switch consume answer {
    case .hit(var entry):
      entry.level = name
      return .hit(entry)
    case .miss(let reason): return .miss(reason)
    }
  }

  /// Stores a value under a key.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value under a key on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    guard isTold else { return try await base.store(value, forKey: key, terms: terms) }
    let operation: CacheEvent.Operation = terms.purpose == .backFill ? .backFill : .set
    let deadline = terms.deadline(levelDefault: expiry, clock: recorder.clock)
    let cost = terms.cost ?? (value as? any CostRepresentable)?.cost
    try await recorder.timed(operation, key: EventRecorder.text(of: key)) {
      try await base.store(value, forKey: key, terms: terms)
    } event: { _, duration in
      .stored(terms.purpose, cost: cost, deadline: deadline, duration)
    }
  }

  /// Removes the value for a key.
  @inlinable
  public func remove(_ key: Key) async throws {
    guard isTold else { return try await base.remove(key) }
    try await recorder.timed(.remove, key: EventRecorder.text(of: key)) {
      try await base.remove(key)
    } event: { _, duration in
      .done(.remove, duration)
    }
  }

  /// Removes everything.
  public func clear() async throws {
    guard isTold else { return try await base.clear() }
    try await recorder.timed(.clear, key: nil) {
      try await base.clear()
    } event: { _, duration in
      .done(.clear, duration)
    }
  }

  /// Gives back memory.
  public func onMemoryWarning() async {
    guard !recorder.isSilent, let storage = base as? any StorageLevel else { return await base.onMemoryWarning() }
    let began = recorder.clock.now
    let before = storage.usage
    await base.onMemoryWarning()
    let after = storage.usage
    recorder.record(
      .memoryWarning(
        dropped: max(0, before.count - after.count), cost: max(0, before.cost - after.cost),
        began.duration(to: recorder.clock.now)),
      key: nil)
  }

  @usableFromInline var expiry: Expiry { (base as? any ExpiringLevel)?.expiry ?? .never }
}

extension ObservedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition; that is told once, without a key.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await toldRemoval { try await base.removeAll(where: condition) }
  }
}

extension ObservedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag; that is told once, without a key.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await toldRemoval { try await base.removeAll(tagged: tag) }
  }
}

extension ObservedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds; if it does not, a set is told that stored nothing.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    guard isTold else { return try await base.store(value, forKey: key, terms: terms, if: condition) }
    let deadline = terms.deadline(levelDefault: expiry, clock: recorder.clock)
    let cost = terms.cost ?? (value as? any CostRepresentable)?.cost
    return try await recorder.timed(.set, key: EventRecorder.text(of: key)) {
      try await base.store(value, forKey: key, terms: terms, if: condition)
    } event: { isStored, duration in
      isStored ? .stored(terms.purpose, cost: cost, deadline: deadline, duration) : .done(.set, duration)
    }
  }
}

extension ObservedLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks the level inside, with an expired entry to renew, and tells of it as of any read.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard recorder.isSilent else { return try await told(key) { try await base.lookup(key, renewing: old) } }
    return named(try await base.lookup(key, renewing: old))
  }
}

extension ObservedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside read a key anew, and tells of it as of any read.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    guard recorder.isSilent else { return try await told(key) { try await base.reload(key) } }
    return named(try await base.reload(key))
  }
}

extension ObservedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level observed.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level observed.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension ObservedLevel {
  /// A fetcher takes every write and keeps nothing: there is nothing to tell.
  @inlinable var isTold: Bool { !recorder.isSilent && !(base is any Fetcher) }

  private func toldRemoval(_ remove: () async throws -> Int) async throws -> Int {
    guard isTold else { return try await remove() }
    return try await recorder.timed(.remove, key: nil, remove) { _, duration in .done(.remove, duration) }
  }
}

/// Times what a level does and tells its observer.
@usableFromInline
struct EventRecorder: Sendable {
  let level: String?
  let observer: any CacheObserver
  @usableFromInline let clock: any CacheClock
  @usableFromInline let attention: ObservationSwitch?

  init(level: String?, observer: any CacheObserver, clock: any CacheClock) {
    self.level = level
    self.observer = observer
    self.clock = clock
    attention = observer.attention
  }

  /// There is nobody to tell at the moment.
  @inlinable var isSilent: Bool {
    guard let attention else { return false }
    return !attention.isOn
  }

  /// A key as events carry it.
  @inlinable
  static func text(of key: some Any) -> String {
    // Most keys are text, and to describe it asks the runtime what it is.
    (key as? String) ?? String(describing: key)
  }

  @usableFromInline
  func record(_ kind: CacheEvent.Kind, key: String?) {
    observer.record(CacheEvent(time: clock.now, request: .current, level: level, key: key, kind: kind))
  }

  @inlinable
  func timed<Answer>(
    _ operation: CacheEvent.Operation, key: String?, _ body: () async throws -> Answer,
    event: (Answer, Duration) -> CacheEvent.Kind
  ) async throws -> Answer {
    let began = clock.now
    do {
      let answer = try await body()
      record(event(answer, began.duration(to: clock.now)), key: key)
      return answer
    } catch let error as CancellationError {
      record(.cancelled(operation, began.duration(to: clock.now)), key: key)
      throw error
    } catch {
      record(.failed(operation, String(describing: error), began.duration(to: clock.now)), key: key)
      throw error
    }
  }
}

extension CacheLevel {
  /// Tells an observer what this level is asked and what it answers.
  ///
  /// - Parameters:
  ///   - name: The name that the events carry.
  ///   - observer: Told of every event.
  ///   - clock: The clock that the events are timed by.
  /// - Returns: The observed level.
  public func observed(
    as name: String, by observer: any CacheObserver, clock: any CacheClock = SystemClock()
  ) -> ObservedLevel<Self> {
    ObservedLevel(base: self, name: name, observer: observer, clock: clock)
  }
}

extension ObservedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension ObservedLevel: ShapedLevel {
  package var shape: LevelShape { .observed(base, as: name, by: recorder.observer) }
}
