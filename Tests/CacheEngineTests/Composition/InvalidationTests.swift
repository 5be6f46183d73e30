import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct InvalidationTests {
  typealias Memory = MemoryCacheLevel<String, Int>

  let clock = ManualClock()
  let memory = Memory()
  let shared = Memory(name: "shared")
  let gate = Gate()

  @Test("the upper level forgets a key, or all of them, and the lower one keeps what it has")
  func forgets() async throws {
    let cache = memory.compose(shared)
    for (key, value) in ["a": 1, "b": 2, "c": 3] { try await cache.set(value, forKey: key) }
    try await shared.set(10, forKey: "a")
    try await cache.invalidate("a")
    #expect(cache.peek("a") == nil)
    #expect(cache.peek("b") == 2)
    #expect(try await cache.get("a") == 10)
    try await cache.invalidateAll(.lost)
    #expect(cache.peek("a") == nil && cache.peek("b") == nil)
    #expect(shared.peek("b") == 2)
  }

  @Test("a read under way may answer what it found, and does not bring it back", arguments: [false, true])
  func readUnderWay(all: Bool) async throws {
    let slow = ScriptedLevel<String, Int> { [gate] key in
      if key == "a" { try await gate.pass() }
      return .hit(Entry(1))
    }
    let cache = memory.compose(slow)
    async let old = cache.get("a")
    await gate.arrivals(1)
    if all { try await cache.invalidateAll() } else { try await cache.invalidate("a") }
    gate.open()
    #expect(try await old == 1)
    #expect(memory.peek("a") == nil)
  }

  @Test("the read of another key is copied all the same")
  func otherRead() async throws {
    let slow = ScriptedLevel<String, Int> { [gate] _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = memory.compose(slow)
    async let value = cache.get("b")
    await gate.arrivals(1)
    try await cache.invalidate("a")
    gate.open()
    #expect(try await value == 1)
    #expect(memory.peek("b") == 1)
  }

  @Test("nobody joins what a pool above was loading when lifetimes were ended", arguments: [false, true])
  func endedInPool(all: Bool) async throws {
    let asked = Tally()
    let slow = ScriptedLevel<String, Int> { [gate] _ in
      if asked.add() > 1 { return .hit(Entry(2)) }
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = slow.pooled().staleIfError(shared, for: .seconds(10), clock: clock)
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    if all { try await cache.invalidateAll() } else { try await cache.invalidate("a") }
    #expect(try await cache.get("a") == 2)
    gate.open()
    #expect(try await early.value == 1)
  }

  @Test("one that comes while a write is under way makes the upper level forget now, and when the write ends")
  func writeUnderWay() async throws {
    let slow = HookedLevel(base: shared, onStore: { [gate] _, value in if value == 2 { try await gate.pass() } })
    let cache = memory.compose(slow)
    try await cache.set(1, forKey: "a")
    let writer = Task { try await cache.set(2, forKey: "a") }
    await gate.arrivals(1)
    try await cache.invalidate("a")
    #expect(memory.peek("a") == nil)
    gate.open()
    try await writer.value
    #expect(memory.peek("a") == nil)
    #expect(try await cache.get("a") == 2)
  }

  @Test(
    "copies in a level that is between are forgotten too, however the brackets are put", arguments: [false, true])
  func nested(fromBelow: Bool) async throws {
    let disk = Memory(name: "disk")
    let cache =
      fromBelow
      ? memory.compose(disk.compose(shared)).normalize() : memory.compose(disk).compose(shared).normalize()
    try await cache.set(1, forKey: "a")
    try await shared.set(2, forKey: "a")
    try await cache.invalidate("a")
    #expect(memory.peek("a") == nil && disk.peek("a") == nil)
    #expect(try await cache.get("a") == 2)
    try await shared.set(3, forKey: "a")
    try await cache.invalidateAll(.overflow)
    #expect(try await cache.get("a") == 3)
  }

  @Test("whatever stands around a composition hands it on")
  func wrapped() async throws {
    let observer = RecordingObserver()
    let cache =
      memory.compose(shared).pooled().timeout(after: .seconds(1), clock: clock).retry().capRequests(2).circuitBreaker()
      .optional()
      .negativeCaching(for: .seconds(5), clock: clock).fallback { _, _ in nil }.conditioned { _ in true }.expiring(
        after: .seconds(100_000)
      )
      .maximumAge(.seconds(100_000)).postProcess { $0 }.transformValues(
        TwoWayTransformationBox<Int, String>(transform: { String($0) }, inverseTransform: { Int($0) ?? 0 })
      ).transformKeys { (key: Int) in String(key) }.observed(as: "all", by: observer).traced(by: observer)
    try await cache.set("1", forKey: 7)
    try await shared.set(2, forKey: "7")
    try await cache.invalidate(7)
    #expect(try await cache.get(7) == "2")
    try await shared.set(3, forKey: "7")
    try await cache.invalidateAll()
    #expect(try await cache.get(7) == "3")
    let lanes = switchLevels(memory.compose(shared), memory.compose(shared)) { _ in .first }
    try await shared.set(4, forKey: "7")
    try await lanes.invalidate("7")
    #expect(try await lanes.get("7") == 4)
  }

  @Test("who tells a level that others can do without to forget is told if it could not, unlike one who writes")
  func optional() async throws {
    let faults = FaultInjector(clock: clock)
    let cache = memory.injectingFaults(faults).compose(shared, observer: nil).optional(observer: nil)
    try await cache.set(1, forKey: "a")
    faults.fault = Fault(isDown: true)
    await #expect(throws: CacheError.self) { try await cache.invalidate("a") }
    await #expect(throws: CacheError.self) { try await cache.invalidateAll() }
    try await cache.remove("a")
    #expect(memory.peek("a") == 1 && shared.peek("a") == nil)
  }

  @Test("where stale values may be wanted, the entry expires and is not lost")
  func keepsStale() async throws {
    let clock = clock
    let above = Memory(expiry: .after(.seconds(60)), keepsExpired: .seconds(60), clock: clock)
    let source = ScriptedLevel<String, Int> { key in
      if key == "down" { throw CacheError(.simulated, "down") }
      return .hit(Entry(2))
    }
    let cache = above.staleIfError(source, for: .seconds(60), observer: nil, clock: clock)
    for key in ["a", "down"] { try await above.set(1, forKey: key) }
    for key in ["a", "down"] { try await cache.invalidate(key) }
    #expect(try await cache.get("a") == 2)
    #expect(try await cache.lookup("down").entry?.isStale == true)
    try await above.set(1, forKey: "a")
    try await cache.invalidateAll(.flushed)
    #expect(try await cache.get("a") == 2)
  }

  @Test("the entry expires and is not lost whatever stands around the upper level, or is composed there")
  func keepsStaleInside() async throws {
    let (clock, observer) = (clock, RecordingObserver())
    func memory() -> Memory { Memory(expiry: .after(.seconds(60)), keepsExpired: .seconds(60), clock: clock) }
    let same = TwoWayTransformationBox<Int, Int>(transform: { $0 }, inverseTransform: { $0 })
    try await checkKeepsStale(memory().observed(as: "memory", by: observer, clock: clock), "observed")
    try await checkKeepsStale(memory().traced(by: observer, clock: clock), "traced")
    try await checkKeepsStale(memory().expiring(after: .seconds(60), clock: clock), "expiring")
    try await checkKeepsStale(memory().timeout(after: .seconds(1), writes: .seconds(1), clock: clock), "timeout")
    try await checkKeepsStale(memory().retry(clock: clock).normalize().capRequests(2), "normalize")
    try await checkKeepsStale(memory().negativeCaching(for: .seconds(5), clock: clock).optional(), "optional")
    try await checkKeepsStale(memory().pooled(), "pooled")
    try await checkKeepsStale(memory().transformKeys { (key: String) in key + "!" }, "transformKeys")
    try await checkKeepsStale(memory().transformValues(same), "transformValues")
    try await checkKeepsStale(
      memory().conditionedValueTransformation(
        ConditionedTwoWayTransformationBox<String, Int, Int>(
          conditionalTransform: { $1 }, inverseConditionalTransform: { $1 })), "conditionedValueTransformation")
    try await checkKeepsStale(switchLevels(memory(), memory()) { _ in .second }, "switchLevels")
    try await checkKeepsStale(memory().compose(memory()), "compose")
    try await checkKeepsStale(memory().staleIfError(EmptyLevel(), for: .seconds(60), clock: clock), "staleIfError")
    // Each breaks if it is passed by.
    try await checkKeepsStale(
      memory().circuitBreaker(clock: clock).conditioned { _ in true }.postProcess { $0 }.maximumAge(
        .seconds(100), clock: clock
      )
      .fallback { _, _ in nil }, "circuitBreaker")
    #expect(observer.events.count { if case .done(.remove, _) = $0.kind { true } else { false } } == 1)
    #expect(observer.events.count { if case .done(.clear, _) = $0.kind { true } else { false } } == 1)
    // Where nothing outlives its end, it is removed; a decorator of the user's own knows how.
    let plain = ScriptedLevel<String, Int>()
    try await checkKeepsStale(memory().compose(plain.normalize()), "compose, below a level that keeps nothing expired")
    #expect(plain.stored("a") == nil)
  }

  /// Keeps everything under another key.
  private struct Prefixed: LevelDecorator {
    let base: Memory
    func set(_ value: Int, forKey key: String) async throws { try await base.set(value, forKey: "p/" + key) }
    func store(_ value: Int, forKey key: String, terms: StoreTerms) async throws {
      try await base.store(value, forKey: "p/" + key, terms: terms)
    }
    func get(_ key: String) async throws -> Int? { try await base.get("p/" + key) }
    func lookup(_ key: String) async throws -> Lookup<Int> { try await base.lookup("p/" + key) }
    func remove(_ key: String) async throws { try await base.remove("p/" + key) }
  }

  @Test("a decorator that removes in its own way is asked to, where stale values may be wanted, too")
  func ownRemoval() async throws {
    let cache = Prefixed(base: memory).staleIfError(shared, for: .seconds(60), observer: nil, clock: clock)
    try await memory.set(1, forKey: "p/a")
    try await memory.set(1, forKey: "a")
    try await cache.invalidate("a")
    #expect(memory.peek("p/a") == nil && memory.peek("a") == 1)
  }

  @Test(
    "a miss that is remembered above is forgotten where stale values may be wanted, too", arguments: [false, true])
  func rememberedAbove(all: Bool) async throws {
    let cache = memory.negativeCaching(for: .seconds(60), clock: clock).staleIfError(
      EmptyLevel(), for: .seconds(60), observer: nil, clock: clock)
    #expect(try await cache.get("a") == nil)
    try await memory.set(1, forKey: "a")
    if all { try await cache.invalidateAll() } else { try await cache.invalidate("a") }
    // The level inside was asked.
    #expect(try await cache.lookup("a").missReason == .expired)
  }

  private func checkKeepsStale(_ upper: some CacheLevel<String, Int>, _ comment: Comment) async throws {
    let down = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    let cache = upper.staleIfError(down, for: .seconds(60), observer: nil, clock: clock)
    for isOne in [true, false] {
      try await upper.set(1, forKey: "a")
      if isOne { try await cache.invalidate("a") } else { try await cache.invalidateAll(.flushed) }
      let entry = try? await cache.lookup("a").entry
      #expect(entry?.value == 1 && entry?.isStale == true, comment)
    }
  }

  @Test("later callers of a pool share no load from before, and a value that was being made is not stored")
  func pooled() async throws {
    let slow = ScriptedLevel<String, Int> { [gate] _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = memory.compose(slow).pooled()
    async let old = cache.get("a")
    await gate.arrivals(1)
    try await cache.invalidate("a")
    async let new = cache.get("a")
    await gate.arrivals(2)
    gate.open()
    #expect(try await (old, new) == (1, 1))
    let making = Gate()
    let nothing = memory.compose(EmptyLevel()).pooled()
    let maker = Task {
      try await nothing.value(forKey: "b") {
        try await making.pass()
        return 5
      }
    }
    await making.arrivals(1)
    try await nothing.invalidate("b")
    making.open()
    #expect(try await maker.value == 5)
    #expect(memory.peek("b") == nil)
  }

  @Test(
    "a pool of what keeps no copies itself: who comes later shares no load from before, and nothing old is kept",
    arguments: [false, true])
  func poolOfSource(isDirect: Bool) async throws {
    let values = Mutex([1, 2])
    let source = ScriptedLevel<String, Int> { [gate] _ in
      let value = values.withLock { $0.removeFirst() }
      if value == 1 { try await gate.pass() }
      return .hit(Entry(value))
    }
    let observer = RecordingObserver()
    let pool = source.pooled(observer: observer)
    let cache = isDirect ? memory.compose(pool).normalize() : memory.compose(pool.retry()).normalize()
    async let old = pool.get("a")
    await gate.arrivals(1)
    try await cache.invalidate("a")
    let new = Task { try await cache.get("a") }
    let flights = Mutex(0)
    await observer.event { event in
      switch event.kind {
      case .flightBegan, .flightJoined:
        flights.withLock { flights in
          flights += 1
          return flights == 2
        }
      default: false
      }
    }
    gate.open()
    #expect(try await old == 1)
    #expect(try await new.value == 2)
    #expect(memory.peek("a") == 2)
  }

  @Test("that a key was missed below is forgotten too, for one key and for all", arguments: [false, true])
  func rememberedMiss(all: Bool) async throws {
    let cache = memory.compose(shared.negativeCaching(for: .seconds(60), clock: clock).retry())
    #expect(try await cache.get("a") == nil)
    try await shared.set(1, forKey: "a")
    if all { try await cache.invalidateAll() } else { try await cache.invalidate("a") }
    #expect(try await cache.get("a") == 1)
  }

  @Test("a lane that keeps copies is told beside one that keeps none, and so is each key of a list")
  func lanesAndLists() async throws {
    let disk = Memory(name: "disk")
    let cache = memory.compose(switchLevels(disk.compose(shared), EmptyLevel()) { _ in .first })
    try await cache.set(1, forKey: "a")
    try await shared.set(2, forKey: "a")
    try await cache.invalidate("a")
    #expect(try await cache.get("a") == 2)
    try await shared.set(3, forKey: "a")
    try await cache.invalidateAll()
    #expect(try await cache.get("a") == 3)
    let lists = memory.compose(shared).allBatch()
    try await shared.set(4, forKey: "a")
    try await lists.invalidate(["a", "b"])
    #expect(memory.peek("a") == nil)
    try await shared.set(5, forKey: "b")
    try await lists.invalidateAll()
    #expect(try await lists.get(["a", "b"]) == [4, 5])
  }
}
