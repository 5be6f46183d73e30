import CacheEngine
import CacheEngineHitRatio
import Testing

@Suite struct MissRatioCurveTests {
  @Test("every point of the curve is the full simulation at that capacity")
  func isSimulated() async throws {
    let trace = RequestTrace(try TestTrace.scan.beginning)
    let policies: [SimulatedPolicy] = [.lru, .sieve, .optimum]
    let curve = await MissRatioCurve(trace: trace, capacities: [40, 10, 0, 160, 40], policies: policies)
    #expect(curve.capacities == [10, 40, 160])
    for policy in policies {
      let expected = curve.capacities.map { HitRatio.simulate(policy: policy, capacity: $0, trace: trace).value }
      #expect(curve.hitRatios[policy] == expected)
    }
    let (lru, best) = (try #require(curve.hitRatios[.lru]), try #require(curve.hitRatios[.optimum]))
    #expect(lru == lru.sorted())
    #expect(zip(lru, best).allSatisfy { $0 <= $1 })
  }

  @Test("capacities are spread evenly, with the one asked about among them")
  func capacities() {
    let spread = MissRatioCurve.capacities(around: 6_400)
    #expect(spread.first == 100 && spread.last == 51_200)
    #expect(spread.contains(6_400) && spread.contains(3_200) && spread.contains(12_800))
    #expect(spread.count == 37)
    #expect(spread == spread.sorted())
    #expect(MissRatioCurve.capacities(around: 1, to: 4, steps: 1) == [1, 2, 4])
    let powers = (0..<63).map { 1 << $0 }
    #expect(MissRatioCurve.capacities(around: 4, from: .leastNonzeroMagnitude, to: .infinity, steps: 1) == powers)
    #expect(MissRatioCurve.capacities(around: 8, steps: .max) == Array(1...64))
  }

  /// Sizes that do not change, one for each key.
  private func weighed(_ requests: [Int], _ size: (Int) -> UInt32) -> RequestTrace {
    let plain = RequestTrace(requests)
    return RequestTrace(keys: plain.keys, distinct: plain.distinct, sizes: requests.map(size))
  }

  @Test("entries of one size weigh as much as they count", arguments: SimulatedPolicy.allCases)
  func equalSizes(policy: SimulatedPolicy) throws {
    let requests = try TestTrace.mixed.beginning
    let trace = weighed(requests) { _ in 10 }
    let plain = HitRatio.simulate(policy: policy, capacity: 70, trace: RequestTrace(requests))
    #expect(HitRatio.simulate(policy: policy, capacity: 709, trace: trace, isWeighed: true) == plain)
    #expect(HitRatio.simulate(policy: policy, capacity: 70, trace: trace, isWeighed: false) == plain)
  }

  @Test(
    "a heavy value takes the room of many, and one that fits nowhere takes none", arguments: SimulatedPolicy.allCases)
  func sizes(policy: SimulatedPolicy) {
    // Nine of one and one of ten in turn fit into nineteen; the one of twenty never does.
    let requests = (0..<220).map { $0 % 11 }
    let trace = weighed(requests) { $0 == 9 ? 10 : $0 == 10 ? 20 : 1 }
    #expect(HitRatio.simulate(policy: policy, capacity: 19, trace: trace, isWeighed: true).hits == 19 * 10)
    #expect(HitRatio.simulate(policy: policy, capacity: 39, trace: trace, isWeighed: true).hits == 19 * 11)
    // Without room for the heavy one the light ones are not disturbed.
    #expect(HitRatio.simulate(policy: policy, capacity: 9, trace: trace, isWeighed: true).hits == 19 * 9)
  }
}
