import Synchronization

/// A level that is asked with other keys than those it is given.
///
/// Built by `transformKeys`. A key that cannot be transformed fails the call with the
/// transformer's error, and the level inside is not asked.
///
/// Entries can be removed by their tags, and by what their keys look like if the transformer goes both ways. Where it goes
/// one way only, nobody can say under which keys of this level an entry is: ask the level inside.
public struct KeyTransformedLevel<Base: CacheLevel, Transformer: OneWayTransformer>: CacheLevel
where Transformer.Output == Base.Key, Transformer.Input: Hashable {
  /// The type of the keys.
  public typealias Key = Transformer.Input
  /// The type of the values.
  public typealias Value = Base.Value

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

  /// Returns the value held for the transformed key.
  ///
  /// - Parameter key: The key to transform and look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The transformer's error, or that of the level inside.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await base.get(try await transformer.transform(key)) }

  /// Returns the entry for the transformed key.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await base.lookup(try await transformer.transform(key))
  }

  /// Returns the entry for the transformed key even if it has expired.
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
  ///   - terms: Its lifetime, its cost, and who stores it.
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
  public func clear() async throws { try await base.clear() }

  /// Passes the warning to the level inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}

extension KeyTransformedLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension KeyTransformedLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value under the transformed key if a condition holds there.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value, forKey: try await transformer.transform(key), terms: terms, if: condition)
  }
}

extension KeyTransformedLevel: SelectiveRemoval where Base: SelectiveRemoval, Transformer: TwoWayTransformer {
  /// Removes the entries whose keys, transformed back, meet a condition.
  ///
  /// Entries of the level inside whose keys cannot be transformed back do not belong to this level, and stay.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed.
  /// - Throws: An error if some may still be there.
  /// - Complexity: O(n): every key is looked at, twice.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    // Turning back a key may take time, and the level inside does not wait for that: it is asked for its keys first.
    // The last of its rounds meets no new key, so that nothing comes in between. Where new ones come all the time there would
    // be no end: what only the eighth round meets was stored since this began, and counts as stored after it. What fails in a
    // part of the level hinders none of the others, and is told in the end.
    let findings = Mutex(KeyFindings<Base.Key>())
    var count = 0
    var rounds = 0
    while true {
      var failure: (any Error)?
      do {
        count += try await base.removeAll { key in findings.withLock { $0.isMeant(key) } }
      } catch let error as CancellationError {
        throw error
      } catch {
        failure = error
      }
      rounds += 1
      let keys = findings.withLock { $0.endRound(isLast: rounds == 8) }
      if keys.isEmpty {
        if let failure { throw failure }
        return count
      }
      for key in keys {
        let isMeant: Bool
        do {
          isMeant = condition(try await transformer.inverseTransform(key))
        } catch let error as CancellationError {
          throw error
        } catch {
          isMeant = false
        }
        findings.withLock { $0.verdicts[key] = isMeant }
      }
    }
  }
}

/// Which keys a removal means whose condition is about other keys, as far as these have been turned back.
private struct KeyFindings<Key: Hashable & Sendable>: Sendable {
  var verdicts: [Key: Bool] = [:]
  private var unknown: Set<Key> = []
  private var isOver = false

  /// Whether a key is meant; one that is met for the first time is not yet.
  ///
  /// Whoever was reading or writing while the removal ran asks when it is over. A key that it did not meet is then never turned
  /// back: it may have been meant, and what was read or written under it is not to be kept.
  mutating func isMeant(_ key: Key) -> Bool {
    if let verdict = verdicts[key] { return verdict }
    if !isOver { unknown.insert(key) }
    return isOver
  }

  /// The keys that are to be turned back before another round; none if that was the last.
  mutating func endRound(isLast: Bool) -> Set<Key> {
    isOver = isLast || unknown.isEmpty
    defer { unknown = [] }
    return isOver ? [] : unknown
  }
}

extension KeyTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies of the transformed key.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(try await transformer.transform(key)) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
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

extension KeyTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformKeys"), base) }
}
