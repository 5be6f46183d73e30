/// A level that is asked only for keys that meet a condition.
///
/// Built by ``CacheLevel/conditioned(_:)``. Writes, removals, clears and warnings ignore the condition.
///
/// | the condition | a read gives |
/// |---|---|
/// | true | what the level inside gives |
/// | false | a miss, ``MissReason/refused``; `require` throws ``CacheError/Code/conditionNotSatisfied`` |
/// | throws | the condition's error; the level inside is not asked |
public struct ConditionedLevel<Base: CacheLevel>: LevelDecorator {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// The level behind the condition.
  public let base: Base

  private let condition: @Sendable (Key) async throws -> Bool

  init(base: Base, condition: @escaping @Sendable (Key) async throws -> Bool) {
    self.base = base
    self.condition = condition
  }

  /// Returns the value held for a key that meets the condition.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss or where the condition refuses the key.
  /// - Throws: The condition's error, or that of the level behind it.
  public func get(_ key: Key) async throws -> Value? {
    guard try await condition(key) else { return nil }
    return try await base.get(key)
  }

  /// Returns the entry for a key that meets the condition.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    guard try await condition(key) else { return .miss(.refused) }
    return try await base.lookup(key)
  }
}

extension CacheLevel {
  /// Asks this level only for keys that meet a condition.
  ///
  /// ```swift
  /// let avatars = disk.conditioned { key in key.hasPrefix("avatar/") }
  /// ```
  ///
  /// - Parameter condition: Whether the level may be asked for a key. It is evaluated anew for every read and may take
  ///   its time.
  /// - Returns: The conditioned level.
  public func conditioned(_ condition: @escaping @Sendable (Key) async throws -> Bool) -> ConditionedLevel<Self> {
    ConditionedLevel(base: self, condition: condition)
  }
}
