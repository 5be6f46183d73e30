import CacheMemory
import CacheCore

/// What share of the requests of a trace every policy would have answered at every capacity.
///
/// ```swift
/// let trace = try RequestTrace(contentsOf: "requests.txt.gz")
/// let curve = await MissRatioCurve(trace: trace, capacities: MissRatioCurve.capacities(around: 1_000))
/// for (capacity, ratio) in zip(curve.capacities, curve.hitRatios[.lru] ?? []) { print(capacity, 1 - ratio) }
/// ```
///
/// It is the full simulation, request by request, and not an estimate: a ``HitRatioEstimator`` is for live requests.
public struct MissRatioCurve: Sendable {
  /// From small to large, in entries or in bytes.
  public let capacities: [Int]
  /// Hits as a share of the requests, from 0 to 1, for every policy and in the order of the capacities.
  public let hitRatios: [SimulatedPolicy: [Double]]

  /// Simulates a trace at every capacity through every policy, two or more at a time where there are as many processors.
  ///
  /// - Parameters:
  ///   - trace: The requests.
  ///   - capacities: The capacities; those below 1 are left out.
  ///   - policies: The policies.
  ///   - isWeighed: Whether a capacity is one of bytes, and entries weigh their sizes. Needs a trace with sizes.
  /// - Complexity: A simulation for each capacity and each policy.
  @concurrent
  public init(
    trace: RequestTrace, capacities: [Int], policies: [SimulatedPolicy] = [.lru, .optimum], isWeighed: Bool = false
  ) async {
    let capacities = Set(capacities.filter { $0 > 0 }).sorted()
    self.capacities = capacities
    let optimum = policies.contains(.optimum) ? Optimum(trace) : nil
    let sizes = isWeighed ? trace.sizes : nil
    hitRatios = await withTaskGroup(of: (SimulatedPolicy, Int, Double).self) { group in
      var ratios: [SimulatedPolicy: [Double]] = [:]
      for policy in policies { ratios[policy] = Array(repeating: 0, count: capacities.count) }
      for policy in policies {
        for (index, capacity) in capacities.enumerated() {
          group.addTask {
            guard !Task.isCancelled else { return (policy, index, 0) }
            let ratio =
              if policy == .optimum, let optimum {
                sizes.map { optimum.simulate(capacity: capacity, $0) } ?? optimum.simulate(capacity: capacity)
              } else {
                HitRatio.simulate(policy: policy, capacity: capacity, trace: trace, isWeighed: isWeighed)
              }
            return (policy, index, ratio.value)
          }
        }
      }
      for await (policy, index, ratio) in group { ratios[policy]?[index] = ratio }
      return ratios
    }
  }

  /// Ratios that are known already.
  package init(capacities: [Int], hitRatios: [SimulatedPolicy: [Double]]) {
    self.capacities = capacities
    self.hitRatios = hitRatios
  }

  /// Capacities from a part of one to a multiple of it, each larger than the one before by the same factor.
  ///
  /// - Parameters:
  ///   - capacity: The capacity in the middle, which is one of them. At least 1.
  ///   - least: The smallest, as a share of it. More than 0; what would round to 0 is left out.
  ///   - most: The largest, as a multiple of it. Not less than the smallest; beyond 9e18 there is no capacity.
  ///   - steps: How many steps double the capacity. At least 1; more than 1,000 count as 1,000.
  /// - Returns: The capacities, without those that are the same when rounded.
  public static func capacities(
    around capacity: Int, from least: Double = 1.0 / 64, to most: Double = 8, steps: Int = 4
  ) -> [Int] {
    precondition(
      capacity > 0 && steps > 0 && least > 0 && most >= least, "a range of capacities goes from less to more")
    let step = exp2(1 / Double(min(steps, 1_000)))
    let most = min(most, 9e18 / Double(capacity))
    var factor = 1.0
    var factors: [Double] = []
    while factor >= max(least, 0.4 / Double(capacity)) * 0.999 {
      factors.append(factor)
      factor /= step
    }
    factor = step
    while factor <= most * 1.001 {
      factors.append(factor)
      factor *= step
    }
    let wanted = factors.map { Int(min(9e18, (Double(capacity) * $0).rounded())) }
    return Set(wanted.filter { $0 > 0 }).sorted()
  }
}

#if canImport(Glibc)
import func Glibc.exp2
#elseif canImport(Musl)
import func Musl.exp2
#elseif canImport(Darwin)
import func Darwin.exp2
#endif
