import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct PostProcessedLevelTests {
  struct Refused: Error {}

  let level = ScriptedLevel<String, Int>()

  @Test("C59 C61 C62 every read is processed anew; what is stored, and the level itself, stay raw")
  func processes() async throws {
    let cache = level.postProcess { $0 + 1 }
    try await cache.set(1, forKey: "a")
    #expect(level.stored("a")?.value == 1)
    #expect(try await cache.get("a") == 2)
    #expect(try await cache.lookup("a").entry?.value == 2)
    #expect(try await level.get("a") == 1)
    try await cache.clear()
    await cache.onMemoryWarning()
    #expect(level.calls.suffix(2) == [.clear, .warn])
  }

  @Test("C59 a transformer processes as a closure does")
  func transformer() async throws {
    try await level.set(1, forKey: "a")
    #expect(try await level.postProcess(OneWayTransformationBox<Int, Int> { $0 * 10 }).get("a") == 10)
  }

  @Test("C60 a processor that fails fails the read, and is not asked for misses and errors")
  func fails() async throws {
    let refusing = { @Sendable (_: Int) async throws -> Int in throw Refused() }
    #expect(try await level.postProcess(refusing).get("a") == nil)
    try await level.set(1, forKey: "a")
    await #expect(throws: Refused.self) { try await level.postProcess(refusing).get("a") }
    let broken = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    await #expect(throws: CacheError.self) { try await broken.postProcess(refusing).get("a") }
  }

  @Test("C63 C64 a processor that knows keys can refuse one and leave the others untouched")
  func keyed() async throws {
    let cache = level.conditionedPostProcess { key, value in
      if key == "refused" { throw Refused() }
      return key == "changed" ? -value : value
    }
    for key in ["refused", "changed", "same"] { try await level.set(3, forKey: key) }
    await #expect(throws: Refused.self) { try await cache.get("refused") }
    #expect(try await cache.get("changed") == -3)
    #expect(try await cache.get("same") == 3)
  }

  @Test("C63 a key-aware transformer processes as a closure does")
  func keyedTransformer() async throws {
    let box = ConditionedOneWayTransformationBox<String, Int, Int> { key, value in value + key.count }
    try await level.set(1, forKey: "four")
    #expect(try await level.conditionedPostProcess(box).get("four") == 5)
  }

  @Test("no load is shown a processed value, so that none is stored and processed once more", arguments: [false, true])
  func loads(isAList: Bool) async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(keepsExpired: .seconds(100), clock: clock)
    let cache = memory.postProcess { $0 + 1 }
    let lasting = Expiry.after(.seconds(10))
    for _ in 0..<3 {
      if isAList {
        _ = try await cache.allBatch().value(forKey: ["a"]) { old in
          old == nil ? .value([1], expiry: lasting) : .notModified(expiry: lasting)
        }
      } else {
        _ = try await cache.capRequests(1).value(forKey: "a") { old in
          old == nil ? .value(1, expiry: lasting) : .notModified(expiry: lasting)
        }
      }
      #expect(memory.peek("a") == 1)
      #expect(try await cache.get("a") == 2)
      clock.advance(by: .seconds(10))
    }
  }

  @Test("no source is shown a processed value either, so that none is taken for the source's own")
  func sources() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(keepsExpired: .seconds(100), clock: clock)
    let lasting = Expiry.after(.seconds(10))
    let source = BasicFetcher<String, Int>(
      clock: clock, renewing: { _, old in old == nil ? .value(1, expiry: lasting) : .notModified(expiry: lasting) })
    let cache = memory.postProcess { $0 + 1 }.compose(source, clock: clock)
    for _ in 0..<3 {
      #expect(try await cache.get("a") == 1)
      #expect(memory.peek("a") == 1)
      clock.advance(by: .seconds(10))
    }
  }
}
