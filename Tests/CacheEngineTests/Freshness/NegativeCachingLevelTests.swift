import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct NegativeCachingLevelTests {
  let clock = ManualClock()
  let observer = RecordingObserver()
  let level = ScriptedLevel<String, Int>()

  private var cache: NegativeCachingLevel<ScriptedLevel<String, Int>> {
    level.negativeCaching(for: .seconds(5), observer: observer, clock: clock)
  }

  @Test("a miss is remembered for its lifetime, and no longer")
  func remembers() async throws {
    let cache = cache
    #expect(try await cache.lookup("a").missReason == .absent)
    #expect(try await cache.lookup("a").missReason == .remembered)
    #expect(try await cache.get("a") == nil)
    #expect(level.count(of: .get("a")) == 1)
    clock.advance(by: .seconds(5))
    #expect(try await cache.lookup("a").missReason == .absent)
    #expect(level.count(of: .get("a")) == 2)
    #expect(observer.events.count { if case .operated(.rememberedMiss) = $0.kind { true } else { false } } == 2)
  }

  @Test("a set, a removal and a clear forget the miss")
  func forgets() async throws {
    let cache = cache
    _ = try await cache.get("a")
    try await cache.set(1, forKey: "a")
    #expect(try await cache.get("a") == 1)
    try await cache.remove("a")
    _ = try await cache.get("a")
    try await cache.clear()
    #expect(try await cache.lookup("a").missReason == .absent)
  }

  @Test("a reload that finds a value forgets the miss")
  func reloads() async throws {
    let cache = cache
    #expect(try await cache.get("a") == nil)
    try await level.set(1, forKey: "a")
    #expect(try await cache.lookup("a").missReason == .remembered)
    #expect(try await cache.reload("a").entry?.value == 1)
    #expect(try await cache.get("a") == 1)
  }

  @Test("a value that is set while a read travels is not hidden by the read's miss")
  func setWhileReading() async throws {
    let gate = Gate()
    let slow = ScriptedLevel<String, Int> { _ in
      try await gate.pass()
      return .miss(.absent)
    }
    let cache = slow.negativeCaching(for: .seconds(5), clock: clock)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    try await cache.set(1, forKey: "a")
    gate.open()
    #expect(try await reader.value == nil)
    _ = try await cache.lookup("a")
    #expect(slow.count(of: .get("a")) == 2)
  }

  @Test("errors are remembered only if asked for, refusals and cancellations never")
  func failures() async throws {
    let failing = ScriptedLevel<String, Int> { key in
      var error = CacheError(.status, "status")
      error.status = key == "gone" ? 404 : 500
      throw error
    }
    let cache = failing.negativeCaching(for: .seconds(5), clock: clock) { ($0 as? CacheError)?.status == 404 }
    for key in ["gone", "gone", "down", "down"] {
      await #expect(throws: CacheError.self) { try await cache.get(key) }
    }
    #expect(failing.count(of: .get("gone")) == 1)
    #expect(failing.count(of: .get("down")) == 2)
    let refused = level.conditioned { _ in false }.negativeCaching(for: .seconds(5), clock: clock)
    #expect(try await refused.lookup("a").missReason == .refused)
    #expect(try await refused.lookup("a").missReason == .refused)
  }

  @Test("only so many misses are remembered; a memory warning forgets them all")
  func bounded() async throws {
    let cache = level.negativeCaching(for: .seconds(5), countLimit: 2, clock: clock)
    for key in ["a", "b", "c"] { _ = try await cache.get(key) }
    #expect(try await cache.lookup("a").missReason == .absent)
    #expect(try await cache.lookup("c").missReason == .remembered)
    await cache.onMemoryWarning()
    #expect(try await cache.lookup("c").missReason == .absent)
    #expect(level.calls.contains(.warn))
  }

  @Test("a remembered miss hides no stale value")
  func staleValues() async throws {
    let memory = MemoryCacheLevel<String, Int>(
      expiry: .after(.seconds(1)), keepsExpired: .seconds(100), clock: clock)
    let cache = memory.negativeCaching(for: .seconds(50), clock: clock)
    try await cache.set(1, forKey: "a")
    clock.advance(by: .seconds(1))
    #expect(try await cache.lookup("a").missReason == .expired)
    #expect(try await cache.lookup("a").missReason == .remembered)
    #expect(try await cache.lookupIncludingExpired("a").entry?.value == 1)
    let down = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    let above = cache.staleIfError(down, for: .seconds(100), clock: clock)
    #expect(try await above.get("a") == 1)
    #expect(try await above.get("a") == 1)
  }

  @Test("that there is nothing expired either is remembered, too, for both kinds of reads")
  func nothingStale() async throws {
    let cache = cache
    #expect(try await cache.lookupIncludingExpired("a").missReason == .absent)
    #expect(try await cache.lookupIncludingExpired("a").missReason == .remembered)
    #expect(try await cache.lookup("a").missReason == .remembered)
    #expect(level.count(of: .get("a")) == 1)
  }

  @Test(
    "that a level cannot tell what it has is not remembered", arguments: [MissReason.unsettled, .unanswered, .newer])
  func cannotTell(_ reason: MissReason) async throws {
    let unsure = ScriptedLevel<String, Int> { _ in .miss(reason) }
    let cache = unsure.negativeCaching(for: .seconds(5), clock: clock)
    for _ in 0..<2 { #expect(try await cache.lookup("a").missReason == reason) }
    #expect(unsure.count(of: .get("a")) == 2)
  }

  @Test("what was missed, and not because it is gone, is dropped above no more when the miss is remembered")
  func rememberedIsNotGone() async throws {
    let memory = MemoryCacheLevel<String, Int>(
      expiry: .after(.seconds(1)), keepsExpired: .seconds(100), clock: clock)
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(1))
    let damaged = ScriptedLevel<String, Int> { _ in .miss(.damaged) }
    let cache = memory.staleIfError(
      damaged.negativeCaching(for: .seconds(5), clock: clock), for: .seconds(100), clock: clock)
    for reason in [MissReason.damaged, .remembered] { #expect(try await cache.lookup("a").missReason == reason) }
    #expect(try await memory.lookupIncludingExpired("a").entry?.value == 1)
  }

  @Test("what is remembered is not passed by, by no way of asking")
  func noWayRound() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let cache = memory.negativeCaching(for: .seconds(5), clock: clock)
    #expect(try await cache.get("a") == nil)
    try await memory.set(1, forKey: "a")
    #expect(cache.peek("a") == nil)
    #expect(try await cache.normalize().get("a") == nil)
    #expect(try await cache.pooled().get("a") == nil)
    await #expect(throws: CacheError.self) { try await cache.require("a") }
    clock.advance(by: .seconds(5))
    #expect(cache.peek("a") == 1)
  }

  @Test("where there was nobody to ask nothing is remembered, so that the level above has the last word")
  func nobody() async throws {
    let failing = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    let cache = failing.compose(EmptyLevel().negativeCaching(for: .seconds(5), clock: clock))
    for _ in 0..<2 { await #expect(throws: CacheError.self) { try await cache.lookup("a") } }
  }
}
