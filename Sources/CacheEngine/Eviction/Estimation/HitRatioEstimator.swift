import CStore

/// Tells what share of the requests of a cache would have been hits with another capacity or another policy, while the
/// cache is being used.
///
/// Hand it every request; it looks closely at a fixed share of the keys, and runs a small cache without values for each
/// question: the policy in use at a quarter, half, twice and four times the capacity, and every other policy at this one.
///
/// ```swift
/// var estimator = HitRatioEstimator(capacity: 1_000, eviction: .lru)
/// for request in requests { estimator.record(request.key, isHit: request.isHit) }
/// for estimate in estimator.estimates { print(estimate.eviction, estimate.capacity, estimate.value, estimate.margin) }
/// if let change = estimator.cheapestImprovement { print("use \(change.eviction) with \(change.capacity)") }
/// ```
///
/// C. Waldspurger, N. Park, A. Garthwaite, I. Ahmad, Efficient MRC construction with SHARDS, FAST 2015: keys are sampled by
/// their hash, so that all requests of a key are seen or none, and the caches are smaller by the same factor. Changed: how
/// many requests there were and how many of them missed is known of the real cache, so a sample that is poor in either is
/// corrected by a regression over 64 groups of keys, which gives the margin too. The sample becomes smaller when it
/// would hold too many keys.
///
/// **How exact it is.** On recorded traces within a point of the full simulation from about a thousand entries on, at a
/// quarter of the keys. Small caches need a larger ``rate``; the margin tells.
///
/// **What it does not see.** A small cache does not know how long its entries live. A key that is removed or expires leaves
/// every small cache if it is told of (``remove(_:)``); otherwise it stays a hit there. A cache that has been in use before
/// its estimator starts is ahead of it: call ``restart()`` when the estimator has seen a few times the capacity.
///
/// - Complexity: A request of a key outside of the sample costs a hash. Memory is bounded by ``maximumEntries``.
public struct HitRatioEstimator: Sendable {
  private static let groups = 64
  /// Of 24 bits of each hash.
  private static let hashes = 1 << 24

  /// The capacity of the cache that is observed.
  public let capacity: Int
  /// The policy of the cache that is observed.
  public let eviction: Eviction
  /// How many entries all small caches may hold together, at 70 to 100 bytes each.
  public let maximumEntries: Int
  /// Requests that were recorded since the start or the last restart.
  public private(set) var requests = 0
  /// Of these, the ones that the cache itself could not answer.
  public private(set) var misses = 0

  private var ghosts: [GhostCache]
  private var threshold: Int
  /// Sampled requests of each group.
  private var sampled = Array(repeating: 0.0, count: Self.groups)
  private var recorded = 0

  /// Creates an estimator.
  ///
  /// - Parameters:
  ///   - capacity: The capacity of the cache, in the unit of the costs that are recorded. At least 1.
  ///   - eviction: The policy of the cache.
  ///   - factors: The other capacities to ask about, as multiples of this one.
  ///   - evictions: The other policies to ask about.
  ///   - rate: The share of the keys to look at. Smaller is cheaper and less exact.
  ///   - maximumEntries: How many entries the small caches may hold together.
  public init(
    capacity: Int, eviction: Eviction, factors: [Double] = [0.25, 0.5, 2, 4], evictions: [Eviction] = Eviction.all,
    rate: Double = 0.25, maximumEntries: Int = 80_000
  ) {
    precondition(capacity > 0, "the capacity of a cache to estimate is at least 1")
    precondition(rate > 0 && rate <= 1, "a share of the keys lies between 0 and 1")
    self.capacity = capacity
    self.eviction = eviction
    self.maximumEntries = max(Self.groups, maximumEntries)
    threshold = max(1, Int(rate * Double(Self.hashes)))
    let rate = Double(threshold) / Double(Self.hashes)
    func ghost(_ eviction: Eviction, _ capacity: Double) -> GhostCache {
      GhostCache(eviction: eviction, capacity: max(1, Int(capacity)), rate: rate, groups: Self.groups)
    }
    ghosts = [ghost(eviction, Double(capacity))]
    ghosts += Set(factors).subtracting([1]).sorted().map { ghost(eviction, Double(capacity) * $0) }
    ghosts += evictions.filter { $0 != eviction }.map { ghost($0, Double(capacity)) }
  }

  /// The share of the keys that is looked at.
  public var rate: Double { Double(threshold) / Double(Self.hashes) }

  /// How many entries all small caches hold now.
  public var entries: Int { ghosts.reduce(0) { $0 + $1.count } }

  /// Records a request.
  ///
  /// - Parameters:
  ///   - key: What was asked for.
  ///   - isHit: Whether the cache had it.
  ///   - cost: What the value costs in the unit of the capacity.
  public mutating func record(_ key: String, isHit: Bool, cost: Int = 1) {
    record(hash: Self.hash(key), isHit: isHit, cost: cost)
  }

  /// Records a request by the hash of its key.
  ///
  /// - Parameters:
  ///   - hash: A good hash of the key, the same for all requests of it: every bit counts.
  ///   - isHit: Whether the cache had it.
  ///   - cost: What the value costs in the unit of the capacity.
  public mutating func record(hash: UInt64, isHit: Bool, cost: Int = 1) {
    requests += 1
    if !isHit { misses += 1 }
    guard isSampled(hash) else { return }
    let group = Int(truncatingIfNeeded: hash >> 24) & (Self.groups - 1)
    sampled[group] += 1
    for index in ghosts.indices { ghosts[index].request(hash, cost: max(0, cost), group: group) }
    recorded += 1
    if recorded & 0xFF == 0 { boundMemory() }
  }

  /// Takes a key out of every small cache, because it was removed or expired.
  ///
  /// - Parameter key: The key.
  public mutating func remove(_ key: String) {
    let hash = Self.hash(key)
    guard isSampled(hash) else { return }
    for index in ghosts.indices { ghosts[index].remove(hash) }
  }

  /// Empties every small cache, because the cache was cleared.
  public mutating func removeAll() {
    for index in ghosts.indices { ghosts[index].removeAll() }
  }

  /// Counts anew, from what the small caches hold now.
  public mutating func restart() {
    (requests, misses) = (0, 0)
    sampled = sampled.map { _ in 0 }
    for index in ghosts.indices { ghosts[index].restart() }
  }

  /// The answers: the cache as it is, then the other capacities in order, then the other policies.
  ///
  /// Empty as long as the sample holds less than a few hundred requests.
  public var estimates: [HitRatioEstimate] {
    guard requests > 0, sampled.reduce(0, +) >= 4 * Double(Self.groups) else { return [] }
    // If all groups there are were sampled, there would be more of them: the sample has 64.
    let scale = rate / Double(Self.groups)
    let traffic = (values: sampled, mean: Double(requests) * scale)
    let known = (values: ghosts[0].misses, mean: Double(misses) * scale)
    return ghosts.enumerated().map { index, ghost in
      let estimate = ControlledMean(ghost.misses, first: traffic, second: known)
      let share = { (misses: Double) in misses / scale / Double(requests) }
      return HitRatioEstimate(
        eviction: ghost.eviction, capacity: ghost.fullCapacity,
        value: index == 0 ? 1 - Double(misses) / Double(requests) : min(1, max(0, 1 - share(estimate.value))),
        margin: index == 0 ? 0 : 2 * share(estimate.error))
    }
  }

  /// The cheapest change that helps: another policy, which costs nothing, or else the smallest capacity that gains at
  /// least a hundredth of the requests beyond doubt.
  public var cheapestImprovement: HitRatioEstimate? {
    let estimates = estimates
    guard let now = estimates.first else { return nil }
    let better = estimates.filter { $0.isBetter(than: now) && $0.capacity >= capacity }
    return better.filter { $0.capacity == capacity }.max { $0.value < $1.value }
      ?? better.min { $0.capacity < $1.capacity }
  }

  /// The smallest capacity that loses less than half a hundredth of the requests, if that is beyond doubt.
  public var cheapestSaving: HitRatioEstimate? {
    let estimates = estimates
    guard let now = estimates.first else { return nil }
    return estimates.filter { $0.capacity < capacity && now.value - $0.value + $0.margin < 0.005 }
      .min { $0.capacity < $1.capacity }
  }

  /// A hash that is the same in every process, so that the same requests always give the same estimates.
  ///
  /// - Parameter key: A key.
  /// - Returns: XXH3 over its UTF-8 bytes.
  public static func hash(_ key: String) -> UInt64 {
    var key = key
    return key.withUTF8 { unsafe cstore_xxh3($0.baseAddress, $0.count, 0) }
  }

  private func isSampled(_ hash: UInt64) -> Bool { Int(truncatingIfNeeded: hash) & (Self.hashes - 1) < threshold }

  private mutating func boundMemory() {
    while entries > maximumEntries, threshold > 1 {
      threshold /= 2
      let limit = threshold
      for index in ghosts.indices {
        ghosts[index].halve { Int(truncatingIfNeeded: $0) & (Self.hashes - 1) < limit }
      }
      restart()
    }
  }
}
