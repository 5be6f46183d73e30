/// A level above another: reads ask the upper one first, writes go to both.
///
/// Built by ``CacheLevel/compose(_:observer:)``.
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
/// replaces a newer value: a set, removal or clear through this level that began while the read travelled wins. A copy
/// that fails is reported and does not fail the read. A read that was overtaken so asks the upper level once more, and
/// gives what that holds by now.
///
/// Writes of one key are carried out one after the other, the lower level first, so that all levels end with the same
/// value. Every level is tried; if some fail, one error names them. With ``PartialStores/refused`` a store that the lower
/// level fails ends there, and both levels keep the value that they had.
public struct ComposedLevel<Upper: CacheLevel, Lower: CacheLevel>: CacheLevel
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// What values are found by.
  public typealias Key = Upper.Key
  /// What is held.
  public typealias Value = Upper.Value

  /// The level that is asked first.
  public let upper: Upper
  /// The level that is asked when the upper one has no value.
  public let lower: Lower

  @usableFromInline let observer: (any CacheObserver)?
  @usableFromInline let partialStores: PartialStores
  @usableFromInline let gate = WriteGate<Key>()

  init(upper: Upper, lower: Lower, observer: (any CacheObserver)?, partialStores: PartialStores = .allowed) {
    self.upper = upper
    self.lower = lower
    self.observer = observer
    self.partialStores = partialStores
  }

  /// The names of both levels.
  public var name: String { "\(upper.name)+\(lower.name)" }

  /// Returns the value of the first level that has one.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if both levels miss.
  /// - Throws: The lower level's error if the upper one has no value; `CancellationError`.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = upper.peek(key) { return value }
    return try await lookup(key).entry?.value
  }

  /// Returns the upper level's value, if that can answer at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if only ``get(_:)`` can tell.
  @inlinable
  public func peek(_ key: Key) -> Value? { upper.peek(key) }

  /// Returns the entry of the first level that has one, or the lower level's reason for the miss.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry with the name of the level that answered.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    let epoch = gate.currentEpoch
    let above: Result<Lookup<Value>, any Error>
    do {
      let answer = try await upper.lookup(key)
      if case .hit = answer { return answer }
      above = .success(answer)
    } catch {
      above = .failure(error)
    }
    return try await lookupBelow(key, above: above, since: epoch)
  }

  @inlinable
  func lookupBelow(
    _ key: Key, above: Result<Lookup<Value>, any Error>, since epoch: UInt64
  ) async throws -> Lookup<Value> {
    try await readBelow(key, above: above, since: epoch, instead: { nil }, onFailure: { throw $0 })
  }

  /// Returns the entry of the first level that still keeps one, fresh or stale.
  ///
  /// Nothing is copied upwards. A level that fails is passed over.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the lower level's reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    let above: Result<Lookup<Value>, any Error>
    do {
      let answer = try await upper.lookupIncludingExpired(key)
      if case .hit = answer { return answer }
      above = .success(answer)
    } catch {
      above = .failure(error)
    }
    try reportFailure(of: above, key)
    try Task.checkCancellation()
    let below = try await lower.lookupIncludingExpired(key)
    return below.missReason == .nothingToAsk ? try above.get() : below
  }

  /// Goes on with a read that the upper level did not answer.
  ///
  /// A kind of composition that delivers stale values has its say: `instead` may answer in place of the lower level, which
  /// then is not asked, and `onFailure` may answer when the lower level has failed.
  @inlinable
  func readBelow(
    _ key: Key, above: Result<Lookup<Value>, any Error>, since epoch: UInt64,
    instead: () async throws -> Entry<Value>?, onFailure: (any Error) async throws -> Entry<Value>
  ) async throws -> Lookup<Value> {
    let ticket = gate.beginRead(key, since: epoch)
    defer { gate.endRead(key) }
    try reportFailure(of: above, key)
    if let entry = try await instead() { return .hit(entry) }
    let below: Lookup<Value>
    do {
      below = try await askBelow(key, readVersion: ticket.version)
    } catch let error as CancellationError {
      throw error
    } catch {
      return .hit(try await onFailure(error))
    }
    if below.missReason == .nothingToAsk { return try above.get() }
    // A write has changed the lower level, perhaps, and the upper one not yet. What the upper level holds now is what
    // all others read until the write gets there; to answer ahead of it would let a later read go back in time.
    guard gate.isOvertaken(key, ticket: ticket) else { return below }
    do {
      let again = try await upper.lookup(key)
      return again.entry == nil ? below : again
    } catch {
      try reportFailure(of: .failure(error), key)
      return below
    }
  }

  /// Reads the lower level alone, and copies what it has to the upper one.
  func refresh(_ key: Key) async throws -> Lookup<Value> {
    let version = gate.beginRead(key)
    defer { gate.endRead(key) }
    return try await askBelow(key, readVersion: version)
  }

  /// A level that fails is passed over and reported; a cancellation ends the read.
  @inlinable
  func reportFailure(of above: Result<Lookup<Value>, any Error>, _ key: Key) throws {
    guard case .failure(let error) = above else { return }
    if error is CancellationError { throw error }
    report(.get, of: upper.name, key: key, error)
  }

  @inlinable
  func askBelow(_ key: Key, readVersion: UInt64) async throws -> Lookup<Value> {
    try Task.checkCancellation()
    let answer = try await lower.lookup(key)
    guard case .hit(let entry) = answer else { return answer }
    try Task.checkCancellation()
    try await gate.backFill(key, readVersion: readVersion) {
      do {
        try await upper.store(
          entry.value, forKey: key,
          terms: .backFill(deadline: entry.deadline, tags: entry.tags, created: entry.created))
      } catch let error as CancellationError {
        throw error
      } catch {
        report(.backFill, of: upper.name, key: key, error)
      }
    }
    return answer
  }

  /// Stores a value in both levels.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/partialFailure`` or ``CacheError/Code/writeFailed``.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in both levels on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, what it weighs, and who stores it.
  /// - Throws: As ``set(_:forKey:)``.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await gate.write(key) {
      try await storeInBoth(value, key, terms)
    }
  }

  /// Removes the value for a key from both levels.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: As ``set(_:forKey:)``.
  @inlinable
  public func remove(_ key: Key) async throws {
    try await gate.write(key) {
      try await inBoth {
        try await lower.remove(key)
      } upper: {
        try await upper.remove(key)
      }
    }
  }

  /// Removes everything from both levels.
  ///
  /// - Throws: As ``set(_:forKey:)``.
  public func clear() async throws {
    try await gate.writeAll {
      try await inBoth {
        try await lower.clear()
      } upper: {
        try await upper.clear()
      }
    }
  }

  /// Hands the warning to both levels.
  public func onMemoryWarning() async {
    await upper.onMemoryWarning()
    await lower.onMemoryWarning()
  }

  @inlinable
  func storeInBoth(_ value: Value, _ key: Key, _ terms: StoreTerms) async throws {
    if partialStores == .refused {
      try await lower.store(value, forKey: key, terms: terms)
      // From here on the lower level has the value: a failure above is told as any other.
      try await inBoth {
      } upper: {
        try await upper.store(value, forKey: key, terms: terms)
      }
    } else {
      try await inBoth {
        try await lower.store(value, forKey: key, terms: terms)
      } upper: {
        try await upper.store(value, forKey: key, terms: terms)
      }
    }
  }

  @inlinable
  func inBoth(lower writeLower: () async throws -> Void, upper writeUpper: () async throws -> Void) async throws {
    var attempts = WriteAttempts()
    try await attempts.attempt(lower.name, writeLower)
    try await attempts.attempt(upper.name, writeUpper)
    if let error = attempts.error { throw error }
  }

  @usableFromInline
  func report(_ operation: CacheEvent.Operation, of level: String, key: Key, _ error: any Error) {
    guard let observer else { return }
    observer.record(
      CacheEvent(
        time: SystemClock().now, request: .current, level: level, key: EventRecorder.text(of: key),
        kind: .failed(operation, String(describing: error), .zero)))
  }
}

extension ComposedLevel: ConditionalLevel where Upper: ConditionalLevel, Lower: ConditionalLevel {
  /// Stores a value in both levels if a condition holds of what a read through both finds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, what it weighs, and who stores it.
  ///   - condition: What must hold of the key.
  /// - Returns: Whether the value was stored.
  /// - Throws: As ``set(_:forKey:)``; the error of a level that could not say whether it holds the key.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await gate.write(key) {
      var isHeld = try await upper.lookup(key).entry != nil
      if !isHeld { isHeld = try await lower.lookup(key).entry != nil }
      guard condition.holds(isHeld: isHeld) else { return false }
      try await storeInBoth(value, key, terms)
      return true
    }
  }
}

extension ComposedLevel: SelectiveRemoval where Upper: SelectiveRemoval, Lower: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from both levels.
  ///
  /// - Parameter condition: Whether the entry of a key goes.
  /// - Returns: How many entries were removed from the two levels together.
  /// - Throws: As ``set(_:forKey:)``.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await removeFromBoth {
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
    try await removeFromBoth {
      try await lower.removeAll(tagged: tag)
    } upper: {
      try await upper.removeAll(tagged: tag)
    }
  }
}

extension ComposedLevel {
  /// Removes some of the keys from both levels while nothing else is written, so that no back-fill brings one back.
  private func removeFromBoth(
    lower removeLower: () async throws -> Int, upper removeUpper: () async throws -> Int
  ) async throws -> Int {
    try await gate.writeAll {
      var count = 0
      try await inBoth {
        count += try await removeLower()
      } upper: {
        count += try await removeUpper()
      }
      return count
    }
  }
}

extension CacheLevel {
  /// Puts this level above another.
  ///
  /// ```swift
  /// let cache = memory.compose(disk).compose(network)
  /// ```
  ///
  /// - Parameters:
  ///   - lower: The level to ask when this one has no value.
  ///   - observer: Told when a level fails and the composition goes on without it. By default the log.
  /// - Returns: Both levels as one.
  public func compose<Lower: CacheLevel>(
    _ lower: Lower, observer: (any CacheObserver)? = CacheLogger()
  ) -> ComposedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    ComposedLevel(upper: self, lower: lower, observer: observer)
  }

  /// Puts this level above another, and says what becomes of a store that the lower level fails.
  ///
  /// - Parameters:
  ///   - lower: The level to ask when this one has no value.
  ///   - partialStores: Whether this level takes a value that the lower one could not store.
  ///   - observer: Told when a level fails and the composition goes on without it. By default the log.
  /// - Returns: Both levels as one.
  public func compose<Lower: CacheLevel>(
    _ lower: Lower, partialStores: PartialStores, observer: (any CacheObserver)? = CacheLogger()
  ) -> ComposedLevel<Self, Lower> where Lower.Key == Key, Lower.Value == Value {
    ComposedLevel(upper: self, lower: lower, observer: observer, partialStores: partialStores)
  }
}
