import CacheEngineTesting
import CacheEngine
import CacheEngineHitRatio
import Testing

@Suite struct HitRatioTests {
  @Test("the hit ratios are those of textbook simulators to the last request", arguments: TestTrace.allCases)
  func agreesWithReference(trace: TestTrace) throws {
    let requests = try trace.beginning
    let compact = RequestTrace(requests)
    for capacity in trace.capacities {
      for policy in SimulatedPolicy.allCases {
        let ratio = HitRatio.simulate(policy: policy, capacity: capacity, trace: compact)
        #expect(ratio.requests == requests.count)
        if let hits = ReferenceSimulation.hits(policy.rawValue, capacity: capacity, requests) {
          #expect(ratio.hits == hits, "\(policy) on \(trace) at \(capacity)")
        }
      }
    }
  }

  @Test("Whatever a memory level can be told to let go can be simulated")
  func simulatesEveryEviction() {
    for eviction in Eviction.all {
      #expect(SimulatedPolicy(rawValue: eviction.name) != nil, "\(eviction) needs a case of SimulatedPolicy")
    }
  }

  @Test("W-TinyLFU is within 0.3 points of a textbook simulator", arguments: TestTrace.allCases)
  func windowTinyLFU(trace: TestTrace) throws {
    let requests = try trace.beginning
    for capacity in trace.capacities {
      let difference = difference(from: EstimatedCounts(), capacity, requests)
      #expect(abs(difference) <= 0.003, "\(trace) at \(capacity): \(difference)")
    }
  }

  /// On small generated traces one candidate that is judged otherwise sends the window another way.
  @Test("W-TinyLFU loses less than 0.3 points of a recorded trace to estimating its counts")
  func estimatesAreGood() throws {
    #expect(abs(difference(from: ExactCounts(), 138, Array(try TestTrace.web.requests.prefix(30_000)))) <= 0.003)
  }

  private func difference(from counts: any ReferenceCounts, _ capacity: Int, _ requests: [Int]) -> Double {
    // Keys are numbered by first appearance, as the engine's are, since they are what is hashed.
    let trace = RequestTrace(requests)
    let ratio = HitRatio.simulate(policy: .wtinylfu, capacity: capacity, trace: trace)
    let hits = ReferenceWindowTinyLFU.hits(capacity: capacity, counting: counts, trace.keys.map { Int($0) })
    return ratio.value - Double(hits) / Double(requests.count)
  }

  @Test("no policy does better than the optimum, nor worse than nothing", arguments: TestTrace.allCases)
  func optimumIsBest(trace: TestTrace) throws {
    let requests = RequestTrace(try trace.beginning)
    for capacity in trace.capacities {
      let best = HitRatio.simulate(policy: .optimum, capacity: capacity, trace: requests)
      #expect(best.hits <= requests.keys.count - requests.distinct)
      for policy in SimulatedPolicy.allCases {
        #expect(HitRatio.simulate(policy: policy, capacity: capacity, trace: requests).hits <= best.hits)
      }
    }
  }

  @Test("the optimum lets go of what is needed last of all that it holds, however long the trace")
  func optimumIsExact() {
    var seed: UInt64 = 11
    let keys = (0..<9_000).map { _ in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Low keys come often.
      return Int((seed >> 33) % 80) * Int((seed >> 45) % 80) / 40
    }
    let trace = RequestTrace(keys)
    let weighed = RequestTrace(keys: trace.keys, distinct: trace.distinct, sizes: keys.map { _ in 3 })
    for capacity in [1, 3, 17, 60, 200] {
      var next = [Int](repeating: keys.count, count: keys.count)
      var last: [Int: Int] = [:]
      for place in keys.indices.reversed() {
        next[place] = last[keys[place]] ?? keys.count
        last[keys[place]] = place
      }
      var held: [Int: Int] = [:]
      var hits = 0
      for (place, key) in keys.enumerated() {
        if held[key] != nil {
          hits += 1
        } else if held.count == capacity, let victim = held.max(by: { $0.value < $1.value }) {
          held[victim.key] = nil
        }
        held[key] = next[place]
      }
      #expect(HitRatio.simulate(policy: .optimum, capacity: capacity, trace: trace).hits == hits, "\(capacity)")
      let alike = HitRatio.simulate(policy: .optimum, capacity: 3 * capacity, trace: weighed, isWeighed: true)
      #expect(alike.hits == hits, "\(capacity)")
    }
  }

  @Test("a recorded trace has the hit ratios that other simulators were measured to have")
  func recordedTrace() throws {
    let trace = RequestTrace(try TestTrace.web.requests)
    #expect(trace.keys.count == 95_607)
    #expect(trace.distinct == 13_756)
    // In tenths of a percent, at a tenth of the keys.
    let expected: [SimulatedPolicy: Int] = [
      .fifo: 645, .lru: 685, .clock: 692, .sieve: 717, .s3fifo: 723, .twoQueue: 715, .arc: 709, .optimum: 800,
      .adaptive: 726,
    ]
    for (policy, tenths) in expected {
      let ratio = HitRatio.simulate(policy: policy, capacity: 1_376, trace: trace)
      #expect(Int((ratio.value * 1_000).rounded()) == tenths, "\(policy)")
    }
  }

  @Test("the adaptive policy is near the best of the others whatever the requests are like", arguments: Requests.all)
  func adaptive(requests: Requests) throws {
    let trace = RequestTrace(try requests.keys)
    let ratio = { HitRatio.simulate(policy: $0, capacity: requests.capacity, trace: trace).value }
    let best = [SimulatedPolicy.fifo, .lru, .s3fifo, .arc, .wtinylfu].map(ratio).max() ?? 0
    #expect(ratio(.adaptive) >= best - 0.035, "\(ratio(.adaptive)) in place of \(best)")
  }

  @Test(
    "the adaptive policy is near the best where most keys fit as well, whatever hashes they have",
    arguments: Requests.short, [0.3, 0.8])
  func adaptiveWithMuchRoom(requests: Requests, share: Double) throws {
    // Keys are hashed by their numbers here: what came before, once each, gives them others.
    let ratios = try (0..<2).map { round in
      let trace = RequestTrace((0..<round * 37).map { -1 - $0 } + (try requests.keys))
      let capacity = Int(Double(trace.distinct) * share)
      let ratio = { HitRatio.simulate(policy: $0, capacity: capacity, trace: trace).value }
      let best = [SimulatedPolicy.lru, .twoQueue, .arc, .wtinylfu].map(ratio).max() ?? 0
      return (adaptive: ratio(.adaptive), best: best)
    }
    let loss = ratios.reduce(0) { $0 + $1.best - $1.adaptive } / 2
    #expect(loss <= 0.03, "\(ratios)")
  }

  @Test("entries of any weight are kept through a loop too long for the cache as well as those that weigh alike")
  func adaptiveWithWeights() {
    let sizes = Sizes(seed: 5, keys: 1_000)
    let keys = (0..<60_000).map { UInt32($0 % 1_000) }
    let weighed = RequestTrace(keys: keys, distinct: 1_000, sizes: keys.map { sizes.ofKeys[Int($0)] })
    let half = HitRatio.simulate(policy: .adaptive, capacity: sizes.total / 2, trace: weighed, isWeighed: true)
    let alike = HitRatio.simulate(policy: .adaptive, capacity: 500, trace: weighed)
    #expect(half.value >= alike.value - 0.1, "\(half.value), \(alike.value)")
  }

  @Test(
    "what the adaptive policy reaches hardly depends on the hashes that keys happen to have",
    arguments: zip(Requests.steady, [0.1, 0.3, 0.3, 0.7]))
  func adaptiveIsSteady(requests: Requests, most: Double) throws {
    let trace = RequestTrace(try requests.keys)
    let ratios = (0..<12).map { Self.percent(trace, requests.capacity, seed: $0) }
    let mean = ratios.reduce(0, +) / 12
    let deviation = (ratios.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 11).squareRoot()
    #expect(deviation <= most, "\(ratios)")
    #expect(Self.percent(trace, requests.capacity, seed: 3) == ratios[3], "the same hashes give the same hits")
  }

  @Test("a cache of few entries finds out that popularity stays")
  func adaptiveLearnsFromFew() throws {
    let trace = RequestTrace(try Requests.few.keys)
    let ratios = (0..<12).map { Self.percent(trace, Requests.few.capacity, seed: $0) }
    #expect(ratios.reduce(0, +) / 12 >= 53.8, "\(ratios)")
  }

  /// The hit ratio of the adaptive policy, for other hashes with each seed.
  private static func percent(_ trace: RequestTrace, _ capacity: Int, seed: UInt64) -> Double {
    // Keys are hashed by their numbers here, so other numbers are other hashes.
    var generator = SeededGenerator(seed: seed)
    let names = (0..<UInt32(trace.distinct)).shuffled(using: &generator)
    let renamed = RequestTrace(keys: trace.keys.map { names[Int($0)] }, distinct: trace.distinct, sizes: nil)
    return 100 * HitRatio.simulate(policy: .adaptive, capacity: capacity, trace: renamed).value
  }

  private struct Sizes {
    let ofKeys: [UInt32]
    var total: Int { ofKeys.reduce(0) { $0 + Int($1) } }

    /// From 1 to 1,000, most of them small.
    init(seed: UInt64, keys: Int) {
      var generator = SeededGenerator(seed: seed)
      ofKeys = (0..<keys).map { _ in
        let share = Double.random(in: 0..<1, using: &generator)
        return 1 + UInt32(999 * share * share * share)
      }
    }
  }

  struct Requests: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let capacity: Int
    private let make: @Sendable () throws -> [Int]

    var keys: [Int] { get throws { try make() } }

    static let all = [
      Requests(testDescription: "recorded", capacity: 138) { try TestTrace.web.requests },
      Requests(testDescription: "recorded, a tenth of the keys", capacity: 1_376) { try TestTrace.web.requests },
      Requests(testDescription: "bursts of three", capacity: 400) { bursts(of: 3, apart: 150, requests: 60_000) },
      Requests(testDescription: "pairs that come twice", capacity: 1_000) { pairs(apart: 2_000, requests: 40_000) },
      Requests(testDescription: "a loop", capacity: 400) { (0..<120_000).map { $0 % 2_000 } },
      Requests(testDescription: "popularity that stays", capacity: 200) { TestTrace.popular(60_000, keys: 4_000) },
      Requests(testDescription: "popularity that shifts", capacity: 400) {
        (0..<6).flatMap { phase in TestTrace.popular(15_000, keys: 4_000).map { $0 + phase * 10_000 } }
      },
      Requests(testDescription: "popularity and a scan", capacity: 200) {
        TestTrace.popular(60_000, keys: 4_000).enumerated().flatMap { $0 % 3 == 0 ? [$1, 100_000 + $0] : [$1] }
      },
    ]

    static let steady = [
      Requests(testDescription: "recorded, a tenth of the keys", capacity: 1_376) {
        Array(try TestTrace.web.requests.prefix(40_000))
      },
      Requests(testDescription: "popularity that stays", capacity: 400) { TestTrace.popular(30_000, keys: 4_000) },
      Requests(testDescription: "popularity and a scan", capacity: 400) {
        TestTrace.popular(20_000, keys: 4_000).enumerated().flatMap { $0 % 3 == 0 ? [$1, 100_000 + $0] : [$1] }
      },
      few,
    ]

    static let few = Requests(testDescription: "popularity that stays, few entries", capacity: 80) {
      TestTrace.popular(60_000, keys: 4_000)
    }

    /// Over before a large cache has been filled more than a few times.
    static let short = [
      Requests(testDescription: "a loop") { (0..<10_000).map { $0 % 1_000 } },
      Requests(testDescription: "an index, then all that it names") {
        (0..<5).flatMap { round in Array(0..<300) + Array(0..<100) + (1_000..<2_800 + round % 2 * 500) }
      },
      Requests(testDescription: "popularity that stays") { TestTrace.popular(15_000, keys: 3_000) },
      Requests(testDescription: "popularity that drifts") {
        TestTrace.popular(15_000, keys: 2_000).enumerated().map { $1 + $0 / 20 }
      },
    ]

    private init(testDescription: String, capacity: Int = 0, make: @escaping @Sendable () throws -> [Int]) {
      self.testDescription = testDescription
      self.capacity = capacity
      self.make = make
    }

    /// Each key twice in a short while, and later so once more.
    private static func pairs(apart: Int, requests: Int) -> [Int] {
      var generator = SeededGenerator(seed: 7)
      var moments: [(time: Int, key: Int)] = []
      for key in 0..<requests / 4 {
        for pair in 0..<2 {
          let time = key * 4 + pair * (apart / 2 + Int.random(in: 0..<apart, using: &generator))
          moments += [(time, key), (time + Int.random(in: 1..<100, using: &generator), key)]
        }
      }
      return moments.sorted { ($0.time, $0.key) < ($1.time, $1.key) }.map(\.key)
    }

    /// Every key comes so often, about so many requests apart, and never again.
    private static func bursts(of size: Int, apart: Int, requests: Int) -> [Int] {
      var generator = SeededGenerator(seed: 3)
      var moments: [(time: Int, key: Int)] = []
      for key in 0..<requests / size {
        var time = key * size
        for _ in 0..<size {
          moments.append((time, key))
          time += Int.random(in: 1..<2 * apart, using: &generator)
        }
      }
      return moments.sorted { ($0.time, $0.key) < ($1.time, $1.key) }.map(\.key)
    }
  }

  @Test("a cache as large as the trace misses each key once, and an empty trace has no hits")
  func extremes() {
    let trace = RequestTrace(["a", "b", "a", "c", "a", "b"])
    for policy in SimulatedPolicy.allCases {
      #expect(HitRatio.simulate(policy: policy, capacity: 3, trace: trace).hits == 3)
      #expect(HitRatio.simulate(policy: policy, capacity: 3, trace: RequestTrace([Int]())).value == 0)
    }
  }
}
