public import CacheCore

/// A source below a shared level, asked by one process at a time for each key.
///
/// Built by `CacheLevel.sharedPool(_:lease:name:observer:clock:)`.
///
/// | the shared level | a read returns |
/// |---|---|
/// | has the value | that value |
/// | has none, and nobody loads it | the answer of the source; a value is stored in the shared level |
/// | has none, and another process loads it | what that process stores; a miss if it finds nothing |
/// | has none, and the lease of the loading process runs out | what the next one loads |
/// | cannot answer | the answer of the source, which is stored nowhere |
///
/// The loading process holds a lease in the store, and every set, removal, clear or removal by tag that concerns the key voids it: a
/// value that was loaded before one of these is returned but not stored. A load that takes longer than its lease is not
/// stored either, if another has begun.
///
/// Sets and removals go to the source first, then to the shared level. Loads of `value(forKey:orLoad:)` are shared only within this
/// process: no other process knows what a closure computes here.
public struct SharedPoolLevel<Source: CacheLevel>: CacheLevel {
  /// The type of the keys.
  public typealias Key = Source.Key
  /// The type of the values.
  public typealias Value = Source.Value

  /// The source of missing values.
  public let source: Source
  /// The level in which they are stored.
  public let shared: SharedCacheLevel<Source.Key, Source.Value>

  let lease: Duration
  let clock: any CacheClock
  let recorder: OperatorRecorder
  private let loads = LoadScope()

  init(
    source: Source, shared: SharedCacheLevel<Source.Key, Source.Value>, lease: Duration, clock: any CacheClock,
    recorder: OperatorRecorder
  ) {
    self.source = source
    self.shared = shared
    self.lease = lease
    self.clock = clock
    self.recorder = recorder
  }

  /// The names of the shared level and the source.
  public var name: String { "\(shared.name)+\(source.name)" }

  /// Returns the value that is shared, or is loaded by whoever has the turn.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns the entry that is shared, or is loaded by whoever has the turn.
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    let turn: SharedCacheLevel<Key, Value>.Turn?
    do { turn = try await waitForTurn(key) } catch let error as CancellationError { throw error } catch {
      recorder.record(.failed(.get, String(describing: error), .zero), key: key)
      turn = nil
    }
    switch turn {
    case .found(let entry): return .hit(entry)
    case .nothingFound: return .miss(.absent)
    case .leads(let lease):
      let (began, id) = (clock.now, Self.id(of: lease.token))
      recorder.record(.shared(.leads(lease: id)), key: key)
      defer { recorder.record(.shared(.led(lease: id, began.duration(to: clock.now))), key: key) }
      return try await load(key, lease)
    case .follows, nil: return try await source.lookup(key)
    }
  }

  /// Asks the shared level, then the source, without waiting for other processes.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    do {
      let answer = try await shared.lookupIncludingExpired(key)
      if case .hit = answer { return answer }
    } catch let error as CancellationError { throw error } catch {
      recorder.record(.failed(.get, String(describing: error), .zero), key: key)
    }
    return try await source.lookupIncludingExpired(key)
  }

  /// Stores a value in the source and the shared level.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the source and the shared level on terms of its own.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await inBoth {
      try await source.store(value, forKey: key, terms: terms)
    } shared: { [shared] in
      try await shared.store(value, forKey: key, terms: terms)
    } inDoubt: { [shared] in
      try await shared.remove(key)
    }
  }

  /// Removes from the source and the shared level.
  public func remove(_ key: Key) async throws {
    try await inBoth {
      try await source.remove(key)
    } shared: { [shared] in
      try await shared.remove(key)
    }
  }

  /// Removes everything from the source and the shared level.
  public func clear() async throws {
    try await inBoth {
      try await source.clear()
    } shared: { [shared] in
      try await shared.clear()
    }
  }

  /// Waits until the key is there, or it is this process's turn to load it.
  private func waitForTurn(_ key: Key) async throws -> SharedCacheLevel<Key, Value>.Turn {
    var followed: [UInt8]?
    var pause = Duration.milliseconds(2)
    // Each lease may run out; a caller that has waited for several of them loads by itself.
    let end = clock.now.advanced(by: lease * 4)
    var since = clock.now
    func tellEnd() {
      guard let followed else { return }
      recorder.record(
        .shared(.followed(lease: Self.id(of: followed), since.duration(to: clock.now))), key: key)
    }
    defer { tellEnd() }
    while true {
      let turn = try await shared.turn(key, life: lease, following: followed)
      guard case .follows(let token) = turn, clock.now < end else { return turn }
      if token != followed {
        tellEnd()
        since = clock.now
        recorder.record(.shared(.follows(lease: Self.id(of: token))), key: key)
      }
      followed = token
      let now = clock.now
      try await clock.sleep(until: now.advanced(by: pause * Double.random(in: 0.75...1.25)), tolerance: nil)
      pause = min(pause * 1.5, .milliseconds(50))
    }
  }

  /// How a lease is called in events.
  private static func id(of token: [UInt8]) -> String {
    token.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func load(_ key: Key, _ lease: SharedCacheLevel<Key, Value>.Lease) async throws -> Lookup<Value> {
    let answer: Lookup<Value>
    do { answer = try await source.lookup(key) } catch {
      give(back: lease, key, foundNothing: false)
      throw error
    }
    return try await keep(answer, key, lease)
  }

  /// Fills in what was loaded.
  private func keep(
    _ answer: Lookup<Value>, _ key: Key, _ lease: SharedCacheLevel<Key, Value>.Lease
  ) async throws -> Lookup<Value> {
    guard let entry = answer.entry, !entry.isPlaceholder else {
      give(back: lease, key, foundNothing: answer.entry == nil)
      // Where there is nobody else to ask, the shared level has the last word, as it has for those who follow.
      return answer.missReason == .nothingToAsk ? .miss(.absent) : answer
    }
    do {
      if try await !shared.fill(entry, key, lease) { give(back: lease, key, foundNothing: false) }
    } catch {
      give(back: lease, key, foundNothing: false)
      if error is CancellationError { throw error }
      recorder.record(.failed(.backFill, String(describing: error), .zero), key: key)
    }
    return answer
  }

  /// Others need not wait until the lease runs out; nor has the one who leaves to wait for that.
  private func give(back lease: SharedCacheLevel<Key, Value>.Lease, _ key: Key, foundNothing: Bool) {
    Task { [shared, recorder] in
      do { try await shared.end(lease, foundNothing: foundNothing) } catch {
        recorder.record(.failed(.remove, String(describing: error), .zero), key: key)
      }
    }
  }

  /// The shared level must not contradict what the source may have taken: it is written even if the caller is cancelled meanwhile.
  ///
  /// If nobody waited for the source's answer, `inDoubt` takes the place of the write.
  private func inBoth(
    _ writeSource: () async throws -> Void, shared writeShared: @escaping @Sendable () async throws -> Void,
    inDoubt forget: (@Sendable () async throws -> Void)? = nil
  ) async throws {
    try Task.checkCancellation()
    var attempts = WriteAttempts()
    do { try await attempts.attempt(source.name, writeSource) } catch {
      try? await Task { try await (forget ?? writeShared)() }.value
      throw error
    }
    try await attempts.attempt(shared.name) { try await Task { try await writeShared() }.value }
    if let error = attempts.error { throw error }
  }
}

extension SharedPoolLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { nil }
}

extension SharedPoolLevel: ReloadableLevel {
  /// Reads a key from the source; the shared level then stores what was found, or drops what is gone.
  ///
  /// A process that was loading the key goes on, but what it loads is not stored.
  ///
  /// - Parameter key: The key to read again.
  /// - Returns: The source's entry, or its reason for the miss.
  /// - Throws: The error of the source, and then the shared level keeps what it has; `CancellationError`.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    let turn: SharedCacheLevel<Key, Value>.Lease
    do { turn = try await shared.takeTurn(key, life: lease) } catch let error as CancellationError { throw error } catch
    {
      recorder.record(.failed(.get, String(describing: error), .zero), key: key)
      return try await source.reloadIfAble(key)
    }
    let answer: Lookup<Value>
    do { answer = try await source.reloadIfAble(key) } catch {
      give(back: turn, key, foundNothing: false)
      throw error
    }
    if case .miss = answer {
      do { try await shared.drop(turn) } catch let error as CancellationError { throw error } catch {
        recorder.record(.failed(.remove, String(describing: error), .zero), key: key)
      }
    }
    return try await keep(answer, key, turn)
  }
}

extension SharedPoolLevel: TaggedLevel where Source: TaggedLevel {
  /// Removes every entry that was stored with a tag from the source and the shared level.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    var count = 0
    try await inBoth {
      count += try await source.removeAll(tagged: tag)
    } shared: { [shared] in
      _ = try await shared.removeAll(tagged: tag)
    }
    return count
  }
}

extension SharedPoolLevel: ShapedLevel { package var shape: LevelShape { .stacked(shared, source) } }

extension CacheLevel {
  /// Puts this source below a shared level, so that all processes that miss a key share one load.
  ///
  /// ```swift
  /// let photos = memory.compose(origin.sharedPool(shared), coherence: Coherence(bus, of: shared))
  /// ```
  ///
  /// - Parameters:
  ///   - shared: The level that all processes share.
  ///   - lease: How long others wait for a load. Make it longer than loads usually take; a process that dies while it
  ///     loads holds the others up for that long. At least 1 ms.
  ///   - name: The name of this level in events.
  ///   - observer: Notified when the shared level fails and the source is asked instead. By default the log.
  ///   - clock: The clock by which others are waited for.
  /// - Returns: The shared level and the source as one, pooled within this process too.
  public func sharedPool(
    _ shared: SharedCacheLevel<Key, Value>, lease: Duration = .seconds(5), name: String = "shared pool",
    observer: (any CacheObserver)? = CacheLogger.failures, clock: any CacheClock = SystemClock()
  ) -> PooledLevel<SharedPoolLevel<Self>> {
    precondition(lease >= .milliseconds(1), "a lease lasts for a millisecond at least")
    let recorder = OperatorRecorder(name: name, observer: observer, clock: clock)
    // Used in calculations.
    let lease = min(lease, .nanoseconds(Int64.max))
    return SharedPoolLevel(source: self, shared: shared, lease: lease, clock: clock, recorder: recorder)
      .pooled(name: name, observer: observer, clock: clock)
  }
}
