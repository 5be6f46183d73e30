extension ComposedLevel: InvalidatableLevel {
  /// Forgets what the upper level holds of a key, and the copies that the lower one keeps if it is a composition itself.
  public func invalidate(_ key: Key) async throws { try await invalidate(key, keepingStale: false) }

  /// Forgets everything that the upper level holds, and the copies that the lower one keeps if it is a composition itself.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await invalidateAll(cause, keepingStale: false)
  }

  /// Forgets copies of a key, or ends their lifetime so that they can be served as stale values still.
  func invalidate(_ key: Key, keepingStale: Bool) async throws {
    try await sweep(.key(key)) {
      try await lower.invalidateIfAble(key)
    } upper: {
      if keepingStale, let storage = upper as? any StorageLevel<Key, Value> {
        try await storage.expire(key)
      } else {
        try await upper.remove(key)
      }
    }
  }

  /// Forgets the copies that were stored with a tag, which is done with below.
  package func invalidate(tagged tag: String) async throws {
    try await sweep(.tagged(tag)) {
    } upper: {
      if let tagged = upper as? any TaggedLevel {
        try await tagged.removeAll(tagged: tag)
      } else {
        try await upper.clear()
      }
    }
  }

  func invalidateAll(_ cause: InvalidationCause, keepingStale: Bool) async throws {
    try await sweep(.everything) {
      try await lower.invalidateAllIfAble(cause)
    } upper: {
      if keepingStale, let storage = upper as? any StorageLevel<Key, Value> {
        for entry in try await storage.contents() { try await storage.expire(entry.key) }
      } else {
        try await upper.clear()
      }
    }
  }
}

extension ComposedLevel where Lower: ConditionalLevel {
  /// Stores a value in both levels if a condition holds in the lower one: what the upper one has may be out of date.
  package func storeBelow(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await gate.write(key) { began in
      guard try await lower.store(value, forKey: key, terms: terms, if: condition) else { return false }
      var attempts = WriteAttempts()
      attempts.isAnyWritten = true
      try await attempts.attempt(upper.name) {
        try await gate.above(key, in: upper, tags: terms.tags, since: began) {
          try await upper.store(value, forKey: key, terms: terms)
        }
      }
      if let error = attempts.error { throw error }
      return true
    }
  }
}

// A stale value may be wanted there.
extension RevalidatedLevel: InvalidatableLevel {
  /// Ends the lifetime of the upper level's entry: it is served as far as the policy lets stale values be.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key, keepingStale: true) }

  /// Ends the lifetime of all that the upper level holds.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await base.invalidateAll(cause, keepingStale: true)
  }
}

// What is inside may keep no copies: then it has nothing to forget, but what was read from there may be out of date still.
extension CacheLevel {
  package func invalidateIfAble(_ key: Key) async throws {
    try await (self as? any InvalidatableLevel<Key, Value>)?.invalidate(key)
  }

  package func invalidateAllIfAble(_ cause: InvalidationCause) async throws {
    try await (self as? any InvalidatableLevel<Key, Value>)?.invalidateAll(cause)
  }
}

extension PooledLevel: InvalidatableLevel {
  /// Lets later callers share no load that began before, and forgets the copies in the level below, if that keeps any.
  public func invalidate(_ key: Key) async throws {
    defer { detach(key) }
    try await gate.sweep(.key(key)) { try await base.invalidateIfAble(key) }
  }

  /// Lets later callers share no load that began before, and forgets all copies in the level below, if that keeps any.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    defer { detachAll() }
    try await gate.sweep(.everything) { try await base.invalidateAllIfAble(cause) }
  }
}

extension LevelDecorator where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Base.Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension AgeLimitedLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension CappedLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension CircuitBreakerLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension ConditionedLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension FallbackLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension LifetimeLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension OptionalLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension PostProcessedLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension RetriedLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension ObservedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level observed.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level observed.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension TracedCache: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the cache inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the cache inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension KeyTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies of the transformed key.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(try await transformer.transform(key)) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension ValueTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension ConditionedValueTransformedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension TimeLimitedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside, for as long as that may take.
  public func invalidate(_ key: Key) async throws { try await write(key) { try await base.invalidate(key) } }

  /// Forgets all copies in the level inside, for as long as that may take.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await write(nil) { try await base.invalidateAll(cause) }
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

extension BatchLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies of every one of the keys.
  ///
  /// - Throws: The first error; all keys are tried.
  public func invalidate(_ keys: [Base.Key]) async throws {
    try await base.forEach(keys) { [base] key in try await base.invalidate(key) }
  }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

// What is behind the closures is known at run time only.
extension BasicCache: InvalidatableLevel {
  /// Forgets the copies in the level inside; one that keeps none has nothing to forget.
  public func invalidate(_ key: Key) async throws {
    try await (inner as? any InvalidatableLevel<Key, Value>)?.invalidate(key)
  }

  /// Forgets all copies in the level inside; one that keeps none has nothing to forget.
  public func invalidateAll(_ cause: InvalidationCause) async throws {
    try await (inner as? any InvalidatableLevel<Key, Value>)?.invalidateAll(cause)
  }
}
