import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

/// A read that waits for a slow source only so long, if there is a stale value.
@Suite(.timeLimit(.minutes(5))) struct StaleIfSlowTests {
  private let clock = ManualClock()
  private let source = ChangingSource()
  private let observer = RecordingObserver()

  private func memory() -> MemoryCacheLevel<String, Int> {
    MemoryCacheLevel(expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
  }

  private func cache(
    _ policy: RevalidationPolicy = RevalidationPolicy(ifSlow: .seconds(30), slowAfter: .seconds(1))
  ) -> RevalidatedLevel<MemoryCacheLevel<String, Int>, BasicFetcher<String, Int>> {
    memory().compose(source.level, revalidating: policy, observer: observer, clock: clock)
  }

  private func isEnd(_ event: CacheEvent) -> Bool {
    if case .operated(.refreshEnded) = event.kind { true } else { false }
  }

  @Test("a source that is slow is waited for so long, then the stale value is given; what comes later is stored")
  func slow() async throws {
    let cache = memory().staleIfSlow(
      source.level, after: .seconds(1), for: .seconds(30), observer: observer, clock: clock)
    #expect(try await cache.get("a") == 1)
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let reads = (0..<3).map { _ in Task { try await cache.lookup("a").entry } }
    await clock.waitForSleepers(3)
    await gate.arrivals(1)
    clock.advance(by: .seconds(1))
    for read in reads {
      let entry = try await read.value
      #expect(entry?.value == 1 && entry?.isStale == true)
    }
    // One reading for all of them, and it goes on.
    #expect(source.asked == 2)
    #expect(cache.refreshCount == 1)
    gate.open()
    await observer.event { isEnd($0) }
    #expect(cache.peek("a") == 2)
    #expect(cache.refreshCount == 0)
  }

  @Test("one that answers in time is the answer, be it a value or that there is none")
  func inTime() async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(.success(2))
    let entry = try await cache.lookup("a").entry
    #expect(entry?.value == 2 && entry?.isStale == false)
    clock.advance(by: .seconds(10))
    source.answers(.success(nil))
    #expect(try await cache.get("a") == nil)
    // What is gone below is dropped above, and not given later on.
    #expect(try await cache.lookupIncludingExpired("a").entry == nil)
  }

  @Test("what expired too long ago, or was never there, is waited for", arguments: [0, 40])
  func nothingStale(age: Int) async throws {
    let cache = cache()
    if age > 0 {
      _ = try await cache.get("a")
      clock.advance(by: .seconds(age))
    }
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let read = Task { try await cache.get("a") }
    await gate.arrivals(1)
    clock.advance(by: .seconds(50))
    gate.open()
    #expect(try await read.value == 2)
  }

  @Test(
    "a source that fails in time fails the read, or gives the stale value if that is the policy",
    arguments: [false, true])
  func failing(fallsBack: Bool) async throws {
    let cache = cache(
      RevalidationPolicy(ifError: fallsBack ? .seconds(30) : nil, ifSlow: .seconds(30), slowAfter: .seconds(1)))
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(.failure(CacheError(.simulated, "down")))
    // A reading in vain keeps nobody from the next one, who waits for it.
    for asked in 2...3 {
      if fallsBack {
        #expect(try await cache.get("a") == 1)
      } else {
        await #expect(throws: CacheError(.simulated, "down")) { try await cache.get("a") }
      }
      #expect(source.asked == asked)
    }
  }

  @Test("where there is nobody to ask below, the answer is that of the level above")
  func nobodyBelow() async throws {
    let memory = memory()
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(10))
    let cache = memory.staleIfSlow(EmptyLevel(), after: .seconds(1), for: .seconds(30), clock: clock)
    #expect(try await cache.lookup("a").missReason == .expired)
  }

  @Test("a write while a reader waits is what it gets, and the late answer does not replace it")
  func overtaken() async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let read = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    await gate.arrivals(1)
    try await cache.set(3, forKey: "a")
    clock.advance(by: .seconds(1))
    #expect(try await read.value == 3)
    gate.open()
    await observer.event { isEnd($0) }
    #expect(try await cache.get("a") == 3)
  }

  @Test(
    "P9 who reads after an invalidation, or a write that has expired, is not given what was being read before",
    arguments: [false, true])
  func joinedLate(isWrite: Bool) async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let early = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    await gate.arrivals(1)
    clock.advance(by: .seconds(1))
    #expect(try await early.value == 1)
    source.answers(.success(3))
    if isWrite {
      try await cache.set(3, forKey: "a")
      clock.advance(by: .seconds(10))
    } else {
      try await cache.invalidate("a")
    }
    let late = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    gate.open()
    #expect(try await late.value == 3)
  }

  @Test("what is removed while a reader waits is not given as stale, nor brought back by the late answer")
  func removed() async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let read = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    await gate.arrivals(1)
    source.answers(.success(3))
    try await cache.remove("a")
    clock.advance(by: .seconds(1))
    #expect(try await read.value == 3)
    gate.open()
    await observer.event { isEnd($0) }
    #expect(try await cache.get("a") == 3)
  }

  @Test("a source that fails late takes nothing from those who have the stale value, and is told of")
  func failsLate() async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.failure(CacheError(.simulated, "down")), gate: gate)
    let read = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    await gate.arrivals(1)
    clock.advance(by: .seconds(1))
    #expect(try await read.value == 1)
    gate.open()
    await observer.event { event in
      if case .operated(.refreshEnded(_, let error)) = event.kind { error != nil } else { false }
    }
    #expect(try await cache.lookupIncludingExpired("a").entry?.value == 1)
    source.answers(.success(2))
    #expect(try await cache.get("a") == 2)
  }

  @Test("a reader that is cancelled returns at once; the reading goes on for the others")
  func cancelled() async throws {
    let cache = cache()
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let (one, other) = (Task { try await cache.get("a") }, Task { try await cache.get("a") })
    await clock.waitForSleepers(2)
    await gate.arrivals(1)
    one.cancel()
    await #expect(throws: CancellationError.self) { try await one.value }
    gate.open()
    #expect(try await other.value == 2)
    #expect(source.asked == 2)
  }

  @Test("what may be given without waiting is")
  func whileRevalidate() async throws {
    let cache = cache(
      RevalidationPolicy(whileRevalidate: .seconds(5), ifSlow: .seconds(30), slowAfter: .seconds(1)))
    _ = try await cache.get("a")
    clock.advance(by: .seconds(12))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    #expect(try await cache.get("a") == 1)
    gate.open()
    await observer.event { isEnd($0) }
    #expect(cache.peek("a") == 2)
  }
}
