/// On what a value is stored, judged at the very moment of the store.
public enum StoreCondition: Sendable, Equatable {
  /// There is no value, or it has expired.
  case absent
  /// There is a value.
  case present

  /// Whether the condition holds.
  @usableFromInline
  package func holds(isHeld: Bool) -> Bool { isHeld == (self == .present) }
}

/// A level that can store a value on a condition, atomically.
///
/// Memory and disk levels can, and so can operators around such levels: in a composition, no other write through that composition
/// comes between. The answer is whether the condition held. A fetcher stores nothing then, and neither does a memory level that has no
/// room for the value.
public protocol ConditionalLevel<Key, Value>: CacheLevel {
  /// Stores a value if a condition holds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and who stores it.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the condition held.
  /// - Throws: As ``CacheLevel/set(_:forKey:)``.
  func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool
}

extension ConditionalLevel {
  /// Stores a value only if there is none yet, or only one that has expired.
  ///
  /// The check and the store are one step, as in ``store(_:forKey:terms:if:)``.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - expiry: When the entry expires; `nil` for the level's own default.
  /// - Returns: Whether the condition held.
  /// - Throws: As ``CacheLevel/set(_:forKey:)``.
  public func setIfAbsent(_ value: Value, forKey key: Key, expiry: Expiry? = nil) async throws -> Bool {
    try await store(value, forKey: key, terms: StoreTerms(expiry: expiry), if: .absent)
  }

  /// Stores a value only if there is one already.
  ///
  /// The check and the store are one step, as in ``store(_:forKey:terms:if:)``.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - expiry: When the entry expires; `nil` for the level's own default.
  /// - Returns: Whether the condition held.
  /// - Throws: As ``CacheLevel/set(_:forKey:)``.
  public func replace(_ value: Value, forKey key: Key, expiry: Expiry? = nil) async throws -> Bool {
    try await store(value, forKey: key, terms: StoreTerms(expiry: expiry), if: .present)
  }
}
