import CacheEngine

/// A level that does something before it writes.
struct HookedLevel<Base: CacheLevel>: LevelDecorator {
  let base: Base
  var storesAtOnce = false
  var onStore: @Sendable (Base.Key, Base.Value) async throws -> Void = { _, _ in }
  var onRemove: @Sendable (Base.Key) async throws -> Void = { _ in }
  var onClear: @Sendable () async throws -> Void = {}

  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func peek(_ key: Base.Key) -> Base.Value? { base.peek(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await base.lookupIncludingExpired(key)
  }
  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }
  func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await onStore(key, value)
    try await base.store(value, forKey: key, terms: terms)
  }
  func remove(_ key: Base.Key) async throws {
    try await onRemove(key)
    try await base.remove(key)
  }
  func clear() async throws {
    try await onClear()
    try await base.clear()
  }
}

extension HookedLevel: ConditionalLevel where Base: ConditionalLevel {
  func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await onStore(key, value)
    return try await base.store(value, forKey: key, terms: terms, if: condition)
  }
}

extension HookedLevel: SelectiveRemoval where Base: SelectiveRemoval {
  func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await onClear()
    return try await base.removeAll(where: condition)
  }
}

extension HookedLevel: TaggedLevel where Base: TaggedLevel {
  func removeAll(tagged tag: String) async throws -> Int {
    try await onClear()
    return try await base.removeAll(tagged: tag)
  }
}
