import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

@Suite struct BatchLevelTests {
  struct Refused: Error, Equatable { var key: Int }

  let level = ScriptedLevel<Int, String>()

  /// Answers each key when its own gate is opened.
  private func gated(_ gates: [Int: Gate]) -> ScriptedLevel<Int, String> {
    ScriptedLevel { key in
      try await gates[key]?.pass()
      if key < 0 { throw Refused(key: key) }
      return key == 404 ? .miss(.absent) : .hit(Entry("v\(key)"))
    }
  }

  // MARK: Some

  @Test("C81 C82 get-some asks for every key at once, each once, and answers when the last one has ended")
  func someWaits() async throws {
    let gates = [1: Gate(), 2: Gate(), 3: Gate()]
    let slow = gated(gates)
    let isAnswered = Mutex(false)
    let reader = Task {
      let values = try await slow.batchGetSome([1, 2, 3, 2])
      isAnswered.withLock { $0 = true }
      return values
    }
    for gate in gates.values { await gate.arrivals(1) }
    gates[3]?.open()
    gates[1]?.open()
    #expect(!isAnswered.withLock { $0 })
    gates[2]?.open()
    #expect(try await reader.value.map(\.value) == ["v1", "v2", "v3", "v2"])
    #expect(slow.count(of: .get(2)) == 1)
    #expect(slow.calls.count == 3)
  }

  @Test("C83 C84 C85 get-some delivers exactly what was found, in the order of the keys, and never fails for a key")
  func someDelivers() async throws {
    let some = gated([:])
    let found = try await some.batchGetSome([3, -1, 1, 404, 2])
    #expect(found.map(\.value) == ["v3", "v1", "v2"])
    #expect(found.map(\.key) == [3, 1, 2])
    #expect(try await some.batchGetSome([-1, -2]).isEmpty)
  }

  @Test("C86 no keys, no values, in both forms")
  func empty() async throws {
    #expect(try await level.batchGetSome([]).isEmpty)
    #expect(try await level.allBatch().get([]) == [])
    try await level.allBatch().set([], forKey: [])
    #expect(level.calls.isEmpty)
  }

  @Test("C94 cancelling a batch cancels every read in it", arguments: [true, false])
  func cancels(all: Bool) async throws {
    let gates = [1: Gate(), 2: Gate()]
    let slow = gated(gates)
    let reader = Task {
      if all { _ = try await slow.allBatch().get([1, 2]) } else { _ = try await slow.batchGetSome([1, 2]) }
    }
    for gate in gates.values { await gate.arrivals(1) }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }

  // MARK: All

  @Test("C85 C87 C89 get-all gives all values in the order of the keys, whichever came first")
  func allInOrder() async throws {
    let gates = [1: Gate(), 2: Gate()]
    let slow = gated(gates)
    async let values = slow.allBatch().get([1, 2, 3])
    await gates[1]?.arrivals(1)
    await gates[2]?.arrivals(1)
    gates[2]?.open()
    gates[1]?.open()
    #expect(try await values == ["v1", "v2", "v3"])
  }

  @Test("C88 get-all fails with the first error, delivers no value and cancels the rest")
  func allFails() async throws {
    let gate = Gate()
    let slow = gated([1: gate])
    let error = await #expect(throws: Refused.self) { try await slow.allBatch().get([1, -5]) }
    #expect(error == Refused(key: -5))
  }

  @Test("one missing key makes the batch a miss")
  func allMisses() async throws {
    #expect(try await gated([:]).allBatch().lookup([1, 404]).missReason == .absent)
  }

  @Test("C90 C91 a batch is written pair by pair, and fails with the first error")
  func writes() async throws {
    try await level.allBatch().set(["a", "b"], forKey: [1, 2])
    #expect(level.stored(1)?.value == "a")
    #expect(level.stored(2)?.value == "b")
    let broken = ScriptedLevel<Int, String>(onSet: { _, key in if key == 2 { throw Refused(key: key) } })
    await #expect(throws: Refused.self) { try await broken.allBatch().set(["a", "b"], forKey: [1, 2]) }
  }

  @Test("C92 C93 removing a batch removes every key; clears and warnings reach the level once")
  func removes() async throws {
    let batch = level.allBatch()
    try await batch.set(["a", "b", "c"], forKey: [1, 2, 3])
    try await batch.remove([1, 3])
    #expect(level.stored(1) == nil)
    #expect(level.stored(2)?.value == "b")
    #expect(level.stored(3) == nil)
    try await batch.clear()
    await batch.onMemoryWarning()
    #expect(level.calls.suffix(2) == [.clear, .warn])
  }

  @Test("C95 a batch with unequal counts is refused whole")
  func refusesUnequal() async throws {
    let error = await #expect(throws: CacheError.self) { try await level.allBatch().set(["a"], forKey: [1, 2]) }
    #expect(error?.code == .unequalCounts)
    #expect(level.calls.isEmpty)
  }

  @Test("C96 a batch is a level like any other: it composes, transforms and pools")
  func isALevel() async throws {
    let memory = MemoryCacheLevel<[Int], [String]>()
    let names = { @Sendable (text: String) in text.split(separator: ",").compactMap { Int($0) } }
    let source = gated([:])
    let cache = memory.compose(source.allBatch().pooled()).transformKeys(names)
    #expect(try await cache.get("2,1") == ["v2", "v1"])
    #expect(try await cache.get("2,1") == ["v2", "v1"])
    #expect(source.calls.count == 2)
  }

  @Test("a batch expires with the first of its values")
  func expires() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<Int, String>(keepsExpired: .seconds(60), clock: clock)
    try await memory.set("a", forKey: 1, expiry: .after(.seconds(10)))
    try await memory.set("b", forKey: 2, expiry: .after(.seconds(5)))
    let batch = memory.allBatch()
    #expect(try await batch.lookup([1, 2]).entry?.deadline == clock.now.advanced(by: .seconds(5)))
    #expect(batch.peek([1, 2]) == ["a", "b"])
    clock.advance(by: .seconds(5))
    #expect(try await batch.get([1, 2]) == nil)
    #expect(try await batch.lookupIncludingExpired([1, 2]).entry?.isStale == true)
  }

  @Test("C85 values stay in the places of their keys, also those of a key that does not equal itself")
  func unequalToItself() async throws {
    let numbers = BasicFetcher<Double, String> { "\($0)" }
    #expect(try await numbers.allBatch().get([1, .nan, 2]) == ["1.0", "nan", "2.0"])
    let stored = Mutex<[String]>([])
    let level = BasicCache<Double, String>(
      get: { _ in nil }, set: { value, key in stored.withLock { $0.append("\(key): \(value)") } }, remove: { _ in },
      clear: {})
    try await level.allBatch().set(["a", "b", "c"], forKey: [1, .nan, 1])
    #expect(stored.withLock { $0.sorted() } == ["1.0: c", "nan: b"])
  }

  @Test("what is copied up as a list can be removed by the tags that its entries have below")
  func keepsTags() async throws {
    let (memory, store) = (MemoryCacheLevel<String, Int>(), MemoryCacheLevel<String, Int>())
    try await store.set(1, forKey: "a", tags: ["x"])
    try await store.set(2, forKey: "b", tags: ["y"])
    let batch = memory.allBatch().compose(store.allBatch())
    #expect(try await batch.get(["a", "b"]) == [1, 2])
    try await memory.removeAll(tagged: "x")
    #expect(memory.peek("a") == nil)
  }

  @Test("a list with a placeholder in it is not copied up, wherever that stands")
  func placeholderParts() async throws {
    let (memory, store) = (MemoryCacheLevel<Int, String>(), MemoryCacheLevel<Int, String>())
    try await store.set("one", forKey: 1)
    let batch = memory.allBatch().compose(store.fallback { _, _ in "none" }.allBatch())
    #expect(try await batch.get([1, 2]) == ["one", "none"])
    #expect(try await batch.get([2, 1]) == ["none", "one"])
    #expect(memory.usage.count == 0)
    #expect(try await batch.get([1]) == ["one"])
    #expect(memory.usage.count == 1)
  }

  @Test("a batch is stale if one of its values is, be it the first or the last")
  func staleParts() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<Int, String>(keepsExpired: .seconds(100), clock: clock)
    try await memory.set("soon", forKey: 1, expiry: .after(.seconds(1)))
    try await memory.set("late", forKey: 2)
    clock.advance(by: .seconds(1))
    for keys in [[1, 2], [2, 1], [1]] {
      #expect(try await memory.allBatch().lookupIncludingExpired(keys).entry?.isStale == true, "\(keys)")
    }
    #expect(try await memory.allBatch().lookupIncludingExpired([2]).entry?.isStale == false)
  }

  @Test("a list is as old as the oldest of its values, wherever that stands")
  func oldestPart() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<Int, String>(clock: clock)
    let began = clock.now
    try await memory.set("old", forKey: 1)
    clock.advance(by: .seconds(8))
    try await memory.set("new", forKey: 2)
    for keys in [[1, 2], [2, 1]] {
      #expect(try await memory.allBatch().lookup(keys).entry?.created == began, "\(keys)")
    }
  }

  @Test("a list has the validator that all of its values have, and none if they differ or one has none")
  func validators() async throws {
    let memory = MemoryCacheLevel<Int, String>()
    for (key, validator) in [(1, "9"), (2, "9"), (3, "10"), (4, nil)] as [(Int, String?)] {
      var terms = StoreTerms(tags: ["red"])
      terms.validator = validator
      try await memory.store("value", forKey: key, terms: terms)
    }
    let lists = memory.allBatch()
    #expect(try await lists.lookup([1, 2]).entry?.validator == "9")
    for keys in [[1, 3], [3, 1], [1, 4], [4, 1]] {
      let entry = try #require(try await lists.lookup(keys).entry)
      #expect(entry.validator == nil && entry.tags == ["red"], "\(keys)")
    }
  }

  @Test("lists that are invalidated where stale values may be wanted are served as such", arguments: [false, true])
  func endsLifetimes(all: Bool) async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<Int, String>(keepsExpired: .seconds(100), clock: clock)
    let source = BasicFetcher<[Int], [String]> { _ in throw CacheError(.simulated, "down") }
    let lists = memory.allBatch().staleIfError(source, for: .seconds(60), observer: nil, clock: clock)
    try await lists.set(["one", "two"], forKey: [1, 2])
    if all { try await lists.invalidateAll() } else { try await lists.invalidate([1, 2]) }
    #expect(memory.peek(1) == nil)
    #expect(try await lists.lookup([1, 2]).entry?.isStale == true)
  }

  @Test("a list of which the tags are told in part is not copied up while some tag is removed")
  func tagsToldInPart() async throws {
    let gate = Gate()
    let (memory, store) = (MemoryCacheLevel<String, Int>(), MemoryCacheLevel<String, Int>())
    try await store.set(1, forKey: "a")
    try await store.set(2, forKey: "b", tags: ["y"])
    let below = HookedLevel(base: store, onClear: { try await gate.pass() })
    let lists = memory.allBatch().compose(below.allBatch())
    let removal = Task { try await lists.removeAll(tagged: "x") }
    await gate.arrivals(1)
    #expect(try await lists.get(["a", "b"]) == [1, 2])
    #expect(memory.peek("a") == nil && memory.peek("b") == nil)
    #expect(try await lists.get(["b"]) == [2])
    #expect(memory.peek("b") == 2)
    gate.open()
    #expect(try await removal.value == 0)
  }

  @Test("P17 a load of several values of which one has no key below leaves nothing noted for the others")
  func loadWithoutKey() async throws {
    let stack = MemoryCacheLevel<Int, String>().compose(MemoryCacheLevel<Int, String>())
    let batch = stack.transformKeys { (key: Int) throws -> Int in
      if key < 0 { throw Refused(key: key) }
      return key
    }.allBatch()
    await #expect(throws: Refused(key: -1)) { try await batch.value(forKey: [1, -1]) { _ in .value([]) } }
    #expect(stack.gate.isIdle)
  }
}
