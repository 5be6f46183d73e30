/// Reports to an observer what a level is asked and what it answers.
///
/// Built by ``CacheLevel/observed(as:by:clock:)``. A level that is not observed costs nothing for it, and one whose observer
/// does not listen at the moment (``CacheObserver/attention``) one relaxed atomic load for each call.
public struct ObservedLevel<Base: CacheLevel>: CacheLevel {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The name that the events carry.
  public let name: String
  /// The level that is observed.
  public let base: Base

  @usableFromInline let recorder: EventRecorder
  /// What is told of a look-up at its end does not come after what is told inside.
  @usableFromInline let tellsInOrder: Bool
  /// The level observed, if it gives lifetimes that nobody else can tell.
  @usableFromInline let timing: (any TimingLevel)?
  @usableFromInline let expiring: (any ExpiringLevel)?
  /// A fetcher takes every write and keeps nothing: there is nothing to tell.
  @usableFromInline let isSource: Bool

  init(base: Base, name: String, observer: any CacheObserver, clock: any CacheClock) {
    self.base = base
    self.name = name
    recorder = EventRecorder(level: name, observer: observer, clock: clock)
    tellsInOrder = recorder.counter != nil || !base.isWatched
    let level = base.unerased
    timing = level as? any TimingLevel
    expiring = level as? any ExpiringLevel
    isSource = level is any Fetcher
  }

  /// Returns the value held for a key, or `nil` if there is none.
  @inlinable
  @inline(__always)
  public func get(_ key: Key) async throws -> Value? {
    if let value = toldPeek(key) { return value }
    return try await getSlowly(key)
  }

  @inlinable
  @inline(never)
  func getSlowly(_ key: Key) async throws -> Value? {
    guard !recorder.isSilent else { return try await base.get(key) }
    return try await told(key).entry?.value
  }

  /// A value that can be had at once, where nothing is told that is not known of it.
  @inlinable
  func toldPeek(_ key: Key) -> Value? {
    guard recorder.counts else { return recorder.isSilent ? base.peek(key) : peekEntry(key)?.value }
    let (began, stripe) = recorder.start
    guard let value = base.peek(key) else { return nil }
    recorder.countHit(since: began, in: stripe)
    return value
  }

  /// Returns the value of the level observed, if that can answer at once and nobody listens.
  @inlinable
  public func peek(_ key: Key) -> Value? { recorder.isSilent ? base.peek(key) : nil }

  /// Returns the entry of the level observed, if that can answer at once, with this level's name.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? {
    if recorder.isSilent {
      guard var entry = base.peekEntry(key) else { return nil }
      entry.level = name
      return entry
    }
    // What is told inside comes between the beginning and the end.
    guard tellsInOrder else { return nil }
    let (began, stripe) = recorder.start
    guard var entry = base.peekEntry(key) else { return nil }
    if recorder.counts {
      recorder.countHit(since: began, in: stripe)
    } else if let began {
      recorder.recordHit(entry.cost, entry.deadline, key: EventRecorder.text(of: key), began, recorder.now)
    }
    entry.level = name
    return entry
  }

  /// Returns the entry for a key with this level's name, or the reason for the miss.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if let entry = peekEntry(key) { return .hit(entry) }
    guard recorder.isSilent else { return try await told(key) }
    return named(try await base.lookup(key))
  }

  // Inlinable, as what it calls: from another module it would otherwise go through witnesses, at twice the time.
  @inlinable
  func told(_ key: Key) async throws -> Lookup<Value> { try await told(key) { try await base.lookup(key) } }

  @inlinable
  func told(_ key: Key, by ask: () async throws -> Lookup<Value>) async throws -> Lookup<Value> {
    let text = recorder.text(of: key)
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
  /// This is not reported: the look-up was answered before, by a miss, and only who asked knows whether the stale entry
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
    let terms = timing?.timed(terms) ?? terms
    let deadline = terms.deadline(levelDefault: expiry, clock: recorder.clock)
    let cost = terms.cost ?? (value as? any CostRepresentable)?.cost
    try await recorder.timed(operation, key: recorder.text(of: key)) {
      try await base.store(value, forKey: key, terms: terms)
    } event: { _, duration in
      .stored(terms.purpose, cost: cost, deadline: deadline, duration)
    }
  }

  /// Removes the value for a key.
  @inlinable
  public func remove(_ key: Key) async throws {
    guard isTold else { return try await base.remove(key) }
    try await recorder.timed(.remove, key: recorder.text(of: key)) {
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

  /// Frees memory.
  public func onMemoryWarning() async {
    guard !recorder.isSilent, let storage = base.unerased as? any StorageLevel else {
      return await base.onMemoryWarning()
    }
    let began = recorder.now
    let before = storage.usage
    await base.onMemoryWarning()
    let after = storage.usage
    recorder.record(
      .memoryWarning(
        dropped: max(0, before.count - after.count), cost: max(0, before.cost - after.cost),
        began.duration(to: recorder.now)),
      key: nil)
  }

  @inlinable var expiry: Expiry { expiring?.expiry ?? .never }
}

extension ObservedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition; this is reported once, without a key.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await toldRemoval { try await base.removeAll(where: condition) }
  }
}

extension ObservedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag; this is reported once, without a key.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await toldRemoval { try await base.removeAll(tagged: tag) }
  }
}

extension ObservedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value if a condition holds; if it does not, a set that stored nothing is reported.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    guard isTold else { return try await base.store(value, forKey: key, terms: terms, if: condition) }
    let terms = timing?.timed(terms) ?? terms
    let deadline = terms.deadline(levelDefault: expiry, clock: recorder.clock)
    let cost = terms.cost ?? (value as? any CostRepresentable)?.cost
    return try await recorder.timed(.set, key: recorder.text(of: key)) {
      try await base.store(value, forKey: key, terms: terms, if: condition)
    } event: { isStored, duration in
      isStored ? .stored(terms.purpose, cost: cost, deadline: deadline, duration) : .done(.set, duration)
    }
  }
}

extension ObservedLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks the level inside, with an expired entry to renew, and reports this as it reports any read.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard recorder.isSilent else { return try await told(key) { try await base.lookup(key, renewing: old) } }
    return named(try await base.lookup(key, renewing: old))
  }
}

extension ObservedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key, and reports this as it reports any read.
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
  @inlinable var isTold: Bool { !recorder.isSilent && !isSource }

  private func toldRemoval(_ remove: () async throws -> Int) async throws -> Int {
    guard isTold else { return try await remove() }
    return try await recorder.timed(.remove, key: nil, remove) { _, duration in .done(.remove, duration) }
  }
}

/// Times what a level does and tells its observer.
@usableFromInline
final class EventRecorder: Sendable {
  let level: String?
  let observer: any CacheObserver
  @usableFromInline let clock: any CacheClock
  @usableFromInline let attention: ObservationSwitch?
  /// Where the observer only counts, and no event need be made for it.
  @usableFromInline let counter: EventCounter?
  /// The hits that such an observer does not time.
  @usableFromInline let untimed: UntimedHits?
  @usableFromInline let hasSystemClock: Bool

  init(level: String?, observer: any CacheObserver, clock: any CacheClock) {
    self.level = level
    self.observer = observer
    self.clock = clock
    attention = observer.attention
    counter = (observer as? CacheStatistics)?.counter(of: level)
    untimed = counter?.untimed
    hasSystemClock = clock is SystemClock
  }

  // The usual clock is asked without its protocol.
  @inlinable var now: CacheInstant { hasSystemClock ? SystemClock().now : clock.now }

  /// The observer of a level only counts.
  @inlinable var counts: Bool { untimed != nil }

  /// When a look-up begins, `nil` if a hit is not to be timed; and the stripe in which to count it.
  @inlinable
  @inline(__always)
  var start: (began: CacheInstant?, stripe: Int) {
    let stripe = ThreadStripe.current
    return (untimed?.isNextTimed(stripe) == false ? nil : beginning, stripe)
  }

  // A call of its own, without which reads that are not timed would not be inlined.
  @inlinable
  @inline(never)
  var beginning: CacheInstant { now }

  /// Counts a hit.
  @inlinable
  @inline(__always)
  func countHit(since began: CacheInstant?, in stripe: Int) {
    if let began { countHit(began, stripe) } else { untimed?.count(stripe) }
  }

  @usableFromInline
  func countHit(_ began: CacheInstant, _ stripe: Int) { counter?.countHit(began, now, stripe) }

  /// There is nobody to tell at the moment.
  @inlinable var isSilent: Bool {
    guard let attention else { return false }
    return !attention.isOn
  }

  /// A key as events carry it.
  @inlinable
  static func text(of key: some Any) -> String {
    // Most keys are text, and describing one would ask the runtime what it is.
    (key as? String) ?? String(describing: key)
  }

  /// A key as events carry it, if any are made.
  @inlinable
  func text(of key: some Any) -> String? { counter == nil ? Self.text(of: key) : nil }

  @usableFromInline
  func record(_ kind: CacheEvent.Kind, key: String?) {
    if let counter { return counter.count(kind) }
    tell(kind, key: key, at: now)
  }

  /// Tells of a look-up when it has been answered already.
  @usableFromInline
  func recordHit(_ cost: Int?, _ deadline: CacheInstant?, key: String, _ began: CacheInstant, _ ended: CacheInstant) {
    tell(.lookupBegan, key: key, at: began)
    tell(.hit(cost: cost, deadline: deadline, began.duration(to: ended)), key: key, at: ended)
  }

  private func tell(_ kind: CacheEvent.Kind, key: String?, at time: CacheInstant) {
    observer.record(CacheEvent(time: time, request: .current, level: level, key: key, kind: kind))
  }

  @inlinable
  func timed<Answer>(
    _ operation: CacheEvent.Operation, key: String?, _ body: () async throws -> Answer,
    event: (Answer, Duration) -> CacheEvent.Kind
  ) async throws -> Answer {
    let began = now
    do {
      let answer = try await body()
      record(event(answer, began.duration(to: now)), key: key)
      return answer
    } catch let error as CancellationError {
      record(.cancelled(operation, began.duration(to: now)), key: key)
      throw error
    } catch {
      record(.failed(operation, String(describing: error), began.duration(to: now)), key: key)
      throw error
    }
  }
}

extension CacheLevel {
  /// Reports to an observer what this level is asked and what it answers.
  ///
  /// - Parameters:
  ///   - name: The name that the events carry.
  ///   - observer: Notified of every event.
  ///   - clock: The clock by which the events are timed.
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

/// A level that gives what is stored lifetimes that only it knows.
@usableFromInline
protocol TimingLevel: Sendable {
  /// The terms with the deadline that they mean here, on which the level then stores.
  func timed(_ terms: StoreTerms) -> StoreTerms
}
