import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

/// What only some levels can do, they can do behind every wrapper as well.
@Suite struct WrappedAbilitiesTests {
  private let clock = ManualClock()

  private func memory() -> MemoryCacheLevel<String, Int> { MemoryCacheLevel(clock: clock) }

  private func check(
    _ level: some ConditionalLevel<String, Int> & SelectiveRemoval<String, Int> & TaggedLevel<String, Int>,
    _ comment: Comment
  ) async throws {
    try await level.set(1, forKey: "user:a", tags: ["red"])
    try await level.set(2, forKey: "user:b")
    try await level.set(3, forKey: "image:a")
    #expect(try await level.removeAll(tagged: "red") > 0, comment)
    #expect(try await level.lookup("user:a").entry == nil, comment)
    #expect(try await level.removeAll(withPrefix: "user:") > 0, comment)
    #expect(try await level.lookup("user:b").entry == nil, comment)
    #expect(try await level.get("image:a") == 3, comment)
    #expect(try await level.setIfAbsent(4, forKey: "image:a") == false, comment)
    #expect(try await level.setIfAbsent(4, forKey: "image:b"), comment)
    #expect(try await level.get("image:b") == 4, comment)
    #expect(try await level.replace(5, forKey: "image:b"), comment)
    #expect(try await level.replace(5, forKey: "image:c") == false, comment)
    #expect(try await level.get("image:b") == 5, comment)
  }

  private let plusOne = TwoWayTransformationBox<Int, Int>(transform: { $0 + 1 }, inverseTransform: { $0 - 1 })
  private let folder = TwoWayTransformationBox<String, String>(
    transform: { "folder/" + $0 },
    inverseTransform: { path in
      guard path.hasPrefix("folder/") else { throw CacheError(.simulated, "elsewhere") }
      return String(path.dropFirst("folder/".count))
    })

  @Test("entries can be removed by keys and tags, and stored on a condition, behind every operator")
  func everyOperator() async throws {
    let observer = RecordingObserver()
    try await check(memory().observed(as: "memory", by: observer, clock: clock), "observed")
    try await check(memory().traced(by: observer, clock: clock), "traced")
    try await check(memory().normalize(), "normalize")
    try await check(memory().transformValues(plusOne), "transformValues")
    try await check(memory().transformKeys(folder), "transformKeys")
    try await check(
      memory().conditionedValueTransformation(
        ConditionedTwoWayTransformationBox<String, Int, Int>(
          conditionalTransform: { $1 + 1 }, inverseConditionalTransform: { $1 - 1 })), "conditionedValueTransformation")
    try await check(memory().postProcess { $0 }, "postProcess")
    try await check(memory().conditioned { _ in true }, "conditioned")
    try await check(memory().pooled(), "pooled")
    try await check(memory().capRequests(1), "capRequests")
    try await check(memory().timeout(after: .seconds(1), clock: clock), "timeout")
    try await check(memory().retry(clock: clock), "retry")
    try await check(memory().circuitBreaker(clock: clock), "circuitBreaker")
    try await check(memory().fallback { _, _ in nil }, "fallback")
    try await check(memory().expiring(after: .seconds(10), clock: clock), "expiring")
    try await check(memory().negativeCaching(for: .seconds(10), clock: clock), "negativeCaching")
    try await check(memory().compose(memory()), "compose")
    try await check(memory().staleIfError(memory(), for: .seconds(10), clock: clock), "staleIfError")
    try await check(switchLevels(memory(), memory()) { $0.hasPrefix("user:") ? .first : .second }, "switchLevels")
  }

  @Test("the chains of the README and of an app that is looked into can be invalidated by tag")
  func chains() async throws {
    let observer = RecordingObserver()
    let source = BasicFetcher<String, Int> { _ in nil }
    try await check(
      memory().observed(as: "memory", by: observer, clock: clock)
        .compose(memory().observed(as: "disk", by: observer, clock: clock))
        .compose(source.observed(as: "source", by: observer, clock: clock))
        .pooled(observer: observer, clock: clock).traced(by: observer, clock: clock).normalize(), "app")
    try await check(
      memory().compose(
        source.timeout(after: .seconds(2), clock: clock).retry(clock: clock).circuitBreaker(clock: clock)
          .negativeCaching(for: .seconds(5), clock: clock).capRequests(4).pooled(),
        revalidating: RevalidationPolicy(whileRevalidate: .seconds(60)), clock: clock
      ).transformValues(plusOne), "README")
    let batch = memory().allBatch().normalize()
    try await batch.store([1, 2], forKey: ["a", "b"], terms: StoreTerms(tags: ["red"]))
    #expect(try await batch.removeAll(tagged: "red") == 2)
  }

  @Test("what the level inside cannot do, the erased type says it cannot, and changes nothing")
  func cannot() async throws {
    let batch = memory().allBatch().normalize()
    try await batch.set([1], forKey: ["a"])
    var error = await #expect(throws: CacheError.self) { try await batch.removeAll { _ in true } }
    #expect(error?.code == .unsupported)
    error = await #expect(throws: CacheError.self) { try await batch.setIfAbsent([1], forKey: ["a"]) }
    #expect(error?.code == .unsupported)
    let scripted = ScriptedLevel<String, Int>().normalize()
    error = await #expect(throws: CacheError.self) { try await scripted.removeAll(tagged: "red") }
    #expect(error?.code == .unsupported)
    #expect(try await batch.get(["a"]) == [1])
  }

  @Test("keys that were transformed are judged as they are outside, and what is nobody's there stays")
  func transformedKeys() async throws {
    let inside = memory()
    let outside = inside.transformKeys(folder)
    try await outside.set(1, forKey: "a")
    try await inside.set(2, forKey: "a")
    let seen = Mutex<Set<String>>([])
    let count = try await outside.removeAll { key in
      seen.withLock { _ = $0.insert(key) }
      return true
    }
    #expect(count == 1)
    #expect(seen.withLock { $0 } == ["a"])
    #expect(try await inside.get("a") == 2)
  }

  @Test("a key that comes while the others are turned back is judged as well")
  func keyInBetween() async throws {
    let inside = memory()
    let isFirst = Mutex(true)
    let slow = TwoWayTransformationBox<String, String>(
      transform: { "x" + $0 },
      inverseTransform: { key in
        if isFirst.withLock({ first in
          defer { first = false }
          return first
        }) {
          try await inside.set(2, forKey: "xb")
        }
        return String(key.dropFirst())
      })
    try await inside.set(1, forKey: "xa")
    #expect(try await inside.transformKeys(slow).removeAll { _ in true } == 2)
    #expect(inside.usage.count == 0)
  }

  @Test("a level that fails keeps no other from losing what is removed by transformed keys")
  func failingPart() async throws {
    let inside = memory()
    let cache = inside.compose(
      memory().allBatch().transformKeys { (key: String) in [key] }
        .transformValues(TwoWayTransformationBox<[Int], Int>(transform: { $0[0] }, inverseTransform: { [$0] }))
        .normalize()
    )
    .transformKeys(folder)
    try await cache.set(1, forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await cache.removeAll { _ in true } }
    #expect(error?.code == .partialFailure)
    #expect(inside.usage.count == 0)
  }

  @Test("a removal by tag is told once at every level, and a store that the condition forbade is no store")
  func told() async throws {
    let observer = RecordingObserver()
    let level = memory().observed(as: "memory", by: observer, clock: clock).traced(by: observer, clock: clock)
    try await level.set(1, forKey: "a", tags: ["red"])
    #expect(try await level.setIfAbsent(2, forKey: "a") == false)
    try await level.removeAll(tagged: "red")
    let kinds = observer.events.map { "\($0.level ?? "-") \($0.kind) \($0.key ?? "-")" }
    #expect(
      kinds == [
        "- set a", "memory set a", "- set a", "- set a", "memory set a", "- set a", "- remove -", "memory remove -",
        "- remove -",
      ])
    let stores = observer.events.count { if case .stored = $0.kind { true } else { false } }
    #expect(stores == 1)
    #expect(Set(observer.events.compactMap(\.request)).count == 3)
    let source = BasicFetcher<String, Int> { _ in 1 }.observed(as: "source", by: observer, clock: clock)
    let before = observer.events.count
    try await source.removeAll(tagged: "red")
    #expect(observer.events.count == before)
  }

  @Test("a load that began before a removal by tag is neither joined nor kept")
  func flights() async throws {
    let gate = Gate()
    let answers = Mutex([1, 2])
    let source = BasicFetcher<String, Int> { _ in
      let answer = answers.withLock { $0.removeFirst() }
      if answer == 1 { try await gate.pass() }
      return answer
    }
    let memory = memory()
    let cache = memory.compose(source).pooled()
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    try await cache.removeAll(tagged: "red")
    #expect(try await cache.get("a") == 2)
    gate.open()
    // It was overtaken, and gives what all others read by now.
    #expect(try await early.value == 2)
    #expect(try await memory.get("a") == 2)
  }

  @Test("a value that is being made while its tag is removed is delivered, and not stored")
  func making() async throws {
    let gate = Gate()
    let memory = memory()
    let cache = memory.pooled()
    let making = Task {
      try await cache.value(forKey: "a") {
        try await gate.pass()
        return 1
      }
    }
    await gate.arrivals(1)
    try await cache.removeAll(tagged: "red")
    gate.open()
    #expect(try await making.value == 1)
    #expect(try await memory.get("a") == nil)
  }

  @Test("a removal by keys or tags forgets what was missed")
  func missesGo() async throws {
    let cache = memory().negativeCaching(for: .seconds(10), clock: clock)
    for key in ["a", "b"] { _ = try await cache.get(key) }
    try await cache.removeAll { $0 == "a" }
    #expect(try await cache.lookup("a").missReason == .absent)
    #expect(try await cache.lookup("b").missReason == .remembered)
    try await cache.removeAll(tagged: "red")
    #expect(try await cache.lookup("b").missReason == .absent)
    _ = try await cache.get("c")
    #expect(try await cache.setIfAbsent(1, forKey: "c"))
    #expect(try await cache.get("c") == 1)
  }

  @Test("what is stored on a condition lives as long as the operator around says")
  func lifetimes() async throws {
    let cache = memory().expiring(after: .seconds(10), clock: clock)
    #expect(try await cache.setIfAbsent(1, forKey: "a"))
    clock.advance(by: .seconds(10))
    #expect(try await cache.get("a") == nil)
    #expect(try await cache.setIfAbsent(2, forKey: "a"))
  }

  @Test("a store on a condition does not go through an open circuit")
  func openCircuit() async throws {
    let cache = memory().postProcess { _ -> Int in throw CacheError(.simulated, "down") }
      .circuitBreaker(failures: 1, clock: clock)
    try await cache.set(1, forKey: "a")
    await #expect(throws: CacheError.self) { try await cache.get("a") }
    let error = await #expect(throws: CacheError.self) { try await cache.setIfAbsent(2, forKey: "b") }
    #expect(error?.code == .circuitOpen)
  }

  @Test("a fetcher says whether a condition holds, and a composition above it stores by that")
  func fetchers() async throws {
    let source = BasicFetcher<String, Int> { $0 == "known" ? 1 : nil }
    #expect(try await source.setIfAbsent(2, forKey: "known") == false)
    let memory = memory()
    let cache = memory.compose(source.normalizeFetcher())
    #expect(try await cache.setIfAbsent(2, forKey: "known") == false)
    #expect(try await cache.setIfAbsent(2, forKey: "new"))
    #expect(try await memory.get("new") == 2)
  }
}
