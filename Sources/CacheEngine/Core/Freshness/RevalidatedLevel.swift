import Synchronization

/// When a value that is past its deadline, or close to it, may still be returned, and when it is reloaded.
///
/// The terms are those of RFC 5861 (HTTP Cache-Control Extensions for Stale Content).
public struct RevalidationPolicy: Sendable, Equatable {
  /// How long after its deadline a value is returned while it is reloaded in the background; `nil` for never.
  public var whileRevalidate: Duration?
  /// How long after its deadline a value is returned if the level below fails; `nil` for never.
  public var ifError: Duration?
  /// How long before its deadline a read of a value starts to reload it in the background; `nil` for never.
  public var ahead: Duration?
  /// How long after its deadline a value is returned if the level below has not answered in time; `nil` for never.
  public var ifSlow: Duration?
  /// How long ``ifSlow`` waits for the level below.
  public var slowAfter: Duration
  /// How long a key is not reloaded in the background after a reload that brought no value.
  public var pause: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - whileRevalidate: How long a stale value is returned while it is reloaded; `nil` for never.
  ///   - ifError: How long a stale value is returned if the level below fails; `nil` for never.
  ///   - ahead: How long before its deadline a value is reloaded; `nil` for never.
  ///   - ifSlow: How long a stale value is returned if the level below takes longer than `slowAfter`; `nil` for never.
  ///   - slowAfter: How long the level below may take before `ifSlow` applies.
  ///   - pause: How long a key is not reloaded in the background after a reload that brought no value.
  public init(
    whileRevalidate: Duration? = nil, ifError: Duration? = nil, ahead: Duration? = nil, ifSlow: Duration? = nil,
    slowAfter: Duration = .milliseconds(100), pause: Duration = .seconds(1)
  ) {
    self.pause = pause
    self.ifSlow = ifSlow
    self.slowAfter = slowAfter
    self.whileRevalidate = whileRevalidate
    self.ifError = ifError
    self.ahead = ahead
  }
}

/// A level above another that may return values past their deadline, and reloads them in the background.
///
/// Built by ``CacheLevel/compose(_:revalidating:name:observer:clock:)`` and its short forms. It is a composition that in addition does this:
///
/// | the upper level | the lower level | a read gives |
/// |---|---|---|
/// | hit, close to its deadline | asked in the background | the upper value |
/// | expired, within `whileRevalidate` | asked in the background | the stale value, ``Entry/isStale`` |
/// | expired, within `ifError` | failed | the stale value |
/// | expired, within `ifError` | miss | a miss: the source says that there is no longer such a value |
/// | expired, within `ifSlow` | asked, and has not answered within `slowAfter` | the stale value; the answer is stored when it comes |
/// | expired longer ago | failed | the lower level's error |
///
/// A key that the lower level says it no longer has is dropped above as well, whether a read or a background reload asked. A key that
/// a condition refused, or that has expired there or is damaged, is not.
///
/// The upper level must keep expired entries for as long: see the `keepsExpired` of ``MemoryCacheLevel`` and
/// ``DiskCacheLevel``. However many readers a key has, there is one reload of it at a time. A background reload
/// obeys the rules of a back-fill: it never replaces a newer set, removal or clear. If it fails, the observer is told, and
/// a read after the policy's ``RevalidationPolicy/pause`` starts another one. A reload that never ends blocks any other of its key:
/// give a source that may hang a ``CacheLevel/timeout(after:writes:name:observer:clock:)``.
public final class RevalidatedLevel<Upper: CacheLevel, Lower: CacheLevel>: LevelDecorator
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// The type of the keys.
  public typealias Key = Upper.Key
  /// The type of the values.
  public typealias Value = Upper.Value

  /// The two levels, composed.
  public let base: ComposedLevel<Upper, Lower>
  /// When stale values are delivered.
  public let policy: RevalidationPolicy

  @usableFromInline let recorder: OperatorRecorder
  private let refreshes = Mutex(Refreshes<Key, Value>())

  init(base: ComposedLevel<Upper, Lower>, policy: RevalidationPolicy, recorder: OperatorRecorder) {
    self.base = base
    self.policy = policy
    self.recorder = recorder
  }

  /// Returns the value for a key, fresh or as stale as the policy allows.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: As the composition of the two levels.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = peek(key) { return value }
    return try await lookup(key).entry?.value
  }

  /// Returns the upper level's value, if that can answer at once and is not due to be reloaded ahead of time.
  @inlinable
  public func peek(_ key: Key) -> Value? { policy.ahead == nil ? base.peek(key) : nil }

  /// Returns the entry for a key, fresh or as stale as the policy allows.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As the composition of the two levels.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await read(key, renewing: nil) }

  @inlinable
  func read(_ key: Key, renewing offered: OfferedEntry<Value>?) async throws -> Lookup<Value> {
    let epoch = base.gate.currentEpoch
    let above: UpperMiss
    do {
      switch try await base.upper.lookup(key) {
      case .hit(let entry):
        if isDue(entry) { refresh(key) }
        return .hit(entry)
      case .miss(let reason): above = .missed(reason)
      }
    } catch {
      above = .failed(error)
    }
    if policy.ifSlow != nil, case .missed = above, let answer = try await readInTime(key) { return answer }
    return try await base.readBelow(key, above: above, since: epoch, renewing: offered) {
      let entry = try await staleEntry(key, within: policy.whileRevalidate)
      if entry?.isStale == true { refresh(key) }
      tell(entry, key)
      return entry
    } onFailure: { error in
      try await fallBack(key, from: error)
    }
  }

  @usableFromInline
  func fallBack(_ key: Key, from error: any Error) async throws -> Entry<Value> {
    guard let entry = try await staleEntry(key, within: policy.ifError) else { throw error }
    recorder.record(.fellBack(error: String(describing: error)), key: key)
    tell(entry, key)
    return entry
  }

  /// Reads a key again whose value is stale, and gives the stale value if that takes long; `nil` if no such value may be given.
  ///
  /// All who wait for a key wait for one reading, which goes on without them.
  @usableFromInline
  func readInTime(_ key: Key) async throws -> Lookup<Value>? {
    // What may be delivered without waiting is.
    guard try await staleEntry(key, within: policy.whileRevalidate) == nil,
      try await staleEntry(key, within: policy.ifSlow) != nil
    else { return nil }
    guard let load = refresh(key, heedsPause: false) else { return nil }
    let (clock, deadline) = (recorder.clock, now.advanced(by: policy.slowAfter))
    let inTime: Lookup<Value>??
    do {
      inTime = try await Race<Lookup<Value>?>().first {
        try await load.value
      } limit: {
        try await clock.sleep(until: deadline, tolerance: nil)
      }
    } catch {
      try Task.checkCancellation()
      return .hit(try await fallBack(key, from: error))
    }
    guard let inTime else {
      recorder.record(.timedOut(policy.slowAfter), key: key)
      // It may have been removed meanwhile, or a fresh one may have come.
      let entry = try await staleEntry(key, within: policy.ifSlow)
      tell(entry, key)
      return entry.map { .hit($0) }
    }
    return inTime?.missReason == .nothingToAsk ? nil : inTime
  }

  /// Returns the entry of the first level that still keeps one, fresh or stale; nothing is reloaded.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As the composition of the two levels.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(key)
  }

  /// How many keys are being reloaded.
  public var refreshCount: Int { refreshes.withLock { $0.underWay.count } }

  @inlinable var now: CacheInstant { recorder.clock.now }

  @inlinable
  func staleEntry(_ key: Key, within limit: Duration?) async throws -> Entry<Value>? {
    guard let limit else { return nil }
    // The level was asked before and has told its failure.
    guard let entry = try? await base.upper.lookupIncludingExpired(key).entry else {
      try Task.checkCancellation()
      return nil
    }
    // A fresh one came in the meantime.
    guard entry.isStale else { return entry }
    guard let deadline = entry.deadline, deadline.duration(to: now) < limit else { return nil }
    return entry
  }

  /// Whether an entry is close to its deadline.
  @inlinable
  func isDue(_ entry: Entry<Value>) -> Bool {
    guard let ahead = policy.ahead, let deadline = entry.deadline else { return false }
    return now.duration(to: deadline) <= ahead
  }

  @usableFromInline
  func tell(_ entry: Entry<Value>?, _ key: Key) {
    guard let entry, entry.isStale else { return }
    recorder.at(entry.level).record(.servedStale(deadline: entry.deadline), key: key)
  }

  @usableFromInline
  func refresh(_ key: Key) { _ = refresh(key, heedsPause: true) }

  /// Reads a key again in a task of its own, if that is not under way already.
  ///
  /// - Returns: The task; `nil` if it is too soon.
  private func refresh(_ key: Key, heedsPause: Bool) -> Task<Lookup<Value>?, any Error>? {
    let began = now
    return refreshes.withLock { refreshes in
      refreshes.task(of: key, at: began, heedsPause: heedsPause) {
        Task { try await RequestContext.numbered { try await readAnew(key, since: began) } }
      }
    }
  }

  /// Returns what was read; `nil` if a write or an invalidation came meanwhile: those who joined after that must not be given it.
  private func readAnew(_ key: Key, since began: CacheInstant) async throws -> Lookup<Value>? {
    recorder.record(.refreshBegan, key: key)
    let epoch = base.gate.currentEpoch
    let ticket = base.gate.beginRead(key)
    defer { base.gate.endRead(key, ticket) }
    let answer: Result<Lookup<Value>, any Error>
    do {
      answer = .success(
        try await Waiting.workForNobody {
          // What was set after the read that asked for this, and before this was noted, is not to be replaced.
          let kept = try? await base.upper.lookupIncludingExpired(key).entry
          if let kept, !kept.isStale, !isDue(kept) { return .hit(kept) }
          return try await base.askBelow(key, ticket, since: epoch, dropping: .anything)
        })
    } catch {
      answer = .failure(error)
    }
    let ended = now
    var (failure, isInVain) = (String?.none, true)
    switch answer {
    // What is kept nowhere would be asked for again by the next read.
    case .success(let lookup): isInVain = lookup.entry?.isPlaceholder ?? true
    case .failure(let error): failure = String(describing: error)
    }
    refreshes.withLock { $0.end(key, pausingUntil: isInVain ? ended.advanced(by: policy.pause) : nil, at: ended) }
    recorder.record(.refreshEnded(began.duration(to: ended), error: failure), key: key)
    // From here on nobody joins it.
    let found = try answer.get()
    return base.gate.isOvertaken(key, ticket) ? nil : found
  }
}

extension RevalidatedLevel: SelectiveRemoval where Upper: SelectiveRemoval, Lower: SelectiveRemoval {}
extension RevalidatedLevel: TaggedLevel where Upper: TaggedLevel, Lower: TaggedLevel {}
extension RevalidatedLevel: ConditionalLevel where Upper: ConditionalLevel, Lower: ConditionalLevel {}

extension RevalidatedLevel: UpdatableLevel {
  /// Puts a value in the place of the one that a read through both levels finds.
  @discardableResult
  public func update(
    _ key: Key, terms: StoreTerms = StoreTerms(), _ change: (Value?) throws -> Value?
  ) async throws -> Value? {
    try await base.update(key, terms: terms, change)
  }
}

extension RevalidatedLevel: ReloadableLevel {
  /// Reads a key from the lower level alone; no stale value is given.
  public func reload(_ key: Key) async throws -> Lookup<Value> { try await base.reload(key) }
}

extension RevalidatedLevel: RenewingLevel where Lower: RenewingLevel {
  /// As the lower level.
  public var renews: Bool { base.renews }

  /// As ``lookup(_:)``; the lower level is shown the given entry, or that of the upper level if it was stored later.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    try await read(key, renewing: OfferedEntry(old))
  }
}

// A stale value may be wanted there.
extension RevalidatedLevel: InvalidatableLevel {
  /// Ends the lifetime of the upper level's entry: it is served as far as the policy lets stale values be.
  ///
  /// The same is true of levels inside operators and compositions there; a level that lets nothing expire removes the
  /// entry.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key, keepingStale: true) }

  /// Ends the lifetime of all that the upper level holds.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await base.invalidateAll(cause, keepingStale: true)
  }
}

extension CacheLevel {
  /// Stacks this level above another, and returns stale values by a policy.
  ///
  /// - Parameters:
  ///   - lower: The level to ask when this one has no value, and to reload values from.
  ///   - policy: When stale values are returned.
  ///   - name: The name of this level in events.
  ///   - observer: Notified of what is reloaded, and when a level fails and the composition goes on without it.
  ///   - clock: The clock of both levels.
  /// - Returns: Both levels as one.
  public func compose<Lower: CacheLevel>(
    _ lower: Lower, revalidating policy: RevalidationPolicy, name: String = "stale",
    observer: (any CacheObserver)? = CacheLogger.failures, clock: any CacheClock = SystemClock()
  ) -> RevalidatedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    RevalidatedLevel(
      base: ComposedLevel(
        upper: self, lower: lower,
        manner: CompositionManner(
          upper: self, lower: lower, partialStores: .allowed, backFill: .within(.milliseconds(50)), observer: observer,
          clock: clock, isLowerSource: true)),
      policy: policy,
      recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }

  /// Stacks this level above another, and returns expired values while they are reloaded in the background.
  ///
  /// - Parameters:
  ///   - lower: The level to read values from.
  ///   - limit: How long after its deadline a value is returned.
  ///   - observer: Notified of what is reloaded, and of failures.
  ///   - clock: The clock of both levels.
  /// - Returns: Both levels as one.
  public func staleWhileRevalidate<Lower: CacheLevel>(
    _ lower: Lower, for limit: Duration, observer: (any CacheObserver)? = CacheLogger.failures,
    clock: any CacheClock = SystemClock()
  ) -> RevalidatedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    compose(lower, revalidating: RevalidationPolicy(whileRevalidate: limit), observer: observer, clock: clock)
  }

  /// Stacks this level above another, and returns expired values when that one fails.
  ///
  /// - Parameters:
  ///   - lower: The level to read values from.
  ///   - limit: How long after its deadline a value is returned.
  ///   - observer: Notified of failures.
  ///   - clock: The clock of both levels.
  /// - Returns: Both levels as one.
  public func staleIfError<Lower: CacheLevel>(
    _ lower: Lower, for limit: Duration, observer: (any CacheObserver)? = CacheLogger.failures,
    clock: any CacheClock = SystemClock()
  ) -> RevalidatedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    compose(lower, revalidating: RevalidationPolicy(ifError: limit), observer: observer, clock: clock)
  }

  /// Stacks this level above another, and returns expired values when that one takes long to answer.
  ///
  /// A read of an expired value waits for the lower level, but only for a limited time; then it returns the stale value. The load
  /// goes on, one for all callers, and its result is stored. If there is no stale value, a read waits for the load.
  ///
  /// - Parameters:
  ///   - lower: The level to read values from.
  ///   - wait: How long the lower level may take.
  ///   - limit: How long after its deadline a value is returned.
  ///   - observer: Notified of what is reloaded, what took long, and of failures.
  ///   - clock: The clock of both levels.
  /// - Returns: Both levels as one.
  public func staleIfSlow<Lower: CacheLevel>(
    _ lower: Lower, after wait: Duration, for limit: Duration,
    observer: (any CacheObserver)? = CacheLogger.failures, clock: any CacheClock = SystemClock()
  ) -> RevalidatedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    compose(
      lower, revalidating: RevalidationPolicy(ifSlow: limit, slowAfter: wait), observer: observer, clock: clock)
  }

  /// Stacks this level above another, and reloads values in the background shortly before they expire.
  ///
  /// - Parameters:
  ///   - lower: The level to read values from.
  ///   - window: How long before its deadline a read of a value starts to reload it.
  ///   - observer: Notified of what is reloaded, and of failures.
  ///   - clock: The clock of both levels.
  /// - Returns: Both levels as one.
  public func refreshAhead<Lower: CacheLevel>(
    _ lower: Lower, within window: Duration, observer: (any CacheObserver)? = CacheLogger.failures,
    clock: any CacheClock = SystemClock()
  ) -> RevalidatedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    compose(lower, revalidating: RevalidationPolicy(ahead: window), observer: observer, clock: clock)
  }
}

extension RevalidatedLevel: ShapedLevel {
  package var shape: LevelShape { .stale(.init("stale", name: recorder.name), base.upper, from: base.lower) }
}

extension RevalidatedLevel: EndingLevel {}
