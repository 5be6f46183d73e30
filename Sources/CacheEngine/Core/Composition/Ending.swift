// How operators and compositions hand on that lifetimes are to end, where stale values may be wanted.

/// A level that lets the levels inside end lifetimes.
package protocol EndingLevel<Key, Value>: CacheLevel {
  /// Ends the lifetime of an entry, or of all if there is no key.
  func end(_ key: Key?) async throws
}

extension CacheLevel {
  /// Ends the lifetime of an entry, or of all if there is no key; what a level cannot let expire, it removes.
  package func endOrRemove(_ key: Key?) async throws {
    if let storage = self as? any StorageLevel<Key, Value> {
      if let key { return try await storage.expire(key) }
      for entry in try await storage.contents() { try await storage.expire(entry.key) }
    } else if let ending = self as? any EndingLevel<Key, Value> {
      try await ending.end(key)
    } else if let key {
      try await remove(key)
    } else {
      try await clear()
    }
  }
}

// For decorators that hand removals on as they are.
extension EndingLevel where Self: LevelDecorator {
  package func end(_ key: Key?) async throws { try await base.endOrRemove(key) }
}

extension ComposedLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    try await sweep(key.map { .key($0) } ?? .everything, keepsBelow: true) {
      try await lower.endOrRemove(key)
    } upper: {
      try await upper.endOrRemove(key)
    }
  }
}

extension PooledLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    defer { if let key { detach(key) } else { detachAll() } }
    try await gate.sweep(key.map { .key($0) } ?? .everything) { try await base.endOrRemove(key) }
  }
}

extension BasicCache: EndingLevel {
  package func end(_ key: Key?) async throws {
    if let level = inner as? any CacheLevel<Key, Value> { return try await level.endOrRemove(key) }
    if let key { try await remove(key) } else { try await clear() }
  }
}

extension ObservedLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    guard isTold else { return try await base.endOrRemove(key) }
    try await recorder.timed(key == nil ? .clear : .remove, key: key.flatMap { recorder.text(of: $0) }) {
      try await base.endOrRemove(key)
    } event: { _, duration in
      .done(key == nil ? .clear : .remove, duration)
    }
  }
}

extension TracedCache: EndingLevel {
  package func end(_ key: Key?) async throws { try await base.endOrRemove(key) }
}

extension KeyTransformedLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    guard let key else { return try await base.endOrRemove(nil) }
    try await base.endOrRemove(try await transformer.transform(key))
  }
}

extension ValueTransformedLevel: EndingLevel {
  package func end(_ key: Key?) async throws { try await base.endOrRemove(key) }
}

extension ConditionedValueTransformedLevel: EndingLevel {
  package func end(_ key: Key?) async throws { try await base.endOrRemove(key) }
}

extension BatchLevel: EndingLevel {
  package func end(_ keys: [Base.Key]?) async throws {
    guard let keys else { return try await base.endOrRemove(nil) }
    try await base.forEach(keys) { [base] key in try await base.endOrRemove(key) }
  }
}

extension SwitchedLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    try await inBoth({ try await first.endOrRemove(key) }, { try await second.endOrRemove(key) })
  }
}
