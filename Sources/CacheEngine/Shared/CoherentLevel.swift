public import CacheCore

/// A level above a shared one that forgets what others change there.
///
/// Built by `CacheLevel.compose(_:coherence:partialStores:backFill:observer:clock:)`. It is a `ComposedLevel` that listens: a
/// change that is heard enters as an `InvalidatableLevel.invalidate(_:)`, so what was read or written below before it came is
/// not served from above after it.
///
/// | what is heard | the upper level |
/// |---|---|
/// | a key was changed | forgets it |
/// | a tag was removed | forgets what was stored with it |
/// | the namespace was cleared, the store flushed, too many changes | forgets everything |
/// | nothing any more | is served as long as ``Coherence/WhileDeaf`` says, then passed by |
/// | changes again | forgets everything, and is served |
///
/// Until changes are heard for the first time, the level counts as deaf since it was created. Values written in the meantime are kept
/// above as usual, and forgotten when changes are heard. An upper level that outlives its process, such as one on disk, comes with
/// copies of an earlier run, however old: they are served as if changes had been heard until then. With
/// ``Coherence/WhileDeaf/passBy`` none is.
///
/// It listens until it is released. Around it, pools let nobody join a load from before a change that was heard; they find it in all
/// operators and in a `LevelDecorator` of your own, but not in a wrapper that is none. Whatever keeps something there (another memory,
/// remembered misses, values that are refreshed) hears nothing: put it above as part of the upper level.
public final class CoherentLevel<Upper: CacheLevel, Lower: CacheLevel>: CacheLevel
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// The type of the keys.
  public typealias Key = Upper.Key
  /// The type of the values.
  public typealias Value = Upper.Value

  /// The composition without ears.
  public let base: ComposedLevel<Upper, Lower>

  @usableFromInline let hearing: Hearing
  package let listener: Task<Void, Never>

  init(
    _ base: ComposedLevel<Upper, Lower>, _ coherence: Coherence<Key>, recorder: OperatorRecorder,
    clock: any CacheClock
  ) {
    let hearing = Hearing(whileDeaf: coherence.whileDeaf.limit, clock: clock)
    self.base = base
    self.hearing = hearing
    listener = Task { await Self.listen(base, hearing, coherence, recorder) }
  }

  deinit { listener.cancel() }

  /// What was heard, and whether anything is.
  public var coherence: CoherenceReport { hearing.report }

  /// The names of both levels.
  public var name: String { base.name }

  /// Returns the value of the first level that has one.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = peek(key) { return value }
    return try await lookup(key).entry?.value
  }

  /// Returns the upper level's value, if that may be served and can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { hearing.mayServe ? base.peek(key) : nil }

  /// Asks the upper level if that may be served, then the shared one.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if hearing.mayServe { return try await base.lookup(key) }
    return try await base.lower.lookup(key)
  }

  /// Asks both levels, expired entries included.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    if hearing.mayServe { return try await base.lookupIncludingExpired(key) }
    return try await base.lower.lookupIncludingExpired(key)
  }

  /// Stores a value in both levels.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws { try await base.set(value, forKey: key) }

  /// Stores a value in both levels on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: terms)
  }

  /// Removes from both levels.
  @inlinable
  public func remove(_ key: Key) async throws { try await base.remove(key) }

  /// Removes everything from both levels.
  public func clear() async throws { try await base.clear() }

  /// Hands the warning to both levels.
  public func onMemoryWarning() async { await base.onMemoryWarning() }

  private static func listen(
    _ base: ComposedLevel<Upper, Lower>, _ hearing: Hearing, _ coherence: Coherence<Key>,
    _ recorder: OperatorRecorder
  ) async {
    // Nothing is heard; the upper level has not forgotten what it should have.
    var (isLost, isInDoubt) = (true, false)
    for await change in coherence.feed {
      do {
        switch change {
        case .names(let names) where isLost || !isInDoubt:
          for name in names { try await hear(coherence.meaning(name), base, hearing, recorder) }
        case .names, .everything:
          var cause = InvalidationCause.overflow
          if case .everything(let told) = change { (cause, isLost) = (told, false) }
          try await base.invalidateAll(cause)
          hearing.tell(nil)
          isInDoubt = false
          hearing.count { $0.everything += 1 }
          recorder.record(.operated(.shared(.forgot(cause))))
          if hearing.hears() { recorder.record(.operated(.shared(.heard))) }
        case .lost(let lastHeard):
          isLost = true
          if hearing.isDeaf(since: lastHeard) { recorder.record(.operated(.shared(.deaf(since: lastHeard)))) }
        }
      } catch {
        if error is CancellationError { continue }
        // The upper level failed to forget: it is passed by until everything was forgotten, which the next change tries.
        recorder.record(.failed(.remove, String(describing: error), .zero))
        isInDoubt = true
        hearing.mayServeNothing()
        hearing.tell(nil)
      }
    }
    hearing.isDeaf(since: hearing.clock.now)
  }

  private static func hear(
    _ change: HeardChange<Key>, _ base: ComposedLevel<Upper, Lower>, _ hearing: Hearing, _ recorder: OperatorRecorder
  ) async throws {
    switch change {
    case .nothing: return
    case .key(let key):
      try await base.invalidate(key)
      hearing.tell(key)
      hearing.count { $0.keys += 1 }
      recorder.record(.operated(.shared(.forgot(nil))), key: key)
    case .tag(let tag):
      try await base.invalidate(tagged: tag)
      hearing.tell(nil)
      hearing.count { $0.tags += 1 }
      recorder.record(.operated(.shared(.forgot(.requested))))
    case .everything:
      try await base.invalidateAll(.flushed)
      hearing.tell(nil)
      hearing.count { $0.everything += 1 }
      recorder.record(.operated(.shared(.forgot(.flushed))))
    }
  }
}

extension CoherentLevel: InvalidatableLevel {
  /// Forgets the copy of a key.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension CoherentLevel: TaggedLevel where Upper: TaggedLevel, Lower: TaggedLevel {
  /// Removes every entry that was stored with a tag from both levels.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension CoherentLevel: SelectiveRemoval where Upper: SelectiveRemoval, Lower: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from both levels.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

extension CoherentLevel: ConditionalLevel where Upper: ConditionalLevel, Lower: ConditionalLevel {
  /// Stores a value in both levels if a condition holds in the shared one.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    // What the upper level has decides nothing here: another process may come between.
    try await base.storeBelow(value, forKey: key, terms: terms, if: condition)
  }
}

extension CoherentLevel: BulkLevel where Lower: BulkLevel {
  /// Asks the upper level if that may be served, then the shared one.
  public func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>] {
    if hearing.mayServe { return try await base.lookup(keys) }
    return try await base.lower.lookup(keys)
  }

  /// Stores values in both levels.
  public func store(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws {
    try await base.store(entries, terms: terms)
  }

  /// Removes from both levels.
  public func remove(_ keys: [Key]) async throws { try await base.remove(keys) }
}

extension CoherentLevel: ListeningLevel {
  package var deafSince: CacheInstant? { hearing.report.deafSince }

  package func tell(_ ear: @escaping @Sendable (_ key: (any Sendable)?) -> Bool) { hearing.add(ear) }
}

extension CoherentLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }

extension CacheLevel {
  /// Stacks this level above one that is shared with other processes, and forgets what they change there.
  ///
  /// ```swift
  /// let shared = try SharedCacheLevel<String, Data>(store, namespace: "photos", valueCoding: .data)
  /// let photos = memory.compose(shared, coherence: Coherence(bus, of: shared))
  /// ```
  ///
  /// - Parameters:
  ///   - lower: The shared level, or one built on it: `shared.timeout(after: .milliseconds(50)).optional()`.
  ///   - coherence: How changes by others are heard of, and what to do while nothing is heard.
  ///   - partialStores: Whether this level takes a value that the lower one could not store.
  ///   - backFill: How long a read waits for its value to be copied to this level, if this one does not store at
  ///     once.
  ///   - observer: Notified when a level fails and the composition goes on without it, and what was heard. By default the log.
  ///   - clock: The clock that events, the wait for a copy and silence are timed by.
  /// - Returns: Both levels as one.
  public func compose<Lower: CacheLevel>(
    _ lower: Lower, coherence: Coherence<Key>, partialStores: PartialStores = .allowed,
    backFill: BackFill = .within(.milliseconds(50)), observer: (any CacheObserver)? = CacheLogger.failures,
    clock: any CacheClock = SystemClock()
  ) -> CoherentLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    CoherentLevel(
      compose(lower, partialStores: partialStores, backFill: backFill, observer: observer, clock: clock), coherence,
      recorder: OperatorRecorder(name: "coherence", observer: observer, clock: clock), clock: clock)
  }

  /// As `compose(_:coherence:partialStores:backFill:observer:clock:)`, where the levels tell of their failures themselves.
  ///
  /// `clock`: What events are timed by; silence and the store go by the system's.
  package func compose<Lower: CacheLevel>(
    _ lower: Lower, coherence: Coherence<Key>, told observer: any CacheObserver, clock: any CacheClock
  ) -> CoherentLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    CoherentLevel(
      compose(lower, observer: nil), coherence,
      recorder: OperatorRecorder(name: "coherence", observer: observer, clock: clock), clock: SystemClock())
  }
}

extension CoherentLevel: ReloadableLevel {
  /// Reloads a key from the shared level, or from what is below that.
  public func reload(_ key: Key) async throws -> Lookup<Value> { try await base.reload(key) }
}

// What is written while a value is loaded wins here, too.
extension CoherentLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { base.loadScope }
  package func beginLoad(_ key: Key) async throws -> LoadTicket? { try await base.noteLoad(key) }
}

extension CoherentLevel: EndingLevel {
  package func end(_ key: Key?) async throws { try await base.endOrRemove(key) }
}
