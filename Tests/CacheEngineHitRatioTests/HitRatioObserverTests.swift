import CacheEngine
import CacheEngineHitRatio
import CacheEngineTesting
import Testing

@Suite struct HitRatioObserverTests {
  private let clock = ManualClock()

  /// What a client does, through an observed and traced level, with values that weigh so much.
  private func play(
    _ requests: [Int], through level: MemoryCacheLevel<String, Int>, _ observer: HitRatioObserver,
    pause: Duration = .zero
  ) async throws {
    let cache = level.observed(as: "memory", by: observer, clock: clock).traced(by: observer, clock: clock)
    for request in requests {
      if try await cache.get("\(request)") == nil { try await cache.set(request, forKey: "\(request)") }
      clock.advance(by: pause)
    }
  }

  private func simulated(_ estimate: HitRatioEstimate, _ trace: RequestTrace) throws -> Double {
    let policy = try #require(SimulatedPolicy(rawValue: estimate.eviction.name))
    return HitRatio.simulate(policy: policy, capacity: estimate.capacity, trace: trace).value
  }

  @Test(
    "live traffic of a recorded trace gives every answer within a point of the full simulation, and states its error")
  func isExactEnough() async throws {
    let requests = try TestTrace.web.requests
    let compact = RequestTrace(requests)
    let level = MemoryCacheLevel<String, Int>(countLimit: 1_375, eviction: .lru, clock: clock)
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 1_375, unit: .entries, eviction: .lru)], share: 1, clock: clock)
    try await play(requests, through: level, observer)
    let report = try #require(observer.reports.first)
    #expect(report.level == observer.levels.first)
    #expect(report.requests == requests.count)
    #expect(report.estimates.map(\.capacity).prefix(5) == [1_375, 343, 687, 2_750, 5_500])
    #expect(report.estimates.first?.value == Double(report.hits) / Double(report.requests))
    #expect(report.bytes <= 8 << 20)
    for estimate in report.estimates {
      let error = abs(estimate.value - (try simulated(estimate, compact)))
      #expect(error <= 0.01, "\(estimate)")
    }
    #expect(report.cheapestImprovement?.capacity == 1_375)
  }

  @Test("what takes more than its share of the requests' time looks at fewer keys, and goes on answering")
  func holdsItsShare() async throws {
    let requests = try TestTrace.web.requests.prefix(40_000)
    // By a clock that stands no request takes any time, so that every share is too much.
    let level = MemoryCacheLevel<String, Int>(countLimit: 1_000, eviction: .lru, clock: clock)
    let observer = HitRatioObserver(levels: [.init(name: "memory", capacity: 1_000, unit: .entries)], clock: clock)
    try await play(Array(requests), through: level, observer)
    let report = try #require(observer.reports.first)
    #expect(report.rate < 0.3)
    #expect(report.samples < requests.count / 2)
    #expect(!report.estimates.isEmpty)
    #expect(report.timeSpent > .zero)
  }

  @Test("a scan does not make it take more memory than it may")
  func holdsItsMemory() async throws {
    let level = MemoryCacheLevel<String, Int>(countLimit: 10_000, eviction: .lru, clock: clock)
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 10_000, unit: .entries)], share: 1, memory: 1 << 20, clock: clock)
    try await play(Array(0..<100_000), through: level, observer)
    let report = try #require(observer.reports.first)
    #expect(report.bytes <= 1 << 20)
    #expect(report.rate < 1)
    #expect(report.estimates.allSatisfy { $0.value < 0.001 })
    #expect(report.cheapestImprovement == nil)
  }

  @Test("a larger cache expires its entries as the real one does, so that more room brings nothing")
  func expires() async throws {
    // Every key comes again after its lifetime: however much room there is, it has expired.
    let requests = (0..<6_000).map { $0 % 100 }
    let level = MemoryCacheLevel<String, Int>(
      countLimit: 50, eviction: .lru, expiry: .after(.milliseconds(500)), clock: clock)
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 50, unit: .entries, eviction: .lru)], share: 1, clock: clock)
    try await play(requests, through: level, observer, pause: .milliseconds(10))
    let report = try #require(observer.reports.first)
    #expect(report.estimates.count > 4)
    #expect(report.estimates.allSatisfy { $0.value < 0.001 }, "\(report.estimates)")
    #expect(report.cheapestImprovement == nil)
  }

  @Test(
    "after months a value lives no shorter than in the first hour, and when milliseconds begin anew neither",
    arguments: [60 * 86_400, 4_294_937])
  func monthsLater(seconds: Int) async throws {
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 200, unit: .entries, eviction: .lru, factors: [2])], share: 1,
      clock: clock)
    clock.advance(by: .seconds(seconds))
    let level = MemoryCacheLevel<String, Int>(
      countLimit: 200, eviction: .lru, expiry: .after(.seconds(600)), clock: clock)
    try await play((0..<6_000).map { $0 % 100 }, through: level, observer, pause: .milliseconds(10))
    let report = try #require(observer.reports.first)
    #expect(report.hits == 5_900)
    #expect(report.estimates.count > 4)
    #expect(report.estimates.allSatisfy { $0.value > 0.98 }, "\(report.estimates)")
  }

  @Test("a key whose first lifetime comes with a reload stays where it was held for ever")
  func firstLifetime() throws {
    let observer = HitRatioObserver(levels: [.init(name: "m", capacity: 10)], share: 1, clock: clock)
    func tell(_ kind: CacheEvent.Kind) {
      observer.record(CacheEvent(time: clock.now, request: RequestID(1), level: "m", key: "k", kind: kind))
    }
    let deadline = clock.now.advanced(by: .seconds(60))
    tell(.stored(.set, cost: 1, deadline: nil, .zero))
    tell(.miss(.absent, .zero))
    tell(.stored(.set, cost: 1, deadline: deadline, .zero))
    tell(.hit(cost: 1, deadline: deadline, .zero))
    #expect(try #require(observer.reports.first).hits == 1)
  }

  @Test("a key that is written again is as young in the small caches, and what was refused is no request")
  func rewritten() throws {
    let observer = HitRatioObserver(
      levels: [.init(name: "m", capacity: 10, eviction: .lru, evictions: [.fifo], factors: [])], share: 1, clock: clock)
    for number in 0..<300 {
      func tell(_ kind: CacheEvent.Kind) {
        observer.record(CacheEvent(time: clock.now, request: RequestID(1), level: "m", key: "\(number)", kind: kind))
      }
      for _ in 0..<2 {
        tell(.stored(.set, cost: 1, deadline: clock.now.advanced(by: .seconds(10)), .zero))
        clock.advance(by: .seconds(6))
      }
      tell(.miss(.refused, .zero))
      tell(.hit(cost: 1, deadline: clock.now.advanced(by: .seconds(4)), .zero))
    }
    let report = try #require(observer.reports.first)
    #expect(report.requests == 300 && report.hits == 300)
    #expect(report.estimates.map(\.eviction) == [.lru, .fifo])
    #expect(report.estimates.allSatisfy { $0.value == 1 }, "\(report.estimates)")
  }

  @Test("a policy that is asked about more than once is one question")
  func repeatedPolicies() throws {
    let observer = HitRatioObserver(
      levels: [
        .init(name: "m", capacity: 10, eviction: .fifo, evictions: Array(repeating: .lru, count: 40) + [.fifo])
      ], clock: clock)
    #expect(try #require(observer.reports.first).requests == 0)
  }

  @Test("without the expiry the same requests would all be hits in twice the room")
  func neverExpires() async throws {
    let requests = (0..<6_000).map { $0 % 100 }
    let level = MemoryCacheLevel<String, Int>(countLimit: 50, eviction: .lru, clock: clock)
    let observer = HitRatioObserver(
      levels: [
        .init(name: "memory", capacity: 50, unit: .entries, eviction: .lru, evictions: [.fifo])
      ], share: 1, clock: clock)
    try await play(requests, through: level, observer, pause: .milliseconds(10))
    let report = try #require(observer.reports.first)
    #expect(report.hits == 0)
    let more = try #require(report.cheapestImprovement)
    #expect(more.eviction == .lru && more.value > 0.98)
    #expect(report.estimates.firstIndex(of: more) == 3)
  }

  @Test("values weigh what they cost, and weigh anew when they are written anew")
  func weighs() async throws {
    let level = MemoryCacheLevel<String, Int>(capacity: 1_000, eviction: .lru, clock: clock, cost: { _, _ in 100 })
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 1_000, eviction: .lru, evictions: [])], share: 1, clock: clock)
    let cache = level.observed(as: "memory", by: observer, clock: clock)
    func play(_ keys: Int, cost: Int) async throws {
      for request in 0..<2_000 {
        let key = "\(request % keys)"
        if try await cache.get(key) == nil { try await cache.store(0, forKey: key, terms: StoreTerms(cost: cost)) }
      }
    }
    // Fifteen keys of a hundred in turn: ten fit, and twenty would.
    try await play(15, cost: 100)
    #expect(observer.reports[0].cheapestImprovement?.capacity == 2_000)
    // The same keys, and each weighs a tenth now: all of them fit from the second round on.
    observer.restart()
    try await cache.clear()
    try await play(15, cost: 10)
    let report = observer.reports[0]
    #expect(report.requests == 2_000)
    #expect(report.estimates.allSatisfy { $0.value > 0.99 || $0.capacity < 150 }, "\(report.estimates)")
    #expect(report.cheapestImprovement == nil)
    #expect(report.cheapestSaving != nil)
  }

  @Test("what is removed, cleared, or dropped for a memory warning is gone from the small caches as well")
  func forgets() async throws {
    let level = MemoryCacheLevel<String, Int>(countLimit: 1_000, eviction: .lru, clock: clock)
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 1_000, unit: .entries, eviction: .lru)], share: 1, clock: clock)
    let cache = level.observed(as: "memory", by: observer, clock: clock)
    for round in 0..<4 {
      for key in 0..<300 {
        if try await cache.get("\(key)") == nil { try await cache.set(key, forKey: "\(key)") }
        if round == 0 { try await cache.remove("\(key)") }
      }
      if round == 1 { try await cache.clear() }
      if round == 2 { await cache.onMemoryWarning() }
    }
    let report = observer.reports[0]
    #expect(report.requests == 1_200)
    #expect(report.hits == 0)
    #expect(report.estimates.count > 1)
    #expect(report.estimates.allSatisfy { $0.value < 1e-9 })
  }

  @Test("what is removed together with others is gone from the small caches, where the level tells its keys")
  func forgetsTogether() async throws {
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 1_000, unit: .entries, eviction: .lru)], share: 1, clock: clock)
    let level = MemoryCacheLevel<String, Int>(
      countLimit: 1_000, eviction: .lru, clock: clock, removalListener: observer.removals(from: "memory", clock: clock))
    let cache = level.observed(as: "memory", by: observer, clock: clock)
    for _ in 0..<4 {
      for key in 0..<300 {
        guard try await cache.get("\(key)") == nil else { continue }
        try await cache.store(key, forKey: "\(key)", terms: StoreTerms(tags: ["all"]))
      }
      try await level.removeAll(tagged: "all")
    }
    let report = observer.reports[0]
    #expect(report.requests == 1_200 && report.hits == 0)
    #expect(report.estimates.count > 1)
    #expect(report.estimates.allSatisfy { $0.value < 1e-9 })
  }

  @Test("what a cache could not find anywhere is stored in no small cache, and other levels are not its concern")
  func ignores() async throws {
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 1_000, unit: .entries, eviction: .lru)], share: 1)
    let level = MemoryCacheLevel<String, Int>(eviction: .lru)
    let other = MemoryCacheLevel<String, Int>(eviction: .lru).observed(as: "other", by: observer)
    let cache = level.observed(as: "memory", by: observer)
    for request in 0..<1_000 {
      #expect(try await cache.get("\(request % 10)") == nil)
      try await other.set(1, forKey: "\(request % 10)")
    }
    let report = observer.reports[0]
    #expect(report.requests == 1_000)
    #expect(report.estimates.allSatisfy { $0.value == 0 })
  }

  @Test("it can be told from several tasks at once, and counts everything")
  func concurrently() async throws {
    let level = MemoryCacheLevel<String, Int>(countLimit: 100)
    let observer = HitRatioObserver(levels: [.init(name: "memory", capacity: 100, unit: .entries)])
    let cache = level.observed(as: "memory", by: observer)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for request in 0..<5_000 {
            let key = "\(request * (task + 1) % 700)"
            if try await cache.get(key) == nil { try await cache.set(request, forKey: key) }
            if request % 1_000 == 0 { _ = observer.reports }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(observer.reports[0].requests == 20_000)
  }

  @Test("capacities that there cannot be are not asked about", arguments: HitRatioObserver.Level.Unit.allCases)
  func oddFactors(unit: HitRatioObserver.Level.Unit) async throws {
    let factors: [Double] = [.nan, .infinity, -.infinity, -1e300, -1, 0, 2, 1e300]
    let observer = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 8, unit: unit, eviction: .lru, evictions: [], factors: factors)],
      share: 1, clock: clock)
    try await play(Array(0..<400) + Array(0..<400), through: MemoryCacheLevel(countLimit: 8, clock: clock), observer)
    let report = try #require(observer.reports.first)
    #expect(report.requests == 800)
    if unit == .cost { #expect(report.estimates.map(\.capacity) == [8, 16, 9_000_000_000_000_000_000]) }
  }
}
