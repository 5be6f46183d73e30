import CacheEngineTesting
import CacheEngine
import CacheEngineHitRatio
import Foundation
import Testing

@Suite struct HitRatioEstimatorTests {
  /// Runs a trace through a real level, and tells the estimator.
  private func estimator(
    _ requests: [Int], capacity: Int, rate: Double = 0.25
  ) async throws -> HitRatioEstimator {
    let level = MemoryCacheLevel<Int, Int>(countLimit: capacity, eviction: .lru)
    var estimator = HitRatioEstimator(capacity: capacity, eviction: .lru, rate: rate)
    for request in requests {
      let isHit = try await level.get(request) != nil
      if !isHit { try await level.set(request, forKey: request) }
      estimator.record("\(request)", isHit: isHit)
    }
    return estimator
  }

  private func simulated(_ estimate: HitRatioEstimate, _ trace: RequestTrace) throws -> Double {
    let policy = try #require(SimulatedPolicy(rawValue: estimate.eviction.name))
    return HitRatio.simulate(policy: policy, capacity: estimate.capacity, trace: trace).value
  }

  @Test("on a recorded trace every answer is within a point of the full simulation, looking at a quarter of the keys")
  func isExactEnough() async throws {
    let requests = try TestTrace.web.requests
    let compact = RequestTrace(requests)
    let estimates = try await estimator(requests, capacity: 1_375).estimates
    #expect(estimates.map(\.capacity).prefix(5) == [1_375, 343, 687, 2_750, 5_500])
    #expect(Set(estimates.filter { $0.capacity == 1_375 }.map(\.eviction)) == Set(Eviction.all))
    #expect(estimates.first?.margin == 0)
    for estimate in estimates {
      #expect(abs(estimate.value - (try simulated(estimate, compact))) <= 0.01, "\(estimate)")
    }
  }

  @Test("the margin tells how far off a small sample may be", arguments: [TestTrace.zipf, .scan, .mixed])
  func margins(trace: TestTrace) async throws {
    let requests = try trace.requests
    let compact = RequestTrace(requests)
    let estimates = try await estimator(requests, capacity: compact.distinct / 10).estimates
    let outside = try estimates.filter { abs($0.value - (try simulated($0, compact))) > $0.margin + 0.005 }
    #expect(outside.count <= 1, "\(outside)")
  }

  @Test("looking at every key gives the full simulation", arguments: [TestTrace.zipf, .scan, .mixed])
  func wholeSample(trace: TestTrace) async throws {
    let requests = try trace.requests
    let compact = RequestTrace(requests)
    let lru = try await estimator(requests, capacity: 100, rate: 1)
    for estimate in lru.estimates where [.lru, .fifo, .clock, .sieve].contains(estimate.eviction) {
      #expect(abs(estimate.value - (try simulated(estimate, compact))) < 1e-9, "\(estimate)")
    }
  }

  @Test("the sample becomes smaller when it would hold too many keys, and goes on answering")
  func boundsMemory() {
    var estimator = HitRatioEstimator(capacity: 4_000, eviction: .lru, rate: 1, maximumEntries: 4_000)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200_000 {
      let key = Int(20_000 * pow(Double.random(in: 0..<1, using: &generator), 3))
      estimator.record("\(key)", isHit: key < 4_000)
    }
    #expect(estimator.rate < 0.2)
    #expect(estimator.entries <= 4_000)
    #expect(estimator.requests > 0 && estimator.estimates.count > 1)
  }

  @Test("costs are weighed, and what no cache could hold is held by none")
  func weighsCosts() {
    var estimator = HitRatioEstimator(capacity: 1_000, eviction: .lru, factors: [2], evictions: [], rate: 1)
    // Fifteen keys of a hundred in turn: ten fit, and twenty would.
    for request in 0..<1_500 {
      estimator.record("\(request % 15)", isHit: false, cost: 100)
      estimator.record("heavy", isHit: false, cost: 5_000)
    }
    let twice = estimator.estimates.first { $0.capacity == 2_000 }
    #expect(abs((twice?.value ?? 0) - Double(1_485) / 3_000) < 1e-9)
  }

  @Test("what has become too heavy for a cache leaves it alone")
  func outgrows() {
    var estimator = HitRatioEstimator(capacity: 1_000, eviction: .lru, factors: [0.25], evictions: [], rate: 1)
    for round in 0..<100 {
      for key in ["y", "z", "x"] { estimator.record("\(key)\(round)", isHit: false, cost: 80) }
      estimator.record("x\(round)", isHit: true, cost: 600)
      for key in ["y", "z"] { estimator.record("\(key)\(round)", isHit: true, cost: 80) }
    }
    let quarter = estimator.estimates.first { $0.capacity == 250 }
    #expect(abs((quarter?.value ?? 0) - 2.0 / 6) < 1e-9)
  }

  @Test("costs whose sum is beyond every whole number are weighed all the same")
  func weighsAnything() {
    var estimator = HitRatioEstimator(capacity: .max, eviction: .lru, evictions: [.sieve], rate: 1)
    for request in 0..<400 {
      estimator.record("\(request % 5)", isHit: false, cost: request % 3 == 0 ? .max : .max / 2 + 1)
    }
    #expect(estimator.estimates.count == 6)
    #expect(estimator.estimates.allSatisfy { (0...1).contains($0.value) })
  }

  @Test("what was removed, or cleared, is a miss in every small cache")
  func forgets() {
    var estimator = HitRatioEstimator(capacity: 1_000, eviction: .lru, factors: [2], evictions: [.fifo], rate: 1)
    for round in 0..<4 {
      for key in 0..<200 {
        estimator.remove("\(key)")
        estimator.record("\(key)", isHit: false)
      }
      if round == 2 { estimator.removeAll() }
    }
    #expect(estimator.estimates.allSatisfy { $0.value < 1e-9 })
    estimator.restart()
    #expect(estimator.requests == 0 && estimator.estimates.isEmpty)
    for key in 0..<400 { estimator.record("\(key % 200)", isHit: true) }
    #expect(estimator.estimates.allSatisfy { abs($0.value - 1) < 1e-9 })
  }

  @Test("it names a better policy first, then more room, and room that can be given back")
  func advises() async throws {
    let scan = try await estimator(try TestTrace.scan.requests, capacity: 300, rate: 1)
    let policy = try #require(scan.cheapestImprovement)
    #expect(policy.capacity == 300 && policy.eviction != .lru)

    // Every policy needs all keys of a loop, but for those that keep some of them by frequency.
    var loop = HitRatioEstimator(capacity: 800, eviction: .lru, evictions: [.fifo, .clock], rate: 1)
    for request in 0..<30_000 { loop.record("\(request % 1_000)", isHit: false) }
    #expect(loop.cheapestImprovement?.capacity == 1_600)
    #expect(loop.cheapestSaving?.capacity == 200)

    for eviction in [Eviction.lru, .adaptive] {
      var roomy = HitRatioEstimator(capacity: 4_000, eviction: eviction, rate: 1)
      for request in 0..<30_000 { roomy.record("\(request % 900)", isHit: request >= 900) }
      #expect(roomy.cheapestImprovement == nil)
      #expect(roomy.cheapestSaving?.capacity == 1_000, "\(eviction)")
    }
  }
}
