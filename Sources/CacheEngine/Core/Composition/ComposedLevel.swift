/// A level above another: reads ask the upper one first, writes go to both.
///
/// Built by ``CacheLevel/compose(_:partialStores:backFill:observer:clock:)``.
///
/// | the upper level | the lower level | a read gives |
/// |---|---|---|
/// | hit | not asked | the upper value |
/// | miss, refused or failed | hit | the lower value, which is copied to the upper level |
/// | miss, refused or failed | miss | a miss, with the lower level's reason |
/// | miss, refused or failed | failed | the lower level's error |
/// | cancelled | not asked | `CancellationError` |
///
/// The copy keeps the age and the deadline of the entry found, shortened to the upper level's own lifetime, and never
/// replaces a newer value: a set, removal or clear through this level that began during the read wins. A copy
/// that fails is reported and does not fail the read. A read that was overtaken in this way asks the upper level once more, and
/// returns what that holds by then. If the upper level does not store at once, a read waits for its copy as long as
/// ``BackFill`` says. A placeholder (``Entry/isPlaceholder``) is not copied.
///
/// Writes of one key are carried out one by one, first come, first served, in the lower level first, so that all levels end up with the
/// same value. Every level is tried; if some fail, one error names them, and these keep their previous value, which they may go on
/// answering with until the key is removed or written again. With ``PartialStores/refused``, a store that fails in the lower level ends
/// there, and both levels keep their previous value. A write that is cancelled may have been carried out below all the same, so the upper
/// level forgets the key. If a level below, asked to write a key, writes the same key through the same
/// composition, that write would wait for itself, and fails with ``CacheError/Code/circular``. So does one that is made by the load of a
/// pool that the level below reads from, or one of a key whose own write waits for it. If a level below starts tasks of its own and waits
/// for them, this is not detected for what those write.
///
/// A clear, a removal by tag or condition, and an invalidation wait for no write below and hold none up; they too begin with the
/// lower level. Each key is removed at a moment of its own. If the upper level stores at once, as memory does, no
/// value whose write had ended when the removal began is served after the removal has ended. A write that overlaps the removal comes
/// before or after it: in doubt the upper level does not take its value, or forgets it, and the lower level
/// decides. A value without tags that was on its way up while entries were removed by tag is returned and not copied, since
/// not every level reports the tags of its entries. An upper level that does not store at once may serve a value that was being stored
/// in it when the removal began, or that was to be replaced, until that store has ended; then it forgets the value.
public struct ComposedLevel<Upper: CacheLevel, Lower: CacheLevel>: CacheLevel
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// The type of the keys.
  public typealias Key = Upper.Key
  /// The type of the values.
  public typealias Value = Upper.Value

  /// The level that is asked first.
  public let upper: Upper
  /// The level that is asked when the upper one has no value.
  public let lower: Lower

  @usableFromInline let gate = WriteGate<Key>()
  @usableFromInline let manner: CompositionManner<Key, Value>

  init(upper: Upper, lower: Lower, manner: CompositionManner<Key, Value>) {
    self.upper = upper
    self.lower = lower
    self.manner = manner
  }

  /// The names of both levels.
  public var name: String { "\(upper.name)+\(lower.name)" }

  /// Returns the value of the first level that has one.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if both levels miss.
  /// - Throws: The lower level's error if the upper one has no value; `CancellationError`.
  @inlinable
  @inline(__always)
  public func get(_ key: Key) async throws -> Value? {
    if let value = upper.peek(key) { return value }
    return try await getSlowly(key)
  }

  @inlinable
  @inline(never)
  func getSlowly(_ key: Key) async throws -> Value? { try await readHere(key, renewing: nil).value }

  /// Returns the upper level's value, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { upper.peek(key) }

  /// Returns the upper level's entry, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { upper.peekEntry(key) }

  /// Returns the entry of the first level that has one, or the lower level's reason for the miss.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry with the name of the level that answered.
  /// - Throws: As ``get(_:)``.
  @inlinable
  @inline(__always)
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    if let entry = upper.peekEntry(key) { return .hit(entry) }
    return try await read(key, renewing: nil)
  }

  /// Returns what `lookup(_:)` does, without a look at what the upper level has at once.
  @inlinable
  public func lookupPastPeek(_ key: Key) async throws -> Lookup<Value> { try await read(key, renewing: nil) }

  @inlinable
  @inline(never)
  func read(_ key: Key, renewing offered: OfferedEntry<Value>?) async throws -> Lookup<Value> {
    try await readHere(key, renewing: offered)
  }

  // In the function that asks, whether for a value or an entry: one more is one more that waits.
  @inlinable
  @inline(__always)
  func readHere(_ key: Key, renewing offered: OfferedEntry<Value>?) async throws -> Lookup<Value> {
    let began = gate.currentEpoch
    let above: UpperMiss
    do {
      switch try await upper.lookupPastPeek(key) {
      case .hit(let entry): return .hit(entry)
      case .miss(let reason): above = .missed(reason)
      }
    } catch {
      above = .failed(error)
    }
    if let pool = manner.pool { return try await readPool(pool, key, above: above, since: began, renewing: offered) }
    let ticket = gate.beginRead(key, since: began)
    var hasEnded = false
    let below: Lookup<Value>
    do {
      try reportFailure(of: above, key)
      try TaskIdentity.checkCancellation()
      var isAbove = false
      below = try await askLower(key, ticket, renewing: offered, isAbove: &isAbove)
      if !isAbove {
        hasEnded = try await keepAndEnd(below, key, ticket, dropping: above.mayKeepStale ? .stale : .nothing)
      }
    } catch {
      gate.endRead(key, ticket)
      throw error
    }
    let isOvertaken = hasEnded ? false : gate.endReadOvertaken(key, ticket)
    return try await settle(below, key, isOvertaken: isOvertaken, above: above)
  }

  /// Returns the entry of the first level that still keeps one, fresh or stale.
  ///
  /// If that of the upper level has expired, an entry of the lower level that has not, or that was stored later, takes precedence.
  /// Nothing is copied upwards. A level that fails is skipped. While the key is being written, this may give a value that
  /// `lookup(_:)` gives only when the write has ended.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the lower level's reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    let above: UpperMiss
    do {
      switch try await upper.lookupIncludingExpired(key) {
      case .hit(let entry): return .hit(entry.isStale ? try await newer(than: entry, key) ?? entry : entry)
      case .miss(let reason): above = .missed(reason)
      }
    } catch {
      above = .failed(error)
    }
    try reportFailure(of: above, key, isTold: false)
    try Task.checkCancellation()
    let below = try await lower.lookupIncludingExpired(key)
    return below.missReason == .nothingToAsk ? try above.get() : below
  }

  /// What the lower level has that an expired entry of the upper one must not hide.
  private func newer(than stale: Entry<Value>, _ key: Key) async throws -> Entry<Value>? {
    try Task.checkCancellation()
    do {
      guard let entry = try await lower.lookupIncludingExpired(key).entry, !entry.isPlaceholder else { return nil }
      if !entry.isStale { return entry }
      guard let stored = stale.created, let created = entry.created, stored < created else { return nil }
      return entry
    } catch let error as CancellationError {
      throw error
    } catch {
      manner.report(.get, of: lower.name, key: key, error, since: nil)
      return nil
    }
  }

  /// Goes on with a read that the upper level did not answer, for a kind of composition that delivers stale values and has its say.
  ///
  /// `instead` may answer in place of the lower level, which then is not asked, and `onFailure` may answer when the lower
  /// level has failed. What was offered from further up is for a lower level that renews expired entries.
  @inlinable
  func readBelow(
    _ key: Key, above: UpperMiss, since began: GateTime, renewing offered: OfferedEntry<Value>?,
    instead: () async throws -> Entry<Value>?, onFailure: (any Error) async throws -> Entry<Value>
  ) async throws -> Lookup<Value> {
    let ticket = gate.beginRead(key, since: began)
    defer { gate.endRead(key, ticket) }
    try reportFailure(of: above, key)
    if let entry = try await instead() { return .hit(entry) }
    let below: Lookup<Value>
    do {
      below = try await askBelow(
        key, ticket, since: began, dropping: above.mayKeepStale ? .stale : .nothing, renewing: offered)
    } catch let error as CancellationError {
      throw error
    } catch {
      return .hit(try await onFailure(error))
    }
    return try await settle(below, key, isOvertaken: gate.isOvertaken(key, ticket), above: above)
  }

  /// What a read gives when the lower level has answered.
  @inlinable
  @inline(__always)
  func settle(
    _ below: Lookup<Value>, _ key: Key, isOvertaken: Bool, above: UpperMiss
  ) async throws -> Lookup<Value> {
    if case .miss(.nothingToAsk) = below { return try above.get() }
    // A write has changed the lower level, perhaps, and the upper one not yet. What the upper level holds now is what
    // all others read until the write gets there; to answer ahead of it would let a later read go back in time.
    return isOvertaken ? try await askAgain(key, or: below) : below
  }

  /// What the upper level holds by now, or else what the lower one has answered.
  @usableFromInline
  func askAgain(_ key: Key, or below: Lookup<Value>) async throws -> Lookup<Value> {
    try await askAgain(key).map { .hit($0) } ?? below
  }

  /// What the upper level holds by now.
  @usableFromInline
  func askAgain(_ key: Key) async throws -> Entry<Value>? {
    do { return try await upper.lookup(key).entry } catch {
      try reportFailure(of: .failed(error), key)
      return nil
    }
  }

  /// A level that fails is passed over and reported, unless it tells of such a read itself; a cancellation ends the read.
  @inlinable
  func reportFailure(of above: UpperMiss, _ key: Key, isTold: Bool = true) throws {
    guard case .failed(let error) = above else { return }
    if error is CancellationError { throw error }
    if isTold, manner.upperTellsOfReads { return }
    manner.report(.get, of: upper.name, key: key, error, since: nil)
  }

  /// Stores a value in both levels.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/partialFailure`` or ``CacheError/Code/writeFailed``;
  ///   `CancellationError`: the lower level may have the value all the same, and the upper one forgets what it has.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    // Where nothing waits, without a function that might.
    if storesAtOnce, storeAtOnce(value, forKey: key, terms: StoreTerms()) { return }
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in both levels on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    if terms.load != nil, try await storeLoaded(value, key, terms) { return }
    let turn = gate.beginWrite(key)
    if !turn.isGranted { try await gate.wait(key) }
    defer { gate.endWrite(key, turn) }
    let began = gate.currentPhase
    let written = storeAtOnce(value, key, terms, since: began)
    if written != .both { try await storeInBoth(value, key, terms, since: began, but: written) }
  }

  /// Removes the value for a key from both levels.
  @inlinable
  public func remove(_ key: Key) async throws {
    let turn = gate.beginWrite(key)
    if !turn.isGranted { try await gate.wait(key) }
    defer { gate.endWrite(key, turn) }
    try await removeFromBoth(key)
  }

  /// Removes everything from both levels.
  public func clear() async throws {
    try await sweep(.everything) {
      try await lower.clear()
    } upper: {
      try await upper.clear()
    }
  }

  /// Hands the warning to both levels.
  public func onMemoryWarning() async {
    await upper.onMemoryWarning()
    await lower.onMemoryWarning()
  }

  /// Removes many keys from both levels, or copies of them alone.
  func sweep(
    _ concern: SweepConcern<Key>, keepsBelow: Bool = false, lower removeBelow: () async throws -> Void,
    upper removeAbove: () async throws -> Void
  ) async throws {
    var attempts = WriteAttempts()
    try await gate.sweep(concern, keepsBelow: keepsBelow) {
      try await attempts.attempt(lower.name, removeBelow)
    } waits: {
      upper.storesAtOnce
    } above: {
      try await attempts.attempt(upper.name, removeAbove)
    }
    if let error = attempts.error { throw error }
  }
}

extension ComposedLevel: SelectiveRemoval where Upper: SelectiveRemoval, Lower: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from both levels.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed from the two levels together.
  /// - Throws: As ``set(_:forKey:)``.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await removeFromBoth(.keys(condition)) {
      try await lower.removeAll(where: condition)
    } upper: {
      try await upper.removeAll(where: condition)
    }
  }
}

extension ComposedLevel: TaggedLevel where Upper: TaggedLevel, Lower: TaggedLevel {
  /// Removes every entry that was stored with a tag from both levels.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed from the two levels together.
  /// - Throws: As ``set(_:forKey:)``.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    try await removeFromBoth(.tagged(tag)) {
      try await lower.removeAll(tagged: tag)
    } upper: {
      let count = try await upper.removeAll(tagged: tag)
      // Of a write whose value is gone below, the upper level still has what that was to take the place of.
      if upper.storesAtOnce { for key in gate.keysBeingWritten { try await upper.remove(key) } }
      return count
    }
  }
}

extension ComposedLevel {
  /// Removes some of the keys from both levels, so that no back-fill brings one back.
  private func removeFromBoth(
    _ concern: SweepConcern<Key>, lower removeLower: () async throws -> Int, upper removeUpper: () async throws -> Int
  ) async throws -> Int {
    var count = 0
    try await sweep(concern) {
      count += try await removeLower()
    } upper: {
      count += try await removeUpper()
    }
    return count
  }
}

extension CacheLevel {
  /// Stacks this level above another.
  ///
  /// ```swift
  /// let cache = memory.compose(disk).compose(network)
  /// ```
  ///
  /// - Parameters:
  ///   - lower: The level to ask when this one has no value.
  ///   - partialStores: Whether this level takes a value that the lower one could not store.
  ///   - backFill: How long a read waits for its value to be copied to this level, if this one does not store at
  ///     once.
  ///   - observer: Notified when a level fails and the composition goes on without it. By default the log.
  ///   - clock: The clock by which events and the wait for a copy are timed.
  /// - Returns: Both levels as one.
  public func compose<Lower: CacheLevel>(
    _ lower: Lower, partialStores: PartialStores = .allowed, backFill: BackFill = .within(.milliseconds(50)),
    observer: (any CacheObserver)? = CacheLogger.failures, clock: any CacheClock = SystemClock()
  ) -> ComposedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    ComposedLevel(
      upper: self, lower: lower,
      manner: CompositionManner(
        upper: self, lower: lower, partialStores: partialStores, backFill: backFill, observer: observer, clock: clock))
  }
}

extension ComposedLevel {
  /// Whether both levels do.
  @inlinable public var storesAtOnce: Bool { upper.storesAtOnce && lower.storesAtOnce }
}

extension ComposedLevel: ShapedLevel { package var shape: LevelShape { .stacked(upper, lower) } }
