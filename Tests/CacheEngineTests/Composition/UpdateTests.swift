import CacheEngine
import CacheEngineTesting
import TestSupport
import Testing

/// What becomes of values that depend on those that were there.
@Suite(.timeLimit(.minutes(10))) struct UpdateTests {
  typealias Memory = MemoryCacheLevel<String, Int>

  let memory = Memory()
  let disk = Memory(name: "disk")
  let gate = Gate()

  private func change(
    _ cache: some UpdatableLevel<String, Int> & ConditionalLevel<String, Int>, by write: String, tags: Set<String> = []
  ) async throws {
    let terms = StoreTerms(tags: tags)
    switch write {
    case "update": _ = try await cache.update("a", terms: terms) { $0.map { $0 + 1 } ?? 0 }
    default: #expect(try await cache.store(2, forKey: "a", terms: terms, if: .present))
    }
  }

  @Test(
    "What was made of a value that is removed with many goes with it, though the lower level takes it afterwards",
    arguments: ["update", "replace"], ["clear", "tagged", "keys"])
  func removedBelow(write: String, removal: String) async throws {
    let slow = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "a", tags: ["red"])
    let work = Task { try await change(cache, by: write, tags: ["red"]) }
    await gate.arrivals(1)
    switch removal {
    case "clear": try await cache.clear()
    case "tagged": try await cache.removeAll(tagged: "red")
    default: try await cache.removeAll { $0 == "a" }
    }
    gate.open()
    try await work.value
    #expect(disk.peek("a") == nil)
    #expect(memory.peek("a") == nil)
  }

  @Test("What a clear has yet to remove above is nothing to make another value of")
  func removedAbove() async throws {
    let above = HookedLevel(base: memory, storesAtOnce: true, onClear: { [gate] in try await gate.pass() })
    let cache = above.compose(disk)
    for key in ["a", "b"] { try await cache.set(1, forKey: key) }
    let clear = Task { try await cache.clear() }
    await gate.arrivals(1)
    #expect(memory.peek("a") == 1)
    #expect(try await cache.update("a") { $0.map { $0 + 1 } } == nil)
    #expect(try await cache.replace(2, forKey: "b") == false)
    // It was seen to be gone, and is not seen again.
    #expect(cache.peek("b") == nil)
    gate.open()
    try await clear.value
    #expect(disk.usage.count == 0)
  }

  @Test("An invalidation, which is about copies, takes nothing of it back", arguments: ["update", "replace"])
  func invalidated(write: String) async throws {
    let slow = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "a")
    let work = Task { try await change(cache, by: write) }
    await gate.arrivals(1)
    try await cache.invalidateAll(.requested)
    gate.open()
    try await work.value
    #expect(disk.peek("a") == 2)
  }

  @Test(
    "A removal is not taken for an invalidation when more of these follow than are remembered",
    arguments: [false, true]
  )
  func manyInvalidations(afterClear: Bool) async throws {
    let slow = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "a")
    let work = Task { try await change(cache, by: "update") }
    await gate.arrivals(1)
    if afterClear { try await cache.clear() }
    for _ in 0..<100 { try await cache.invalidateAll(.requested) }
    gate.open()
    try await work.value
    #expect(disk.peek("a") == (afterClear ? nil : 2))
  }

  @Test("While a copy is being invalidated, another value is made of what is below")
  func outOfDate() async throws {
    let above = HookedLevel(base: memory, storesAtOnce: true, onClear: { [gate] in try await gate.pass() })
    let cache = above.compose(disk)
    try await cache.set(1, forKey: "a")
    try await disk.set(10, forKey: "a")
    let invalidation = Task { try await cache.invalidateAll(.requested) }
    await gate.arrivals(1)
    #expect(try await cache.update("a") { $0.map { $0 + 1 } } == 11)
    gate.open()
    try await invalidation.value
    #expect(try await cache.get("a") == 11)
  }

  @Test("What was made of nothing, or of what a removal is not about, or is not what it is about, stays")
  func notConcerned() async throws {
    let slow = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "was red", tags: ["red"])
    try await disk.set(1, forKey: "turns red", tags: ["blue"])
    let red = StoreTerms(tags: ["red"])
    let changes = [
      Task { try await cache.update("was red") { $0.map { $0 + 1 } } },
      Task { try await cache.update("turns red", terms: red) { $0.map { $0 + 1 } } },
      Task { try await cache.update("new", terms: red) { _ in 2 } },
    ]
    await gate.arrivals(3)
    try await cache.removeAll(tagged: "red")
    try await cache.removeAll { $0 == "new" }
    gate.open()
    for change in changes { _ = try await change.value }
    for key in ["was red", "turns red", "new"] { #expect(try await cache.get(key) == 2) }
  }
}
