/// Two levels side by side: each read and each write goes to the one that a selector names.
///
/// Built by ``switchLevels(_:_:selector:)``. The selector is asked again for each call. Removals, clears and warnings go to
/// both lanes, since the selector may have chosen the other one when a key was stored.
public struct SwitchedLevel<First: CacheLevel, Second: CacheLevel>: CacheLevel
where First.Key == Second.Key, First.Value == Second.Value {
  /// The type of the keys.
  public typealias Key = First.Key
  /// The type of the values.
  public typealias Value = First.Value

  /// The first lane.
  public let first: First
  /// The second lane.
  public let second: Second

  @usableFromInline let selector: @Sendable (Key) -> SwitchLane
  let loads = LoadScope()

  init(first: First, second: Second, selector: @escaping @Sendable (Key) -> SwitchLane) {
    self.first = first
    self.second = second
    self.selector = selector
  }

  /// The names of both lanes.
  public var name: String { "\(first.name)|\(second.name)" }

  /// Returns the value that the selected lane holds for a key.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The error of the selected lane.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    switch selector(key) {
    case .first: try await first.get(key)
    case .second: try await second.get(key)
    }
  }

  /// Returns the selected lane's entry for a key.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    switch selector(key) {
    case .first: try await first.lookup(key)
    case .second: try await second.lookup(key)
    }
  }

  /// Returns the value that the selected lane has at once.
  @inlinable
  public func peek(_ key: Key) -> Value? {
    switch selector(key) {
    case .first: first.peek(key)
    case .second: second.peek(key)
    }
  }

  /// Returns the entry that the selected lane has at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? {
    switch selector(key) {
    case .first: first.peekEntry(key)
    case .second: second.peekEntry(key)
    }
  }

  /// Returns the selected lane's entry for a key even if it has expired.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    switch selector(key) {
    case .first: try await first.lookupIncludingExpired(key)
    case .second: try await second.lookupIncludingExpired(key)
    }
  }

  /// Stores a value in the selected lane.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the selected lane, on terms of its own.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    switch selector(key) {
    case .first: try await first.store(value, forKey: key, terms: terms)
    case .second: try await second.store(value, forKey: key, terms: terms)
    }
  }

  /// Removes the value for a key from both lanes, whichever the selector names now.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/partialFailure`` or ``CacheError/Code/writeFailed``.
  @inlinable
  public func remove(_ key: Key) async throws {
    try await inBoth({ try await first.remove(key) }, { try await second.remove(key) })
  }

  /// Removes everything from both lanes.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/partialFailure`` or ``CacheError/Code/writeFailed``.
  public func clear() async throws {
    try await inBoth({ try await first.clear() }, { try await second.clear() })
  }

  /// Hands the warning to both lanes.
  public func onMemoryWarning() async {
    await first.onMemoryWarning()
    await second.onMemoryWarning()
  }

  @inlinable
  func inBoth(_ writeFirst: () async throws -> Void, _ writeSecond: () async throws -> Void) async throws {
    var attempts = WriteAttempts()
    try await attempts.attempt(first.name, writeFirst)
    try await attempts.attempt(second.name, writeSecond)
    if let error = attempts.error { throw error }
  }
}

extension SwitchedLevel: SelectiveRemoval where First: SelectiveRemoval, Second: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from both lanes.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed from the two lanes together.
  /// - Throws: As ``remove(_:)``.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    var count = 0
    try await inBoth(
      { count += try await first.removeAll(where: condition) },
      { count += try await second.removeAll(where: condition) })
    return count
  }
}

extension SwitchedLevel: TaggedLevel where First: TaggedLevel, Second: TaggedLevel {
  /// Removes every entry that was stored with a tag from both lanes.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed from the two lanes together.
  /// - Throws: As ``remove(_:)``.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    var count = 0
    try await inBoth(
      { count += try await first.removeAll(tagged: tag) }, { count += try await second.removeAll(tagged: tag) })
    return count
  }
}

extension SwitchedLevel: ConditionalLevel where First: ConditionalLevel, Second: ConditionalLevel {
  /// Stores a value in the selected lane if a condition holds there.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    switch selector(key) {
    case .first: try await first.store(value, forKey: key, terms: terms, if: condition)
    case .second: try await second.store(value, forKey: key, terms: terms, if: condition)
    }
  }
}

extension SwitchedLevel: InvalidatableLevel {
  /// Forgets the copies in both lanes; one that keeps none has nothing to forget.
  public func invalidate(_ key: Key) async throws {
    try await inBoth({ try await first.invalidateIfAble(key) }, { try await second.invalidateIfAble(key) })
  }

  /// Forgets all copies in both lanes; one that keeps none has nothing to forget.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await inBoth({ try await first.invalidateAllIfAble(cause) }, { try await second.invalidateAllIfAble(cause) })
  }
}

/// One of two levels side by side.
public enum SwitchLane: Sendable {
  /// The first level.
  case first
  /// The second level.
  case second
}

/// Puts two levels side by side; each get and each set goes to one of them.
///
/// ```swift
/// let lanes = switchLevels(wifiStack, cellularStack) { _ in isOnWiFi() ? .first : .second }
/// ```
///
/// - Parameters:
///   - first: The first lane.
///   - second: The second lane.
///   - selector: Names the lane for a key. It is evaluated for each call.
/// - Returns: Both levels as one.
public func switchLevels<First: CacheLevel, Second: CacheLevel>(
  _ first: First, _ second: Second, selector: @escaping @Sendable (First.Key) -> SwitchLane
) -> SwitchedLevel<First, Second> where First.Key == Second.Key, First.Value == Second.Value {
  SwitchedLevel(first: first, second: second, selector: selector)
}

extension SwitchedLevel {
  /// If both lanes do.
  @inlinable public var storesAtOnce: Bool { first.storesAtOnce && second.storesAtOnce }
}

extension SwitchedLevel: ShapedLevel {
  package var shape: LevelShape { .lanes(.init("lanes"), first, second) }
}
