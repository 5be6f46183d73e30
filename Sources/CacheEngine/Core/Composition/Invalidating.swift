extension ComposedLevel: InvalidatableLevel {
  /// Forgets what the upper level holds of a key, and the copies that the lower one keeps if it is a composition itself.
  public func invalidate(_ key: Key) async throws { try await invalidate(key, keepingStale: false) }

  /// Forgets everything that the upper level holds, and the copies that the lower one keeps if it is a composition itself.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await invalidateAll(cause, keepingStale: false)
  }

  /// Forgets copies of a key, or ends their lifetime so that they can be served as stale values still.
  func invalidate(_ key: Key, keepingStale: Bool) async throws {
    try await sweep(.key(key), keepsBelow: true) {
      try await lower.invalidateIfAble(key)
    } upper: {
      if keepingStale { try await upper.endOrRemove(key) } else { try await upper.remove(key) }
    }
  }

  /// Forgets the copies that were stored with a tag, here and in the compositions and pools below.
  package func invalidate(tagged tag: String) async throws {
    try await sweep(.tagged(tag), keepsBelow: true) {
      try await lower.invalidateIfAble(tagged: tag)
    } upper: {
      guard let tagged = upper as? any TaggedLevel else { return try await upper.clear() }
      do { try await tagged.removeAll(tagged: tag) } catch let error as CacheError where error.isUnsupported {
        try await upper.clear()
      }
    }
  }

  func invalidateAll(_ cause: InvalidationCause, keepingStale: Bool) async throws {
    try await sweep(.everything, keepsBelow: true) {
      try await lower.invalidateAllIfAble(cause)
    } upper: {
      if keepingStale { try await upper.endOrRemove(nil) } else { try await upper.clear() }
    }
  }
}

extension ComposedLevel where Lower: ConditionalLevel {
  /// Stores a value in both levels if a condition holds in the lower one: what the upper one has may be out of date.
  package func storeBelow(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await gate.write(key) { began in
      let isStored: Bool
      do { isStored = try await lower.store(value, forKey: key, terms: terms, if: condition) } catch {
        throw await failure(error, key)
      }
      if isStored { try await storeInBoth(value, key, terms, since: began, but: .lower) }
      return isStored
    }
  }
}

// The level inside may keep no copies: then it has nothing to forget, but what was read from it may still be out of date.
extension CacheLevel {
  package func invalidateIfAble(_ key: Key) async throws {
    try await (self as? any InvalidatableLevel<Key, Value>)?.invalidate(key)
  }

  package func invalidateAllIfAble(_ cause: InvalidationCause) async throws {
    try await (self as? any InvalidatableLevel<Key, Value>)?.invalidateAll(cause)
  }

  /// A level that does not know tags forgets everything.
  func invalidateIfAble(tagged tag: String) async throws {
    guard let level = self as? any TagInvalidatingLevel else { return try await invalidateAllIfAble(.requested) }
    try await level.invalidate(tagged: tag)
  }
}

/// A level whose keys are not those of the level inside.
protocol RekeyingLevel: CacheLevel {}

extension KeyTransformedLevel: RekeyingLevel {}
extension BatchLevel: RekeyingLevel {}

extension CacheLevel {
  /// The compositions here and inside that listen to what others change, and whether their keys are those asked for here.
  func listeners(hasSameKeys: Bool = true) -> [(level: any ListeningLevel, hasSameKeys: Bool)] {
    var all: [(level: any ListeningLevel, hasSameKeys: Bool)] = []
    if let listener = self as? any ListeningLevel { all.append((listener, hasSameKeys)) }
    let hasSameKeys = hasSameKeys && !(self is any RekeyingLevel)
    switch shapeOrLeaf {
    case .leaf:
      all += (self as? any LevelDecorator)?.base.listeners(hasSameKeys: hasSameKeys) ?? []
    case .wrapper(let level), .around(_, let level), .observed(let level, _, _), .traced(let level, _):
      all += level.listeners(hasSameKeys: hasSameKeys)
    case .stacked(let one, let other), .lanes(_, let one, let other), .stale(_, let one, from: let other):
      all += one.listeners(hasSameKeys: hasSameKeys) + other.listeners(hasSameKeys: hasSameKeys)
    }
    return all
  }
}

/// A level that can forget the copies that were stored with a tag.
protocol TagInvalidatingLevel: CacheLevel {
  func invalidate(tagged tag: String) async throws
}

extension ComposedLevel: TagInvalidatingLevel {}

extension BasicCache: TagInvalidatingLevel {
  func invalidate(tagged tag: String) async throws {
    try await (inner as? any CacheLevel<Key, Value>)?.invalidateIfAble(tagged: tag)
  }
}

extension ObservedLevel: TagInvalidatingLevel {
  func invalidate(tagged tag: String) async throws { try await base.invalidateIfAble(tagged: tag) }
}

extension PooledLevel: TagInvalidatingLevel {
  func invalidate(tagged tag: String) async throws {
    defer { detachAll() }
    try await gate.sweep(.tagged(tag)) { try await base.invalidateIfAble(tagged: tag) }
  }
}

extension LevelDecorator where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Base.Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}
