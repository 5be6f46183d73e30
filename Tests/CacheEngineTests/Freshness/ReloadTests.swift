import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

/// Reading past the upper levels, and values made of those before, through compositions.
@Suite(.timeLimit(.minutes(5))) struct ReloadTests {
  private let memory = MemoryCacheLevel<String, Int>(name: "memory")
  private let middle = MemoryCacheLevel<String, Int>(name: "middle")

  @Test("a reload asks the lowest level, whichever way the stack is built, and all above have what it gives")
  func reloads() async throws {
    let answer = Mutex<Int?>(1)
    let source = BasicFetcher<String, Int>(name: "source") { _ in answer.withLock { $0 } }
    let stacks: [BasicCache<String, Int>] = [
      memory.compose(middle).compose(source).pooled().normalize(),
      memory.compose(middle.compose(source)).normalize(),
      memory.compose(middle.compose(source).pooled()).pooled().normalize(),
      memory.staleIfError(middle.compose(source), for: .seconds(10)).normalize(),
    ]
    for (number, cache) in stacks.enumerated() {
      answer.withLock { $0 = 1 }
      #expect(try await cache.get("a") == 1)
      answer.withLock { $0 = 2 }
      #expect(try await cache.get("a") == 1)
      #expect(try await cache.reload("a").entry?.value == 2)
      #expect(memory.peek("a") == 2 && middle.peek("a") == 2, "stack \(number)")
      try await cache.clear()
    }
  }

  @Test("who reads after a reload does not join a load from before it")
  func readsAfter() async throws {
    let gate = Gate()
    let asked = Mutex(0)
    let source = ScriptedLevel<String, Int> { _ in
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      if number == 1 { try await gate.pass() }
      return .hit(Entry(number))
    }
    let pool = source.pooled()
    let early = Task { try await pool.get("a") }
    await gate.arrivals(1)
    #expect(try await pool.reload("a").entry?.value == 2)
    #expect(try await pool.get("a") == 3)
    gate.open()
    #expect(try await early.value == 1)
  }

  @Test("a reload goes through every operator between the levels")
  func operators() async throws {
    let answer = Mutex(1)
    let clock = ManualClock()
    let source = BasicFetcher<String, Int>(name: "source") { _ in answer.withLock { $0 } }
    let lower = middle.compose(source, clock: clock)
    let same = TwoWayTransformationBox<Int, Int>(transform: { $0 }, inverseTransform: { $0 })
    let first = TwoWayTransformationBox<[Int], Int>(transform: { $0[0] }, inverseTransform: { [$0] })
    let stacks: [String: BasicCache<String, Int>] = [
      "allBatch": memory.compose(
        lower.allBatch().transformKeys { (key: String) in [key] }.transformValues(first)
      ).normalize(),
      "capRequests": memory.compose(lower.capRequests(1)).normalize(),
      "retry": memory.compose(lower.retry(clock: clock)).normalize(),
      "timeout": memory.compose(lower.timeout(after: .seconds(1), clock: clock)).normalize(),
      "circuitBreaker": memory.compose(lower.circuitBreaker(clock: clock)).normalize(),
      "fallback": memory.compose(lower.fallback { _, _ in nil }).normalize(),
      "optional": memory.compose(lower.optional()).normalize(),
      "conditioned": memory.compose(lower.conditioned { _ in true }).normalize(),
      "expiring": memory.compose(lower.expiring(after: .seconds(60), clock: clock)).normalize(),
      "maximumAge": memory.compose(lower.maximumAge(.seconds(60), clock: clock)).normalize(),
      "negativeCaching": memory.compose(lower.negativeCaching(for: .seconds(1), clock: clock)).normalize(),
      "observed": memory.compose(lower.observed(as: "lower", by: RecordingObserver(), clock: clock)).normalize(),
      "traced": memory.compose(lower.traced(by: RecordingObserver(), clock: clock)).normalize(),
      "postProcess": memory.compose(lower.postProcess { $0 }).normalize(),
      "transformKeys": memory.compose(lower.transformKeys { (key: String) in key }).normalize(),
      "transformValues": memory.compose(lower.transformValues(same)).normalize(),
      "switchLevels": memory.compose(switchLevels(lower, lower) { _ in .second }).normalize(),
      "above": memory.compose(lower).retry(clock: clock).observed(as: "all", by: RecordingObserver()).normalize(),
    ]
    for (name, cache) in stacks {
      answer.withLock { $0 = 1 }
      #expect(try await cache.get("a") == 1, "\(name)")
      answer.withLock { $0 = 2 }
      #expect(try await cache.reload("a").entry?.value == 2, "\(name)")
      #expect(memory.peek("a") == 2, "\(name)")
      try await cache.clear()
    }
  }

  @Test("a miss that is remembered keeps nobody from reading anew")
  func remembered() async throws {
    let answer = Mutex<Int?>(nil)
    let source = BasicFetcher<String, Int>(name: "source") { _ in answer.withLock { $0 } }
    let caches: [BasicCache<String, Int>] = [
      memory.compose(middle.compose(source).negativeCaching(for: .seconds(60), clock: ManualClock())).normalize(),
      memory.compose(source.negativeCaching(for: .seconds(60), clock: ManualClock())).normalize(),
    ]
    for cache in caches {
      answer.withLock { $0 = nil }
      #expect(try await cache.get("a") == nil)
      answer.withLock { $0 = 2 }
      #expect(try await cache.get("a") == nil)
      #expect(try await cache.reload("a").entry?.value == 2)
      #expect(try await cache.get("a") == 2)
      try await memory.clear()
      try await middle.clear()
    }
  }

  @Test("what a read finds that began before a reload takes the place of nothing that this gave")
  func earlyRead() async throws {
    for shape in ["compose", "pooled below", "pooled above", "negativeCaching"] {
      let gate = Gate()
      let calls = Mutex(0)
      let source = BasicFetcher<String, Int>(name: "source") { _ -> Int? in
        let call = calls.withLock { calls in
          calls += 1
          return calls
        }
        guard call == 1 else { return 2 }
        try await gate.pass()
        return shape == "negativeCaching" ? nil : 1
      }
      let cache: BasicCache<String, Int> =
        switch shape {
        case "compose": memory.compose(source).normalize()
        case "pooled below": memory.compose(source.pooled()).normalize()
        case "pooled above": memory.compose(source).pooled().normalize()
        default: source.negativeCaching(for: .seconds(60), clock: ManualClock()).normalize()
        }
      let early = Task { try await cache.get("a") }
      await gate.arrivals(1)
      #expect(try await cache.reload("a").entry?.value == 2, "\(shape)")
      gate.open()
      #expect(try await early.value == (shape == "negativeCaching" ? nil : 2), "\(shape)")
      #expect(try await cache.get("a") == 2, "\(shape)")
      try await memory.clear()
    }
  }

  @Test("of two reloads at once, what the later one gives is kept, whichever ends first", arguments: [false, true])
  func overlapping(isLaterFirst: Bool) async throws {
    let gates = [Gate(), Gate()]
    let calls = Mutex(0)
    let source = BasicFetcher<String, Int>(name: "source") { _ -> Int? in
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      try await gates[call - 1].pass()
      return call
    }
    let cache = memory.compose(source)
    let first = Task { try await cache.reload("a").entry?.value }
    await gates[0].arrivals(1)
    let second = Task { try await cache.reload("a").entry?.value }
    await gates[1].arrivals(1)
    gates[isLaterFirst ? 1 : 0].open()
    #expect(try await (isLaterFirst ? second : first).value == (isLaterFirst ? 2 : 1))
    gates[isLaterFirst ? 0 : 1].open()
    #expect(try await (isLaterFirst ? first : second).value == 2)
    #expect(memory.peek("a") == 2)
  }

  @Test("a reload that fails lets no read be late that is under way")
  func failsMeanwhile() async throws {
    let gate = Gate()
    let calls = Mutex(0)
    let source = BasicFetcher<String, Int>(name: "source") { _ in
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard call == 1 else { throw CacheError(.simulated, "down") }
      try await gate.pass()
      return 1
    }
    let cache = memory.compose(source)
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    await #expect(throws: CacheError(.simulated, "down")) { try await cache.reload("a") }
    gate.open()
    #expect(try await early.value == 1)
    #expect(memory.peek("a") == 1)
  }

  @Test("what is being copied upwards when a reload ends, from before it, does not stay there")
  func lateCopy() async throws {
    let gate = Gate()
    let answer = Mutex(1)
    let source = BasicFetcher<String, Int>(name: "source") { _ in answer.withLock { $0 } }
    let upper = ScriptedLevel<String, Int>(onSet: { _, _ in try await gate.pass() })
    let cache = upper.compose(source)
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    answer.withLock { $0 = 2 }
    let reload = Task { try await cache.reload("a").entry?.value }
    try await turns { cache.gate.waitingCount == 1 }
    gate.open()
    #expect(try await early.value == 1)
    #expect(try await reload.value == 2)
    #expect(try await cache.get("a") == 2)
  }

  @Test("a lane without levels below is read as ever, and the other one anew")
  func lanes() async throws {
    let answer = Mutex(1)
    let source = BasicFetcher<String, Int>(name: "source") { _ in answer.withLock { $0 } }
    let cache = switchLevels(memory.compose(source), source) { $0 == "a" ? .first : .second }.normalize()
    #expect(try await cache.get("a") == 1)
    answer.withLock { $0 = 2 }
    #expect(try await cache.reload("a").entry?.value == 2)
    #expect(try await cache.reload("b").entry?.value == 2)
    #expect(memory.peek("a") == 2)
  }

  @Test(
    "a source that fails takes nothing away; one that has no such value any more does",
    arguments: ["compose", "compose twice", "staleIfError"])
  func fails(shape: String) async throws {
    let answer = Mutex<Result<Int?, CacheError>>(.success(1))
    let source = BasicFetcher<String, Int>(name: "source") { _ in try answer.withLock { $0 }.get() }
    let cache: BasicCache<String, Int> =
      switch shape {
      case "compose": memory.compose(source).normalize()
      case "compose twice": memory.compose(middle.compose(source)).normalize()
      default: memory.staleIfError(source, for: .seconds(10)).normalize()
      }
    #expect(try await cache.get("a") == 1)
    answer.withLock { $0 = .failure(CacheError(.simulated, "down")) }
    await #expect(throws: CacheError(.simulated, "down")) { try await cache.reload("a") }
    #expect(memory.peek("a") == 1)
    answer.withLock { $0 = .success(nil) }
    #expect(try await cache.reload("a").missReason == .absent)
    #expect(memory.peek("a") == nil && middle.peek("a") == nil)
  }

  @Test("a write that comes while a key is read anew wins")
  func overtaken() async throws {
    let gate = Gate()
    let lower = MemoryCacheLevel<String, Int>(name: "lower")
    try await lower.set(1, forKey: "a")
    let slow = BasicFetcher<String, Int>(name: "slow") { key in
      let value = try await lower.get(key)
      try await gate.pass()
      return value
    }
    let cache = memory.compose(slow)
    let reload = Task { try await cache.reload("a").entry?.value }
    await gate.arrivals(1)
    try await cache.set(2, forKey: "a")
    gate.open()
    #expect(try await reload.value == 2)
    #expect(memory.peek("a") == 2)
  }

  @Test("no increment of many tasks through a composition or a pool is lost, and both levels end with the same")
  func updates() async throws {
    let cache = memory.compose(middle).pooled()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<200 { try await cache.update("a") { ($0 ?? 0) + 1 } } }
      }
      try await group.waitForAll()
    }
    #expect(memory.peek("a") == 1_600 && middle.peek("a") == 1_600)
    #expect(try await cache.update("a") { _ in nil } == nil)
    #expect(memory.peek("a") == nil && middle.peek("a") == nil)
  }

  @Test("an update sees what only the lower level has; a closure that throws changes nothing")
  func updatesFromBelow() async throws {
    struct Refused: Error {}
    let cache = memory.compose(middle).normalize()
    try await middle.set(4, forKey: "a")
    await #expect(throws: Refused.self) { try await cache.update("a") { _ in throw Refused() } }
    #expect(memory.peek("a") == nil && middle.peek("a") == 4)
    #expect(try await cache.update("a") { ($0 ?? 0) + 1 } == 5)
    #expect(memory.peek("a") == 5 && middle.peek("a") == 5)
    let fetcher = BasicFetcher<String, Int>(name: "source") { _ in 1 }.normalize()
    await #expect(throws: CacheError.self) { try await fetcher.update("a") { $0 } }
  }
}
