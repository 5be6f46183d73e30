import CacheCore

/// Tries every division on a sample of the requests, and says which one had most hits lately.
struct Trial: Sendable {
  /// The most that a miniature holds, in a cache of 32 times as many entries or more; and in a smaller one.
  ///
  /// Less is cheaper, and the choice more a matter of chance: by which hashes a process happens to have.
  private static let (largest, largestOfFew) = (1_024, 128)
  /// The least that a miniature holds if the cache holds more: a sample of few keys says nothing.
  private static let smallest = 16
  /// One request in four is enough to choose by.
  private static let leastShift: UInt64 = 2
  /// After so many sampled requests the divisions are compared.
  private static let round = 16
  /// For how many sampled requests hits count, for each entry of a miniature; and at least.
  ///
  /// By the share of the cache that is new, and not by the clock of a large one: what is seen counts as soon as it is seen.
  private static let (memory, leastMemory) = (15, 2_000)
  /// By how many standard deviations another division must have had more hits: what is a matter of chance changes nothing.
  ///
  /// The first is for samples of one key in four or more, the second for smaller ones.
  private static let (evidence, evidenceOfFew) = (2.0, 1.2)
  /// As much chance is allowed for as in so many requests, however few were seen.
  ///
  /// What comes first after the cache was full for the first time favours order of use.
  private static let doubt = 100.0

  private var miniatures = ContiguousArray(Division.allCases.map { Miniature($0) })
  /// The entries of each miniature; 0 before the first.
  private var size = 0
  /// One key of 2^shift is in the sample.
  private var shift: UInt64 = 0
  private var requests = 0
  private var hits = [Int](repeating: 0, count: Division.allCases.count)
  private var scores = [Double](repeating: 0, count: Division.allCases.count)
  /// The requests that count, as the scores are the hits.
  private var seen = 0.0
  /// For each division a row: the requests that count which it found and each of the others did not.
  private var wins = [Double](repeating: 0, count: Division.allCases.count * Division.allCases.count)
  private var best = Trial.first

  /// What is followed until another had more hits: it loses least where it is wrong.
  ///
  /// That order of use is right shows soon, where what was used comes back soon; that it is wrong shows in a long loop only
  /// after the whole loop, when everything is gone.
  static let first = Division.balanced

  /// Makes the miniatures as large, in relation to the sample, as the cache is.
  mutating func fit(_ entries: Int) {
    // Weighted entries make the count go up and down: the sample changes only if it is far from right.
    let fitting = entries >> Int(shift)
    if size == 0 || fitting > 2 * Self.largest(of: entries) || (shift > 0 && fitting < Self.smallest / 2) {
      let wanted = Self.shift(for: entries)
      if wanted != shift || size == 0 { start(wanted) }
    }
    size = max(1, entries >> Int(shift))
  }

  /// Stores what was in the cache when it was full for the first time.
  mutating func admit(_ hash: UInt32, uses: UInt8) {
    guard isSampled(hash) else { return }
    for index in miniatures.indices { miniatures[index].admit(hash, uses: uses) }
  }

  /// Asks every miniature for a hash, which is in the sample; now and then, gives the best division.
  mutating func request(_ hash: UInt32, _ mixed: UInt64, _ sketch: borrowing FrequencySketch) -> Division? {
    var found = 0
    for index in miniatures.indices where miniatures[index].request(hash, mixed, size: size, sketch) {
      hits[index] &+= 1
      found |= 1 << index
    }
    if isDense, found != 0, found != 1 << miniatures.count - 1 { noteWins(found) }
    requests &+= 1
    return requests >= Self.round ? endRound() : nil
  }

  /// One key in four or more is in the sample.
  private var isDense: Bool { shift <= Self.leastShift }

  /// Counts a request for each two divisions, one a bit, of which one found it and the other did not.
  private mutating func noteWins(_ found: Int) {
    for winner in miniatures.indices where found >> winner & 1 == 1 {
      for loser in miniatures.indices where found >> loser & 1 == 0 { wins[winner * miniatures.count + loser] += 1 }
    }
  }

  private mutating func endRound() -> Division {
    let decay = 1 - Double(Self.round) / Double(max(Self.leastMemory, Self.memory * size))
    for index in hits.indices {
      scores[index] = (scores[index] + Double(hits[index])) * decay
      hits[index] = 0
    }
    seen = (seen + Double(requests)) * decay
    requests = 0
    if isDense { for index in wins.indices { wins[index] *= decay } }
    if let leader = Division.allCases.max(by: { scores[$0.rawValue] < scores[$1.rawValue] }),
      scores[leader.rawValue] > scores[best.rawValue] + margin(over: leader)
    {
      best = leader
    }
    return best
  }

  /// How many more hits than ``best`` a division must have had.
  ///
  /// If two were equally good, each request that only one of them found would fall to either by chance: Q. McNemar, Note on the
  /// sampling error of the difference between correlated proportions or percentages, Psychometrika 12(2), 1947. A sparse sample
  /// differs from the rest by more than that, since requests for one key go together, so that all hits count there.
  private func margin(over leader: Division) -> Double {
    guard isDense else {
      let score = scores[best.rawValue]
      return Self.evidenceOfFew * (min(score, seen - score) + Self.doubt).squareRoot()
    }
    return Self.evidence * (wins(leader, best) + wins(best, leader) + Self.doubt).squareRoot()
  }

  private func wins(_ winner: Division, _ loser: Division) -> Double {
    wins[winner.rawValue * miniatures.count + loser.rawValue]
  }

  private mutating func start(_ newShift: UInt64) {
    shift = newShift
    miniatures = ContiguousArray(Division.allCases.map { Miniature($0) })
    // What was counted of other keys may lack the wins that say how much of it is chance.
    for index in hits.indices { (hits[index], scores[index]) = (0, 0) }
    for index in wins.indices { wins[index] = 0 }
    (requests, seen) = (0, 0)
  }

  /// What ``SlotUses/sample(_:)`` of the keys in the sample is at most.
  var sampled: UInt32 { UInt32.max &>> UInt32(truncatingIfNeeded: shift) }

  @inline(__always)
  func isSampled(_ hash: UInt32) -> Bool { SlotUses.sample(hash) <= sampled }

  private static func largest(of entries: Int) -> Int { min(largest, max(largestOfFew, entries / 32)) }

  private static func shift(for entries: Int) -> UInt64 {
    var shift = leastShift
    while entries >> Int(shift) > largest(of: entries) { shift += 1 }
    while shift > 0, entries >> Int(shift) < smallest { shift -= 1 }
    return shift
  }

  #if DEBUG
  var flaw: String? { miniatures.lazy.compactMap(\.flaw).first }
  #endif
}
