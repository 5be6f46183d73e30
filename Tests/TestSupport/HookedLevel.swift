package import CacheEngine

/// A level that does something before it writes.
package struct HookedLevel<Base: CacheLevel>: LevelDecorator {
  package let base: Base
  package var storesAtOnce: Bool
  package var onStore: @Sendable (Base.Key, Base.Value) async throws -> Void
  package var onRemove: @Sendable (Base.Key) async throws -> Void
  package var onClear: @Sendable () async throws -> Void

  package init(
    base: Base, storesAtOnce: Bool = false,
    onStore: @escaping @Sendable (Base.Key, Base.Value) async throws -> Void = { _, _ in },
    onRemove: @escaping @Sendable (Base.Key) async throws -> Void = { _ in },
    onClear: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.base = base
    self.storesAtOnce = storesAtOnce
    self.onStore = onStore
    self.onRemove = onRemove
    self.onClear = onClear
  }

  package func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  package func peek(_ key: Base.Key) -> Base.Value? { base.peek(key) }
  package func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  package func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await base.lookupIncludingExpired(key)
  }
  package func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }
  package func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await onStore(key, value)
    try await base.store(value, forKey: key, terms: terms)
  }
  package func remove(_ key: Base.Key) async throws {
    try await onRemove(key)
    try await base.remove(key)
  }
  package func clear() async throws {
    try await onClear()
    try await base.clear()
  }
}

extension HookedLevel: ConditionalLevel where Base: ConditionalLevel {
  package func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await onStore(key, value)
    return try await base.store(value, forKey: key, terms: terms, if: condition)
  }
}

extension HookedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  package func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await onClear()
    return try await base.removeAll(where: condition)
  }
}

extension HookedLevel: TaggedLevel where Base: TaggedLevel {
  package func removeAll(tagged tag: String) async throws -> Int {
    try await onClear()
    return try await base.removeAll(tagged: tag)
  }
}
