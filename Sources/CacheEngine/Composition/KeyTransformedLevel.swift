/// A level that is asked with other keys than those it is given.
///
/// Built by `transformKeys`. A key that cannot be transformed fails the call with the
/// transformer's error, and the level inside is not asked.
public struct KeyTransformedLevel<Base: CacheLevel, Transformer: OneWayTransformer>: CacheLevel
where Transformer.Output == Base.Key, Transformer.Input: Hashable {
  /// What values are found by.
  public typealias Key = Transformer.Input
  /// What is held.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  @usableFromInline let transformer: Transformer

  init(base: Base, transformer: Transformer) {
    self.base = base
    self.transformer = transformer
  }

  /// The name of the level inside.
  public var name: String { base.name }

  /// Returns the value held for the transformed key.
  ///
  /// - Parameter key: The key to transform and look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The transformer's error, or that of the level inside.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await base.get(try await transformer.transform(key)) }

  /// Returns the entry for the transformed key.
  ///
  /// - Parameter key: The key to transform and look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookup(try await transformer.transform(key))
  }

  /// Returns the entry for the transformed key even if it has expired.
  ///
  /// - Parameter key: The key to transform and look up.
  /// - Returns: The entry, fresh or stale, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(try await transformer.transform(key))
  }

  /// Stores a value under the transformed key.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to transform and store it under.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await base.set(value, forKey: try await transformer.transform(key))
  }

  /// Stores a value under the transformed key, on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to transform and store it under.
  ///   - terms: How long it may live, what it weighs, and who stores it.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: try await transformer.transform(key), terms: terms)
  }

  /// Removes the value for the transformed key.
  ///
  /// - Parameter key: The key to transform and remove.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func remove(_ key: Key) async throws { try await base.remove(try await transformer.transform(key)) }

  /// Removes everything from the level inside.
  ///
  /// - Throws: The error of the level inside.
  public func clear() async throws { try await base.clear() }

  /// Hands the warning to the level inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}

extension CacheLevel {
  /// Lets this level be asked with keys of another kind.
  ///
  /// Where several keys become one, compose and pool first and transform the keys of the whole: a composition or a pool of
  /// levels with transformed keys orders reads and writes by the keys that it is given.
  ///
  /// - Parameter transformer: Turns the keys asked for into this level's own.
  /// - Returns: The level for the other keys.
  public func transformKeys<Transformer: OneWayTransformer>(
    _ transformer: Transformer
  ) -> KeyTransformedLevel<Self, Transformer> where Transformer.Output == Key, Transformer.Input: Hashable {
    KeyTransformedLevel(base: self, transformer: transformer)
  }

  /// Lets this level be asked with keys of another kind.
  ///
  /// - Parameter transform: Turns the keys asked for into this level's own.
  /// - Returns: The level for the other keys.
  public func transformKeys<OtherKey: Hashable & Sendable>(
    _ transform: @escaping @Sendable (OtherKey) async throws -> Key
  ) -> KeyTransformedLevel<Self, OneWayTransformationBox<OtherKey, Key>> {
    transformKeys(OneWayTransformationBox(transform: transform))
  }
}
