/// A level whose values are of another kind than those it is asked for.
///
/// Built by `transformValues`. Reads convert what was found, writes convert back what is stored. A value that cannot be converted
/// fails the call with the transformer's error; nothing is then written.
public struct ValueTransformedLevel<Base: CacheLevel, Transformer: TwoWayTransformer>: CacheLevel
where Transformer.Input == Base.Value {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// What is held, as seen from outside.
  public typealias Value = Transformer.Output

  /// The level inside.
  public let base: Base

  @usableFromInline let transformer: Transformer
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
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    guard let value = try await base.get(key) else { return nil }
    return try await transformer.transform(value)
  }

  /// Returns the entry for a key, with its value transformed.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookup(key).transformed(by: transformer)
  }

  /// Returns the entry for a key even if it has expired, with its value transformed.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(key).transformed(by: transformer)
  }

  /// Converts a value back and stores it.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await base.set(try await transformer.inverseTransform(value), forKey: key)
  }

  /// Converts a value back and stores it on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to convert back and store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live and who stores it. A cost is not passed on: it is that of the value outside.
  /// - Throws: As ``get(_:)``.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await base.store(try await transformer.inverseTransform(value), forKey: key, terms: terms.withoutCost)
  }

  /// Removes the value for a key.
  @inlinable
  public func remove(_ key: Key) async throws { try await base.remove(key) }

  /// Removes everything from the level inside.
  public func clear() async throws { try await base.clear() }

  /// Passes the warning to the level inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}

extension ValueTransformedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

extension ValueTransformedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension ValueTransformedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Converts a value back and stores it if a condition holds in the level inside.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    let inner = try await transformer.inverseTransform(value)
    return try await base.store(inner, forKey: key, terms: terms.withoutCost, if: condition)
  }
}

extension ValueTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

/// A fetcher whose values are transformed on their way; it stays read-only.
///
/// Built by `transformValues` on a fetcher with a one-way transformer.
public struct ValueTransformedFetcher<Base: Fetcher, Transformer: OneWayTransformer>: Fetcher
where Transformer.Input == Base.Value {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// What is delivered.
  public typealias Value = Transformer.Output

  /// The fetcher inside.
  public let base: Base

  @usableFromInline let transformer: Transformer

  init(base: Base, transformer: Transformer) {
    self.base = base
    self.transformer = transformer
  }

  /// The name of the fetcher inside.
  public var name: String { base.name }

  /// Returns the value fetched for a key, transformed.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The transformer's error, or that of the fetcher inside.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns the entry fetched for a key, with its value transformed.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookup(key).transformed(by: transformer)
  }

  /// Returns the entry for a key even if it has expired, if the fetcher inside keeps expired ones, with its value
  /// transformed.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookupIncludingExpired(key).transformed(by: transformer)
  }

  /// Hands the warning to the fetcher inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}

extension Lookup {
  /// The same answer with another value.
  ///
  /// A cost stays behind: it was that of the other value.
  @inlinable
  func transformed<Transformer: OneWayTransformer>(
    by transformer: Transformer
  ) async throws -> Lookup<Transformer.Output> where Transformer.Input == Value {
    switch self {
    case .miss(let reason): .miss(reason)
    case .hit(let entry):
      .hit(entry.with(try await transformer.transform(entry.value)))
    }
  }
}

extension CacheLevel {
  /// Gives this level's values another form.
  ///
  /// - Parameter transformer: Turns this level's values into the other form, and back.
  /// - Returns: The level with the other values.
  public func transformValues<Transformer: TwoWayTransformer>(
    _ transformer: Transformer
  ) -> ValueTransformedLevel<Self, Transformer> where Transformer.Input == Value {
    ValueTransformedLevel(base: self, transformer: transformer)
  }
}

extension Fetcher {
  /// Gives this fetcher's values another form.
  ///
  /// - Parameter transformer: Turns this fetcher's values into the other form.
  /// - Returns: The fetcher with the other values.
  public func transformValues<Transformer: OneWayTransformer>(
    _ transformer: Transformer
  ) -> ValueTransformedFetcher<Self, Transformer> where Transformer.Input == Value {
    ValueTransformedFetcher(base: self, transformer: transformer)
  }
}

extension ValueTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}

extension ValueTransformedFetcher: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}
