import Synchronization

extension CacheLevel {
  /// Returns the value for a key, loading and storing it if there is none or it has expired.
  ///
  /// However many callers ask this level at once, the value is loaded once, and all of them get it or the one error; a caller that
  /// is cancelled leaves, and the last one to leave cancels the load. The closure of the first caller is used. It is
  /// given the expired entry, if the level keeps one (`keepsExpired`) as it was stored, and may answer that it is still valid:
  ///
  /// ```swift
  /// let rates = try await cache.value(forKey: "EUR") { old in
  ///   let answer = try await bank.rates(unless: old?.validator)
  ///   guard let rates = answer.rates else { return .notModified(expiry: .after(.seconds(60))) }
  ///   return .value(rates, expiry: .after(.seconds(60)), tags: ["money"], validator: answer.version)
  /// }
  /// ```
  ///
  /// A set, removal or clear through this composition or pool while the value is being loaded wins: the value is returned but
  /// not stored, or removed again if a clear came while it was being stored, and whoever asks after the write does not join that
  /// load. With a level by itself, neither composed nor pooled, only two things are noticed: that there is a value by then, and that
  /// the expired entry has gone. An expired entry stays where it is until a load succeeds.
  ///
  /// An operator whose answers are those of the level inside shares its loads. With a struct of your own that is neither an operator nor an
  /// object, two calls cannot know that they mean the same level: pool it.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - load: Returns a value with its terms, or that the entry that it is given is still valid.
  /// - Returns: The value found or loaded.
  /// - Throws: The error of the closure; `CancellationError` if this caller was cancelled; ``CacheError`` with code
  ///   ``CacheError/Code/circular`` if the closure, directly or not, waits for the value that it loads; with code
  ///   ``CacheError/Code/valueNotInCache`` if it answers that nothing has changed where there was nothing. A level that cannot be read
  ///   or written is reported to the log, and fails no call.
  /// - Complexity: On a miss, this level is asked a second time, for expired entries, and once more before the value is stored if
  ///   it cannot store on a condition.
  public func value(
    forKey key: Key, orLoad load: @escaping @Sendable (_ expired: Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    try await loadedOnce(key, load)
  }

  func loadedOnce(
    _ key: Key, _ load: @escaping @Sendable (Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    if let value = peek(key) { return value }
    guard let scope = loadScope else { return try await loadedValue(key, try await noteLoad(key), load) }
    let shared = LoadKey(scope: scope, value: ObjectIdentifier(Value.self), key: key)
    let answer = try await MeetingLoads.answer(for: shared) {
      let ticket = try await noteLoad(key)
      return try await MeetingLoads.noting(ticket, of: shared) { try await loadedValue(key, ticket, load) }
    }
    guard let value = answer as? Value else { preconditionFailure("a load of a level gives what the level holds") }
    return value
  }

  private func loadedValue(
    _ key: Key, _ ticket: LoadTicket?, _ load: @Sendable (Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    try await makeValue(
      key, reading: self, ticket, OperatorRecorder(name: name, observer: CacheLogger.failures, clock: SystemClock()),
      load)
  }

  /// Reads a level, and loads what it has not and stores it in this one.
  func makeValue(
    _ key: Key, reading source: some CacheLevel<Key, Value>, isShown: Bool = true, _ ticket: LoadTicket?,
    _ recorder: OperatorRecorder, _ load: @Sendable (Entry<Value>?) async throws -> Renewal<Value>
  ) async throws -> Value {
    defer { ticket?.end() }
    var old: Entry<Value>?
    do {
      if let entry = try await source.lookup(key).entry { return entry.value }
      if isShown { old = try await source.lookupIncludingExpired(key).entry }
    } catch let error as CancellationError {
      throw error
    } catch {
      recorder.record(.failed(.get, String(describing: error), .zero), key: key)
    }
    // Somebody has stored one in between.
    if let old, !old.isStale { return old.value }
    let shown = old?.isProcessed == true ? nil : old
    var (value, terms) = try await load(shown).settled(by: shown, key: key, level: recorder.name)
    terms.load = ticket
    do {
      try await storeLoaded(value, key, terms, wasKept: old != nil)
    } catch let error as CancellationError {
      throw error
    } catch {
      recorder.record(.failed(.set, String(describing: error), .zero), key: key)
    }
    return value
  }

  private func storeLoaded(_ value: Value, _ key: Key, _ terms: StoreTerms, wasKept: Bool) async throws {
    if terms.load != nil { return try await store(value, forKey: key, terms: terms) }
    if wasKept, try await lookupIncludingExpired(key).entry == nil { return }
    if let able = self as? any ConditionalLevel<Key, Value> {
      do {
        _ = try await able.store(value, forKey: key, terms: terms, if: .absent)
        return
      } catch let error as CacheError where error.code == .unsupported {}
    }
    var isHeld = false
    do {
      isHeld = try await lookup(key).entry?.isPlaceholder == false
    } catch let error as CancellationError { throw error } catch {
      // What cannot be read may be replaced.
    }
    if !isHeld { try await store(value, forKey: key, terms: terms) }
  }
}

/// The loads of all levels but pools, which have their own.
private enum MeetingLoads {
  private static let loads = SharedLoads<LoadKey, any Sendable>(
    recorder: OperatorRecorder(name: "load", observer: nil, clock: SystemClock()))
  /// Of the loads that can be joined, those whose level orders its writes.
  private static let tickets = Mutex<[LoadKey: LoadTicket]>([:])

  /// Returns what the load under way gives, unless a write has overtaken it, or one that is begun now.
  static func answer(
    for key: LoadKey, load: @escaping @Sendable () async throws -> any Sendable
  ) async throws -> any Sendable {
    if let ticket = tickets.withLock({ $0[key] }), ticket.isOvertaken() { detach(key, of: ticket) }
    return try await loads.answer(for: key, ClosureLoad(load))
  }

  /// Runs a load that nobody is to join once a write has overtaken it, nor when it has ended, as that is no longer known then.
  static func noting<Value>(
    _ ticket: LoadTicket?, of key: LoadKey, _ load: () async throws -> Value
  ) async throws -> Value {
    // A key that does not equal itself would never be found again. What is cancelled by now has lost its last caller, and another
    // load may be under way.
    guard let ticket, key == key, !Task.isCancelled else { return try await load() }
    tickets.withLock { $0[key] = ticket }
    defer { detach(key, of: ticket) }
    return try await load()
  }

  /// Lets whoever comes next begin another load, unless that has happened already.
  private static func detach(_ key: LoadKey, of ticket: LoadTicket) {
    tickets.withLock { tickets in
      guard tickets[key] === ticket else { return }
      tickets[key] = nil
      loads.detach(key)
    }
  }
}

/// A key of one level among those of all.
struct LoadKey: Hashable, Sendable, CustomStringConvertible {
  let scope: ObjectIdentifier
  /// The type of its values: a store of bytes is several levels.
  let value: ObjectIdentifier
  let key: any Hashable & Sendable

  var description: String { String(describing: key) }

  static func == (one: LoadKey, other: LoadKey) -> Bool {
    one.scope == other.scope && one.value == other.value && AnyHashable(one.key) == AnyHashable(other.key)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(scope)
    hasher.combine(AnyHashable(key))
  }
}

/// By what the loads of a level without an identity of its own are known; copies of the level share it.
package final class LoadScope: Sendable {
  package init() {}
}

/// What the gate of a composition or a pool saw when a load began, so that a write that came since wins.
package final class LoadTicket: LoadMark {
  private let seen: (gate: ObjectIdentifier, ticket: ReadTicket)?
  /// Of a level whose keys are lists: what was seen of each key in turn.
  let parts: [LoadTicket?]
  /// Whether a write of the key has begun or ended since.
  let isOvertaken: @Sendable () -> Bool
  private let finish: @Sendable () -> Void

  init<Key>(_ gate: WriteGate<Key>, _ key: Key) {
    let ticket = gate.beginRead(key)
    seen = (ObjectIdentifier(gate), ticket)
    parts = []
    isOvertaken = { gate.isLate(key, ticket) }
    finish = { gate.endRead(key, ticket) }
  }

  init(_ parts: [LoadTicket?]) {
    seen = nil
    self.parts = parts
    isOvertaken = { parts.contains { $0?.isOvertaken() == true } }
    finish = { for part in parts { part?.end() } }
  }

  /// To be called once, when the load has ended and what it gave is stored.
  func end() { finish() }

  /// The ticket that terms carry for a gate.
  static func ticket<Key>(in terms: StoreTerms, for gate: WriteGate<Key>) -> ReadTicket? {
    guard let seen = (terms.load as? LoadTicket)?.seen, seen.gate == ObjectIdentifier(gate) else { return nil }
    return seen.ticket.unplaced
  }
}

/// A level that says where its loads meet, and notes that one begins.
package protocol LoadingLevel<Key, Value>: CacheLevel {
  /// By what its loads are known.
  var ownLoadScope: ObjectIdentifier? { get }

  /// Notes that a load of a key begins; `nil` if nothing orders the writes of the level.
  func beginLoad(_ key: Key) async throws -> LoadTicket?
}

extension CacheLevel {
  /// By what the loads of this level are known; `nil` for a struct that says nothing of it.
  package var loadScope: ObjectIdentifier? {
    if let loading = self as? any LoadingLevel { return loading.ownLoadScope }
    if let decorator = self as? any LevelDecorator { return decorator.scopeInside }
    return type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
  }

  package func noteLoad(_ key: Key) async throws -> LoadTicket? {
    if let loading = self as? any LoadingLevel<Key, Value> { return try await loading.beginLoad(key) }
    if let decorator = self as? any LevelDecorator { return try await decorator.noteLoadInside(key) }
    return nil
  }
}

extension LevelDecorator {
  var scopeInside: ObjectIdentifier? { base.loadScope }

  func noteLoadInside(_ key: any Sendable) async throws -> LoadTicket? {
    guard let key = key as? Base.Key else { return nil }
    return try await base.noteLoad(key)
  }
}

extension ComposedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(gate) }

  package func beginLoad(_ key: Key) async throws -> LoadTicket? { LoadTicket(gate, key) }

  /// Stores in both levels what a load gave, unless something came between.
  @usableFromInline
  func storeLoaded(_ value: Value, _ key: Key, _ terms: StoreTerms) async throws -> Bool {
    guard let ticket = LoadTicket.ticket(in: terms, for: gate) else { return false }
    guard gate.beginBackFill(key, ticket, tags: terms.tags, by: .current) else { return true }
    defer { gate.endBackFill(key, ticket, isNew: true) }
    let stored: Result<Void, any Error>
    do { stored = .success(try await storeInBoth(value, key, terms, since: ticket.phase)) } catch {
      stored = .failure(error)
    }
    // Below it may have come after a sweep, and yet is from before it.
    if gate.isSwept(key, terms.tags, since: ticket.phase) { try await gate.forget(key, in: lower) }
    try stored.get()
    return true
  }
}

extension PooledLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(self) }

  package func beginLoad(_ key: Key) async throws -> LoadTicket? { LoadTicket(gate, key) }

  /// Stores below what a load gave, unless something came between.
  @usableFromInline
  func storeLoaded(_ value: Value, _ key: Key, _ terms: StoreTerms) async throws -> Bool {
    guard let ticket = LoadTicket.ticket(in: terms, for: gate) else { return false }
    // Whoever asks afterwards finds what was stored, and joins no read from before.
    defer { reads.detach(key) }
    try await gate.backFill(key, in: base, ticket, tags: terms.tags.isEmpty ? nil : terms.tags) {
      try await base.store(value, forKey: key, terms: terms)
    }
    return true
  }
}

extension ObservedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { base.loadScope }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

extension TracedCache: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { base.loadScope }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

// A decorator that answers differently from the level inside has loads of its own: its callers must not join those of others.
extension LoadingLevel where Self: LevelDecorator {
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

extension PostProcessedLevel: LoadingLevel { package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) } }
extension ConditionedLevel: LoadingLevel { package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) } }

extension KeyTransformedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? {
    try await base.noteLoad(try await transformer.transform(key))
  }
}

extension ValueTransformedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

extension ConditionedValueTransformedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

// Without a level inside it goes by its own identity, and nothing orders its writes.
extension BasicCache: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { inner?.loadScope ?? ObjectIdentifier(self) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? {
    try await (inner as? any CacheLevel<Key, Value>)?.noteLoad(key)
  }
}

extension BatchLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { base.loadScope }

  package func beginLoad(_ keys: [Base.Key]) async throws -> LoadTicket? {
    var parts: [LoadTicket?] = []
    do {
      for key in keys { parts.append(try await base.noteLoad(key)) }
    } catch {
      LoadTicket(parts).end()
      throw error
    }
    return parts.contains { $0 != nil } ? LoadTicket(parts) : nil
  }
}

extension SwitchedLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? {
    switch selector(key) {
    case .first: try await first.noteLoad(key)
    case .second: try await second.noteLoad(key)
    }
  }
}
