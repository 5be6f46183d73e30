import CacheEngine
import CacheEngineTesting
import Testing

struct FaultInjectionTests {
  private let clock = ManualClock()

  private func level(_ fault: Fault, seed: UInt64 = 7) -> (
    FaultInjectingLevel<ScriptedLevel<String, Int>>, FaultInjector
  ) {
    let faults = FaultInjector(seed: seed, clock: clock)
    faults.fault = fault
    return (ScriptedLevel<String, Int>(name: "inner", clock: clock).injectingFaults(faults), faults)
  }

  @Test("Without a fault a level does what it always does, and nothing is counted")
  func none() async throws {
    let (level, faults) = level(.none)
    try await level.set(1, forKey: "a")
    #expect(try await level.get("a") == 1)
    try await level.remove("a")
    #expect(try await level.lookup("a").entry == nil)
    #expect(faults.count == FaultInjector.Count())
    #expect(level.name == "inner")
  }

  @Test("A level that is down fails every operation at once, and stands again when told")
  func down() async throws {
    let (level, faults) = level(Fault(isDown: true))
    await #expect(throws: CacheError.self) { try await level.get("a") }
    await #expect(throws: CacheError.self) { try await level.set(1, forKey: "a") }
    await #expect(throws: CacheError.self) { try await level.remove("a") }
    await #expect(throws: CacheError.self) { try await level.clear() }
    #expect(level.base.calls.isEmpty)
    #expect(faults.count.errors == 4)
    faults.fault = .none
    try await level.set(1, forKey: "a")
    #expect(try await level.get("a") == 1)
  }

  @Test("Errors come as often as they should, the same for the same seed and others for another")
  func errors() async throws {
    func failures(seed: UInt64) async -> [Bool] {
      let (level, _) = level(Fault(errors: 0.2), seed: seed)
      var failed: [Bool] = []
      for _ in 0..<2_000 {
        do {
          _ = try await level.get("a")
          failed.append(false)
        } catch {
          #expect((error as? CacheError)?.code == .simulated)
          #expect((error as? CacheError)?.level == "inner")
          failed.append(true)
        }
      }
      return failed
    }
    let first = await failures(seed: 7)
    // Six standard deviations round 400.
    #expect((293...507).contains(first.count { $0 }))
    #expect(await failures(seed: 7) == first)
    #expect(await failures(seed: 8) != first)
  }

  @Test("A latency passes on the clock that was given, before the level is asked")
  func latency() async throws {
    let (level, faults) = level(Fault(latency: .seconds(2) ... .seconds(2)))
    let read = Task { try await level.get("a") }
    await clock.waitForSleepers()
    #expect(level.base.calls.isEmpty)
    clock.advance(by: .seconds(2))
    #expect(try await read.value == nil)
    #expect(level.base.calls == [.get("a")])
    #expect(faults.count == FaultInjector.Count(errors: 0, delays: 1))
  }

  @Test("Who is held up can be cancelled")
  func cancelled() async throws {
    let (level, _) = level(Fault(latency: .seconds(2) ... .seconds(2)))
    let read = Task { try await level.get("a") }
    await clock.waitForSleepers()
    read.cancel()
    await #expect(throws: CancellationError.self) { try await read.value }
  }

  @Test("A storage level stays one, and a fetcher a fetcher: observers tell the same of both")
  func kinds() async throws {
    let faults = FaultInjector(clock: clock)
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(5)), clock: clock).injectingFaults(faults)
    try await memory.set(1, forKey: "a")
    #expect(memory.usage.count == 1)
    #expect(memory.expiry == .after(.seconds(5)))
    #expect(try await memory.contents().map(\.key) == ["a"])
    try await memory.expire("a")
    #expect(try await memory.get("a") == nil)
    try await memory.set(2, forKey: "b")
    #expect(try await memory.removeAll { $0 == "b" } == 1)
    let origin: any CacheLevel = SimulatedOrigin(clock: clock).injectingFaults(faults)
    #expect(origin is any Fetcher)
    #expect(!(memory is any Fetcher))
  }

  @Test("A level that is down removes nothing by condition or by tag, and ends no lifetime")
  func downForRemovals() async throws {
    let faults = FaultInjector(clock: clock)
    let memory = MemoryCacheLevel<String, Int>(clock: clock).injectingFaults(faults)
    try await memory.set(1, forKey: "a", tags: ["t"])
    faults.fault = Fault(isDown: true)
    await #expect(throws: CacheError.self) { try await memory.removeAll { $0 == "a" } }
    await #expect(throws: CacheError.self) { try await memory.removeAll(tagged: "t") }
    await #expect(throws: CacheError.self) { try await memory.expire("a") }
    await #expect(throws: CacheError.self) { try await memory.removeExpired() }
    #expect(faults.count.errors == 4)
    faults.fault = .none
    #expect(try await memory.get("a") == 1)
    #expect(try await memory.removeAll(tagged: "t") == 1)
  }

  @Test("A source behind faults is shown what has expired, and a composition behind them reloads and forgets copies")
  func abilities() async throws {
    let faults = FaultInjector(clock: clock)
    let source = BasicFetcher<String, Int>(clock: clock) { _, old in .value((old?.value ?? 0) + 1) }
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(5)), keepsExpired: .seconds(60), clock: clock)
    let cache = memory.compose(source.injectingFaults(faults), clock: clock).injectingFaults(faults)
    #expect(try await cache.get("a") == 1)
    clock.advance(by: .seconds(5))
    #expect(try await cache.get("a") == 2)
    #expect(try await cache.reload("a").entry?.value == 1, "a reload shows nothing to the source")
    try await cache.invalidate("a")
    #expect(try await memory.get("a") == nil)
    faults.fault = Fault(isDown: true)
    await #expect(throws: CacheError.self) { try await cache.reload("a") }
    await #expect(throws: CacheError.self) { try await cache.invalidateAll() }
  }

  @Test("A composition serves from below what fails above, and heals")
  func composed() async throws {
    let faults = FaultInjector(clock: clock)
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let below = ScriptedLevel<String, Int>(name: "below", clock: clock)
    let cache = memory.injectingFaults(faults).compose(below, observer: nil)
    try await below.set(5, forKey: "a")
    faults.fault = Fault(isDown: true)
    #expect(try await cache.get("a") == 5)
    #expect(try await memory.get("a") == nil)
    faults.fault = .none
    #expect(try await cache.get("a") == 5)
    #expect(try await memory.get("a") == 5)
  }
}
