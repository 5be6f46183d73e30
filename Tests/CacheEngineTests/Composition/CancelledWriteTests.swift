import CacheEngine
import CacheEngineTesting
import TestSupport
import Testing

@testable import CacheCore

/// Writes that the lower level carries out although they are cancelled.
@Suite(.timeLimit(.minutes(10))) struct CancelledWriteTests {
  typealias Memory = MemoryCacheLevel<String, Int>
  typealias Cache = ComposedLevel<Memory, CutShort<Memory>>

  let memory = Memory()
  let below = Memory()

  enum Write: CaseIterable {
    case set, replace, update, updateToNothing, storeBelow, remove, clear, removePrefix, removeTagged

    func carryOut(_ cache: Cache) async throws {
      switch self {
      case .set: try await cache.set(2, forKey: "a")
      case .replace: _ = try await cache.replace(2, forKey: "a")
      case .update: _ = try await cache.update("a") { _ in 2 }
      case .updateToNothing: _ = try await cache.update("a") { _ in nil }
      case .storeBelow: _ = try await cache.storeBelow(2, forKey: "a", terms: StoreTerms(), if: .present)
      case .remove: try await cache.remove("a")
      case .clear: try await cache.clear()
      case .removePrefix: try await cache.removeAll(withPrefix: "a")
      case .removeTagged: try await cache.removeAll(tagged: "red")
      }
    }
  }

  @Test(
    "C33 what is cancelled below is not contradicted above: the lower level may have carried it out all the same",
    arguments: Write.allCases, [PartialStores.allowed, .refused])
  func cancelled(write: Write, partialStores: PartialStores) async throws {
    let cache = memory.compose(CutShort(base: below), partialStores: partialStores)
    for level in [memory, below] { try await level.store(1, forKey: "a", terms: StoreTerms(tags: ["red"])) }
    await #expect(throws: CancellationError.self) { try await write.carryOut(cache) }
    #expect(below.peek("a") != 1)
    #expect(try await cache.get("a") == below.peek("a"))
    #expect(cache.gate.isIdle)
  }

  @Test("C33 nobody waits for an upper level that takes its time to forget what was cancelled below")
  func slowAbove() async throws {
    let gate = Gate()
    let cache = SlowToForget(base: memory, gate: gate).compose(CutShort(base: below))
    for level in [memory, below] { try await level.set(1, forKey: "a") }
    await #expect(throws: CancellationError.self) { try await cache.set(2, forKey: "a") }
    await gate.arrivals(1)
    gate.open()
    // The next turn of the key comes after that of the forgetting.
    try await cache.gate.write("a") {}
    #expect(memory.peek("a") == nil)
    #expect(try await cache.get("a") == 2)
  }
}

/// A level that removes once its gate is open.
struct SlowToForget<Base: CacheLevel>: LevelDecorator {
  let base: Base
  let gate: Gate

  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func remove(_ key: Base.Key) async throws {
    try await gate.pass()
    try await base.remove(key)
  }
}

/// A level whose writes are carried out, and then cancelled.
struct CutShort<Base: CacheLevel & ConditionalLevel & SelectiveRemoval & TaggedLevel>: LevelDecorator, ConditionalLevel,
  SelectiveRemoval, TaggedLevel
{
  let base: Base

  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }
  func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: terms)
    throw CancellationError()
  }
  func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    _ = try await base.store(value, forKey: key, terms: terms, if: condition)
    throw CancellationError()
  }
  func remove(_ key: Base.Key) async throws {
    try await base.remove(key)
    throw CancellationError()
  }
  func clear() async throws {
    try await base.clear()
    throw CancellationError()
  }
  func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    _ = try await base.removeAll(where: condition)
    throw CancellationError()
  }
  func removeAll(tagged tag: String) async throws -> Int {
    _ = try await base.removeAll(tagged: tag)
    throw CancellationError()
  }
}
