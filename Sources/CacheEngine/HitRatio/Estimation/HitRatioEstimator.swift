import CacheDisk

public import CacheMemory
import CacheCore
import CStore

/// Estimates what share of the requests of a cache would have been hits with another capacity or another policy, while the
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
/// A ``HitRatioObserver`` hands the events of levels to one for each, and keeps what that costs small.
///
/// C. Waldspurger, N. Park, A. Garthwaite, I. Ahmad, Efficient MRC construction with SHARDS, FAST 2015: keys are sampled by
/// their hash, so that all requests of a key are seen or none, and the caches are smaller by the same factor. Changed: how
/// many requests there were and how many of them missed is known of the real cache, so a sample that is poor in either is
/// corrected by a regression over 64 groups of keys, which gives a part of the margin too. What a sample cannot tell of
/// itself, that a small cache does not behave like a large one, is told by a second look at the same keys: one half of them
/// each in two caches half as large (as in C. Waldspurger, T. Saemundsson, I. Ahmad, N. Park, Cache modeling and optimization
/// using miniature simulations, ATC 2017, which compares sizes by hand). The sample becomes smaller when it would hold too
/// many keys; what was counted before keeps the weight that it had.
///
/// **How exact it is.** On recorded traces nine of ten answers lie within a point of the full simulation from about a thousand
/// entries on, at a quarter of the keys. Small caches need a larger ``rate``; the margin tells. On generated traces of many kinds
/// and sizes the margins of 95 of 100 answers hold, and at most one in five says that it is not known
/// (``HitRatioEstimate/isKnown``): where chance or size may have brought more than a quarter of the requests, and of
/// the adaptive policy where the sample has room for less than 4 entries, with which it does not adapt.
///
/// **What it does not see.** A key that is removed leaves every small cache if the estimator is told (``remove(_:)``); otherwise it
/// stays a hit there. A cache that has been in use before its estimator starts is ahead of it: call ``restart()`` when the
/// estimator has seen a few times the capacity. Two spellings of a key that `String` holds for equal, as é in one scalar
/// or in two, are two keys here.
///
/// - Important: A copy shares its small caches with the original. Record into one of the two only; the other may still be asked.
/// - Complexity: A request of a key outside of the sample costs a hash. Memory is bounded by ``maximumEntries``.
public struct HitRatioEstimator: Sendable {
  private static let groups = 64
  /// Fewer sampled requests tell nothing.
  package static let leastSamples = 4 * groups
  /// Of 24 bits of each hash.
  private static let hashes = 1 << 24

  /// The capacity of the cache that is observed.
  public let capacity: Int
  /// The policy of the cache that is observed.
  public let eviction: Eviction
  /// How many keys all small caches together may know, at 250 to 700 bytes each for the usual questions.
  public let maximumEntries: Int
  /// Requests that were recorded since the start or the last restart.
  public private(set) var requests = 0
  /// Of these, the ones that the cache itself could not answer.
  public private(set) var misses = 0

  private var ghosts: GhostCaches
  /// The same for one half of the sampled keys each, in caches half as large.
  private var halves: [GhostCaches]
  private(set) var threshold: Int
  /// Sampled requests of each group, with the weight of their sample.
  private var sampled = Array(repeating: 0.0, count: Self.groups)
  /// Sampled requests.
  private(set) var samples = 0
  private var recorded = 0

  /// Creates an estimator.
  ///
  /// - Parameters:
  ///   - capacity: The capacity of the cache, in the unit of the costs that are recorded. At least 1.
  ///   - eviction: The policy of the cache.
  ///   - factors: The other capacities to ask about, as multiples of this one; at most 24. What is no finite number above 0 is
  ///     left out.
  ///   - evictions: The other policies to ask about.
  ///   - rate: The share of the keys to look at, above 0 and at most 1. Smaller is cheaper and less exact.
  ///   - maximumEntries: How many keys the small caches may know together.
  public init(
    capacity: Int, eviction: Eviction, factors: [Double] = [0.25, 0.5, 2, 4], evictions: [Eviction] = Eviction.all,
    rate: Double = 0.25, maximumEntries: Int = 12_000
  ) {
    precondition(capacity > 0, "the capacity of a cache to estimate is at least 1")
    precondition(rate > 0 && rate <= 1, "a share of the keys lies between 0 and 1")
    self.capacity = capacity
    self.eviction = eviction
    self.maximumEntries = max(Self.groups, maximumEntries)
    threshold = max(1, Int(rate * Double(Self.hashes)))
    let rate = Double(threshold) / Double(Self.hashes)
    func question(_ eviction: Eviction, _ factor: Double) -> GhostCaches.Question {
      let full = max(1, Int(min(Double(capacity) * factor, 9e18)))
      return GhostCaches.Question(
        eviction: eviction, fullCapacity: full, capacity: Double(full) * rate, policy: ChosenPolicy(eviction))
    }
    var questions = [question(eviction, 1)]
    questions += Set(factors.filter(Self.isFactor)).subtracting([1]).sorted().map { question(eviction, $0) }
    for other in evictions where !questions.contains(where: { $0.eviction == other }) {
      questions.append(question(other, 1))
    }
    ghosts = GhostCaches(questions, groups: Self.groups)
    for index in questions.indices { questions[index].capacity /= 2 }
    halves = (0..<2).map { _ in GhostCaches(questions, groups: Self.groups) }
  }

  /// Whether there is a capacity that is so many times as large.
  static func isFactor(_ number: Double) -> Bool { number > 0 && number.isFinite }

  /// The share of the keys that is looked at.
  public var rate: Double { Double(threshold) / Double(Self.hashes) }

  /// How many keys the small caches know now.
  public var entries: Int { halves.reduce(ghosts.count) { $0 + $1.count } }

  /// About how many bytes the small caches take now.
  public var bytes: Int { halves.reduce(ghosts.bytes) { $0 + $1.bytes } }

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
    count(requests: 1, misses: isHit ? 0 : 1)
    if isSampled(hash) { sample(hash, cost: cost) }
  }

  /// Takes a key out of every small cache, because it was removed.
  public mutating func remove(_ key: String) { remove(hash: Self.hash(key)) }

  /// Empties every small cache, because the cache was cleared.
  public mutating func removeAll() {
    ghosts.removeAll()
    for half in halves.indices { halves[half].removeAll() }
  }

  /// Restarts the counts; the small caches keep what they hold.
  public mutating func restart() {
    (requests, misses, samples) = (0, 0, 0)
    sampled = sampled.map { _ in 0 }
    ghosts.restart()
    for half in halves.indices { halves[half].restart() }
  }

  /// The answers: the cache as it is, then the other capacities in order, then the other policies.
  ///
  /// Empty as long as the sample holds less than a few hundred requests.
  public var estimates: [HitRatioEstimate] {
    guard requests > 0, samples >= Self.leastSamples else { return [] }
    // If all groups there are were sampled, there would be more of them: the sample has 64.
    let mean = 1 / Double(Self.groups)
    let traffic = (values: sampled, mean: Double(requests) * mean)
    // Looking at every key leaves nothing to chance.
    let chance = (1 - rate).squareRoot()
    // The cache as it is, from the sample alone: what chance does not explain of the difference to what is known is that
    // a small cache does not behave like a large one. Another policy has another such difference, so only as much is
    // corrected for it as chance explains; the rest is part of the margin.
    let own = ControlledMean(ghosts.misses[0], first: traffic, second: traffic)
    let difference = Double(misses) * mean - own.value
    let explained = min(1, pow2(own.error * chance) / max(pow2(difference), .leastNonzeroMagnitude))
    let share = { (misses: Double) in misses / mean / Double(requests) }
    // A sample without the most requested keys would be another cache.
    let unlike = 1 - sampled.reduce(0, +) / Double(requests)
    let answers = ghosts.questions.indices.map { index in
      let part = ghosts.questions[index].eviction == eviction ? 1 : explained
      let known = (values: ghosts.misses[0], mean: own.value + part * difference)
      return ControlledMean(ghosts.misses[index], first: traffic, second: known)
    }
    // What chance may decide between: nothing, if all that is as large or larger gives the same.
    let stake = { (question: GhostCaches.Question) in
      let values = zip(ghosts.questions, answers).filter { other, _ in
        question.fullCapacity >= capacity || other.fullCapacity >= question.fullCapacity
      }.map(\.1.value)
      return (values.max() ?? 0) - (values.min() ?? 0)
    }
    return ghosts.questions.enumerated().map { index, question in
      var parts = [
        2.5 * share(answers[index].error * chance), share((1 - explained) * difference),
        reach(question) * scaling(index), reach(ghosts.questions[0]) * scaling(0), 0.15 * unlike,
      ]
      // Two caches that decide by hashes differ though every key is looked at: by a few hundredths of what is at stake, and more
      // where halves differ much.
      if question.dependsOnHashes { parts += [share(stake(question)) / 25, 1.5 * scaling(index)] }
      let margin =
        parts.reduce(0) { $0 + pow2($1) }.squareRoot() + (1 - rate) * (0.25 / max(1, question.places) + 0.002)
      return HitRatioEstimate(
        eviction: question.eviction, capacity: question.fullCapacity,
        value: index == 0
          ? 1 - Double(misses) / Double(requests) : min(1, max(0, 1 - share(answers[index].value))),
        margin: index == 0 ? 0 : rate < 1 && question.behavesOtherwise(at: rate) ? 1 : min(1, margin))
    }
  }

  /// By what share of the requests two caches half as large answer differently, with one half of the same keys each.
  ///
  /// They do so only because they are smaller.
  private func scaling(_ index: Int) -> Double {
    let small = halves.reduce(0) { $0 + $1.misses[index].reduce(0, +) }
    return (ghosts.misses[index].reduce(0, +) - small) / Double(requests)
  }

  /// How many times that difference there may be between the sampled share and the whole.
  ///
  /// What size matters falls with size, so from the halves to the sampled share is further than from there to the whole, and the
  /// rest is for safety. Only in SIEVE does each doubling matter about as much as the one before, as its hand has further to go.
  private func reach(_ question: GhostCaches.Question) -> Double {
    let reach = 2.5 * (1 - rate)
    return question.eviction == .sieve ? max(reach, 2 * Double((1 / rate).exponent)) : reach
  }

  /// The cheapest change that helps: another policy, which costs nothing, or else the smallest capacity that gains at
  /// least a hundredth of the requests beyond doubt.
  ///
  /// Doubtful is also what the order of so few requests may have brought: in 99 of 100 cases two caches that are equally
  /// good differ by less.
  public var cheapestImprovement: HitRatioEstimate? {
    let estimates = estimates
    guard let now = estimates.first else { return nil }
    // The standard deviation of a difference of two that answer each request with the same chance is at most this.
    let chance = 2.6 * (0.5 / Double(max(1, samples))).squareRoot()
    let better = estimates.filter { $0.isBetter(than: now, byAtLeast: max(0.01, chance)) && $0.capacity >= capacity }
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

  private func pow2(_ value: Double) -> Double { value * value }

  /// Bits of the hash that neither the choice of the sample nor that of a group depends on.
  private static func half(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 30) & 1 }

  func isSampled(_ hash: UInt64) -> Bool { Self.isSampled(hash, threshold) }

  static func isSampled(_ hash: UInt64, _ threshold: Int) -> Bool {
    Int(truncatingIfNeeded: hash) & (hashes - 1) < threshold
  }
}

// MARK: What an observer tells

extension HitRatioEstimator {
  /// Counts requests, whether they are in the sample or not.
  mutating func count(requests newRequests: Int, misses newMisses: Int) {
    requests += newRequests
    misses += newMisses
  }

  /// Asks the small caches for a sampled key.
  ///
  /// `cost`: What its value weighs; `nil` if the real cache has yet to store it.
  mutating func sample(_ hash: UInt64, cost: Int?, lifetime: UInt32 = 0, at time: UInt32 = 0) {
    let group = Int(truncatingIfNeeded: hash >> 24) & (Self.groups - 1)
    let weight = 1 / rate
    samples += 1
    sampled[group] += weight
    let cost = cost.map { max(0, $0) }
    ghosts.request(hash, cost: cost, lifetime: lifetime, at: time, group: group, weight: weight)
    halves[Self.half(hash)].request(hash, cost: cost, lifetime: lifetime, at: time, group: group, weight: weight)
    boundMemory()
  }

  /// Notes that the real cache stored a sampled key.
  mutating func store(_ hash: UInt64, cost: Int, lifetime: UInt32, at time: UInt32) {
    ghosts.store(hash, cost: max(0, cost), lifetime: lifetime, at: time)
    halves[Self.half(hash)].store(hash, cost: max(0, cost), lifetime: lifetime, at: time)
    boundMemory()
  }

  mutating func remove(hash: UInt64) {
    guard isSampled(hash) else { return }
    ghosts.remove(hash)
    halves[Self.half(hash)].remove(hash)
  }

  /// Looks at half as many keys from now on.
  mutating func halve() {
    guard threshold > 1 else { return }
    threshold /= 2
    let limit = threshold
    ghosts.halve { Int(truncatingIfNeeded: $0) & (Self.hashes - 1) < limit }
    for half in halves.indices { halves[half].halve { Int(truncatingIfNeeded: $0) & (Self.hashes - 1) < limit } }
  }

  private mutating func boundMemory() {
    recorded += 1
    guard recorded & 0x3F == 0 else { return }
    while entries > maximumEntries, threshold > 1 { halve() }
  }
}
