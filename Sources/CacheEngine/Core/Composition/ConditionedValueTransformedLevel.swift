/// A level whose values are converted by a transformer that knows their keys.
///
/// Built by ``CacheLevel/conditionedValueTransformation(_:)``. The transformer may convert each key's values in its own way,
/// or refuse a key: then a read fails with its error although the level inside has the value, and a write writes
/// nothing.
public struct ConditionedValueTransformedLevel<Base: CacheLevel, Transformer: ConditionedTwoWayTransformer>: CacheLevel
where Transformer.Key == Base.Key, Transformer.Input == Base.Value {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// What is held, as seen from outside.
  public typealias Value = Transformer.Output

  /// The level inside.
  public let base: Base

  let transformer: Transformer

  let loads = LoadScope()

  init(base: Base, transformer: Transformer) {
    self.base = base
    self.transformer = transformer
  }

  /// The name of the level inside.
  public var name: String { base.name }

  /// Returns the value held for a key, transformed.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The transformer's error, or that of the level inside.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns the entry for a key, with its value transformed.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await turned(base.lookup(key), key) }

  /// Returns the entry for a key even if it has expired, with its value transformed.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await turned(base.lookupIncludingExpired(key), key)
  }

  /// Converts a value back and stores it.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await base.set(try await transformer.inverseConditionalTransform(key: key, value: value), forKey: key)
  }

  /// Converts a value back and stores it on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to convert back and store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and who stores it. A cost is not passed on: it is that of the value outside.
  /// - Throws: As ``get(_:)``.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    let inner = try await transformer.inverseConditionalTransform(key: key, value: value)
    try await base.store(inner, forKey: key, terms: terms.withoutCost)
  }

  /// Removes the value for a key.
  public func remove(_ key: Key) async throws { try await base.remove(key) }

  /// Removes everything from the level inside.
  public func clear() async throws { try await base.clear() }

  /// Passes the warning to the level inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }

  func turned(_ answer: Lookup<Base.Value>, _ key: Key) async throws -> Lookup<Value> {
    switch answer {
    case .miss(let reason): .miss(reason)
    case .hit(let entry): .hit(entry.with(try await transformer.conditionalTransform(key: key, value: entry.value)))
    }
  }
}

extension ConditionedValueTransformedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

extension ConditionedValueTransformedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension ConditionedValueTransformedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Converts a value back and stores it if a condition holds in the level inside.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    let inner = try await transformer.inverseConditionalTransform(key: key, value: value)
    return try await base.store(inner, forKey: key, terms: terms.withoutCost, if: condition)
  }
}

extension ConditionedValueTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension CacheLevel {
  /// Gives this level's values another form, key by key.
  ///
  /// - Parameter transformer: Turns this level's values into the other form, and back, or refuses their keys.
  /// - Returns: The level with the other values.
  public func conditionedValueTransformation<Transformer: ConditionedTwoWayTransformer>(
    _ transformer: Transformer
  ) -> ConditionedValueTransformedLevel<Self, Transformer>
  where Transformer.Key == Key, Transformer.Input == Value {
    ConditionedValueTransformedLevel(base: self, transformer: transformer)
  }

  /// Processes every value that is read from this level, knowing its key.
  ///
  /// - Parameter transformer: Gives the value to deliver in place of the one found, or refuses the key.
  /// - Returns: The processed level.
  public func conditionedPostProcess<Transformer: ConditionedOneWayTransformer>(
    _ transformer: Transformer
  ) -> PostProcessedLevel<Self>
  where Transformer.Key == Key, Transformer.Input == Value, Transformer.Output == Value {
    conditionedPostProcess { try await transformer.conditionalTransform(key: $0, value: $1) }
  }
}

extension ConditionedValueTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}

extension ConditionedValueTransformedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key, and transforms its value.
  public func reload(_ key: Key) async throws -> Lookup<Value> { try await turned(base.reload(key), key) }
}
