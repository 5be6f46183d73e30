import CacheEngine

#if Explorer
import CacheEngineHTTP
#endif

/// A memory level that keeps its values as ``ShownValue`` says, and answers as the level inside does.
struct HeldMemoryLevel<Value: ShownValue>: StorageLevel, ConditionalLevel, TaggedLevel, ExpiringLevel {
  let base: MemoryCacheLevel<String, Value.Held>

  var name: String { base.name }
  var expiry: Expiry { base.expiry }
  var usage: LevelUsage { base.usage }
  var storesAtOnce: Bool { base.storesAtOnce }

  func get(_ key: String) async throws -> Value? { try await base.get(key).map(Value.value(of:)) }
  // Each hit of the proxy asks this.
  #if Explorer
  @specialized(where Value == StoredVariants)
  #endif
  func peek(_ key: String) -> Value? { base.peek(key).map(Value.value(of:)) }
  func peekEntry(_ key: String) -> Entry<Value>? { base.peekEntry(key).map(Self.entry) }
  func lookup(_ key: String) async throws -> Lookup<Value> { Self.answer(try await base.lookup(key)) }

  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Value> {
    Self.answer(try await base.lookupIncludingExpired(key))
  }

  func set(_ value: Value, forKey key: String) async throws { try await base.set(value.held, forKey: key) }

  func store(_ value: Value, forKey key: String, terms: StoreTerms) async throws {
    try await base.store(value.held, forKey: key, terms: terms)
  }

  func storeAtOnce(_ value: Value, forKey key: String, terms: StoreTerms) -> Bool {
    base.storeAtOnce(value.held, forKey: key, terms: terms)
  }

  func store(
    _ value: Value, forKey key: String, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value.held, forKey: key, terms: terms, if: condition)
  }

  func remove(_ key: String) async throws { try await base.remove(key) }
  func clear() async throws { try await base.clear() }
  func onMemoryWarning() async { await base.onMemoryWarning() }
  func contents() async throws -> [EntrySummary<String>] { try await base.contents() }
  func expire(_ key: String) async throws { try await base.expire(key) }
  func removeExpired() async throws -> Int { try await base.removeExpired() }
  func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }

  func removeAll(where condition: @escaping @Sendable (String) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }

  private static func answer(_ lookup: Lookup<Value.Held>) -> Lookup<Value> {
    switch lookup {
    case .miss(let reason): .miss(reason)
    case .hit(let entry): .hit(Self.entry(entry))
    }
  }

  private static func entry(_ held: Entry<Value.Held>) -> Entry<Value> {
    var entry = held.with(Value.value(of: held.value))
    entry.cost = held.cost
    return entry
  }
}
