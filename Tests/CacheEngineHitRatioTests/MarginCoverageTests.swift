import CacheEngine
import CacheEngineHitRatio
import CacheEngineTesting
import Foundation
import Testing

/// How often the truth lies within the margin that is told, on generated traces of every kind.
@Suite struct MarginCoverageTests {
  /// What somebody asks for.
  enum Kind: String, CaseIterable {
    case zipf, flat, shifting, loop, scans, bursts, uniform, mixture, phases

    func requests(_ count: Int, keys: Int, seed: UInt64) -> [Int] {
      var random = SeededGenerator(seed: seed)
      switch self {
      case .zipf: return Self.popular(count, keys, 1, &random)
      case .flat: return Self.popular(count, keys, 0.7, &random)
      case .shifting:
        return Self.popular(count, keys, 0.9, &random).enumerated().map { $1 + $0 / (count / keys + 1) * 3 }
      case .loop: return (0..<count).map { $0 % keys }
      case .scans:
        var (all, fresh): ([Int], Int) = ([], 1 << 20)
        while all.count < count {
          all += Self.popular(keys, keys, 1, &random) + (fresh..<fresh + keys / 3)
          fresh += keys / 3
        }
        return Array(all.prefix(count))
      case .bursts: return Self.bursts(count, keys, &random)
      case .uniform: return (0..<count).map { _ in Int.random(in: 0..<keys, using: &random) }
      case .mixture:
        let popular = Self.popular(count, keys, 1, &random)
        let bursts = Self.bursts(count, keys, &random)
        return (0..<count).map { place in
          if place % 3 == 0 { return bursts[place] + 1 << 22 }
          return place % 7 == 0 ? 1 << 21 + place / 7 % (keys / 2) : popular[place]
        }
      case .phases:
        return (0..<4).flatMap { phase in
          Self.popular(count / 4, keys, 1, &random).map { $0 + phase % 2 * keys }
        }
      }
    }

    private static func popular(
      _ count: Int, _ keys: Int, _ exponent: Double, _ random: inout SeededGenerator
    ) -> [Int] {
      var summed: [Double] = []
      for rank in 1...keys { summed.append((summed.last ?? 0) + 1 / pow(Double(rank), exponent)) }
      return (0..<count).map { _ in
        let wanted = Double.random(in: 0..<(summed.last ?? 1), using: &random)
        var (lower, upper) = (0, keys - 1)
        while lower < upper {
          let middle = (lower + upper) / 2
          if summed[middle] > wanted { upper = middle } else { lower = middle + 1 }
        }
        return lower
      }
    }

    /// Each key three times within a short while, among others, and then not for long.
    private static func bursts(_ count: Int, _ keys: Int, _ random: inout SeededGenerator) -> [Int] {
      var (all, open, next): ([Int], [(key: Int, left: Int)], Int) = ([], [], 0)
      while all.count < count {
        if open.count < 8 || open.count < keys / 4 && Bool.random(using: &random) {
          open.append((next % (keys * 4), 3))
          next += 1
        }
        let place = Int.random(in: 0..<open.count, using: &random)
        all.append(open[place].key)
        open[place].left -= 1
        if open[place].left == 0 { open.remove(at: place) }
      }
      return all
    }
  }

  @Test("95 of 100 answers lie within their margins, whatever is asked for, and 80 of 100 questions are answered")
  func coverage() async throws {
    try await check([0.25, 0.1]) { number, place in Eviction.all[(number + place * 3) % Eviction.all.count] }
  }

  @Test("who looks at every key knows that no two caches agree whose policy decides by hashes")
  func everyKey() async throws {
    try await check([1]) { _, _ in .adaptive }
  }

  @Test("the margin of SIEVE says that it does better in a sample than in the whole", arguments: [0.2, 0.05])
  func sieve(rate: Double) async throws {
    let capacity = 400
    for seed in 0..<12 as Range<UInt64> {
      let requests = Kind.bursts.requests(20_000, keys: 4_000, seed: seed)
      let level = MemoryCacheLevel<Int, Int>(countLimit: capacity, eviction: .lru)
      var estimator = HitRatioEstimator(
        capacity: capacity, eviction: .lru, factors: [], evictions: [.sieve], rate: rate)
      for request in requests {
        let isHit = try await level.get(request) != nil
        if !isHit { try await level.set(request, forKey: request) }
        estimator.record("\(request)", isHit: isHit)
      }
      let estimate = try #require(estimator.estimates.last)
      let truth = HitRatio.simulate(policy: .sieve, capacity: capacity, trace: RequestTrace(requests)).value
      #expect(abs(estimate.value - truth) <= estimate.margin, "\(estimate) is \(truth)")
    }
  }

  /// Asks about every kind of requests in two sizes, and counts the answers that are off by more than they say.
  private func check(_ rates: [Double], _ eviction: (_ number: Int, _ place: Int) -> Eviction) async throws {
    var (asked, answered, outside): (Int, Int, [String]) = (0, 0, [])
    for (number, kind) in Kind.allCases.enumerated() {
      for (place, (keys, capacity)) in [(400, 120), (2_000, 400)].enumerated() {
        let requests = kind.requests(keys < 1_000 ? 5_000 : 8_000, keys: keys, seed: UInt64(number * 2 + place))
        let trace = RequestTrace(requests)
        let eviction = eviction(number, place)
        let level = MemoryCacheLevel<Int, Int>(countLimit: capacity, eviction: eviction)
        var estimators = rates.map { HitRatioEstimator(capacity: capacity, eviction: eviction, rate: $0) }
        for request in requests {
          let isHit = try await level.get(request) != nil
          if !isHit { try await level.set(request, forKey: request) }
          let hash = HitRatioEstimator.hash("\(request)")
          for index in estimators.indices { estimators[index].record(hash: hash, isHit: isHit) }
        }
        var truths: [HitRatioQuestion: Double] = [:]
        for estimator in estimators {
          // Ten questions beside the cache as it is, whether anything is known or not.
          asked += 10
          for estimate in estimator.estimates.dropFirst() where estimate.isKnown {
            answered += 1
            let question = HitRatioQuestion(eviction: estimate.eviction, capacity: estimate.capacity)
            let policy = try #require(SimulatedPolicy(rawValue: estimate.eviction.name))
            let truth =
              truths[question] ?? HitRatio.simulate(policy: policy, capacity: estimate.capacity, trace: trace).value
            truths[question] = truth
            if abs(estimate.value - truth) > estimate.margin + 0.0005 {
              outside.append("\(kind) \(capacity) \(estimator.rate): \(estimate) is \(truth)")
            }
          }
        }
      }
    }
    #expect(Double(answered) >= 0.8 * Double(asked), "\(answered) of \(asked)")
    #expect(Double(outside.count) <= 0.05 * Double(answered), "\(outside.count) of \(answered): \(outside.prefix(20))")
  }

  private struct HitRatioQuestion: Hashable {
    let eviction: Eviction
    let capacity: Int
  }
}
