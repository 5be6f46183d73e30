import CacheCore

/// Tries every division on a sample of the requests, and says which one had most hits lately.
struct Trial: Sendable {
  /// The most that a miniature holds: less is cheaper and errs more often (measured from 32 to 512).
  private static let largest = 128
  /// The least that a miniature holds if the cache holds more: a sample of few keys says nothing.
  private static let smallest = 16
  /// One request in four is enough to choose by.
  private static let leastShift: UInt64 = 2
  /// What a round's hits count for after one more round: half after ten.
  private static let decay = 0.933

  private var miniatures = ContiguousArray(Division.allCases.map { Miniature($0) })
  /// The entries of each miniature, which is also how many sampled requests a round has; 0 before the first.
  private var size = 0
  /// One key of 2^shift is in the sample.
  private var shift: UInt64 = 0
  private var requests = 0
  private var hits = [Int](repeating: 0, count: Division.allCases.count)
  private var scores = [Double](repeating: 0, count: Division.allCases.count)
  private var best = Division.recency

  /// Makes the miniatures as large, in relation to the sample, as the cache is.
  mutating func fit(_ entries: Int) {
    // Weighted entries make the count go up and down: the sample changes only if it is far from right.
    let fitting = entries >> Int(shift)
    if size == 0 || fitting > 2 * Self.largest || (shift > 0 && fitting < Self.smallest / 2) {
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

  /// Asks every miniature for a hash, which is in the sample; at the end of a round, gives the best division.
  mutating func request(_ hash: UInt32, _ sketch: borrowing FrequencySketch) -> Division? {
    for index in miniatures.indices where miniatures[index].request(hash, size: size, sketch) { hits[index] += 1 }
    requests += 1
    return requests >= size ? endRound() : nil
  }

  private mutating func endRound() -> Division {
    for division in Division.allCases {
      scores[division.rawValue] = scores[division.rawValue] * Self.decay + Double(hits[division.rawValue])
      hits[division.rawValue] = 0
    }
    requests = 0
    // The one in use stays where another is only as good.
    for division in Division.allCases where scores[division.rawValue] > scores[best.rawValue] { best = division }
    return best
  }

  private mutating func start(_ newShift: UInt64) {
    shift = newShift
    miniatures = ContiguousArray(Division.allCases.map { Miniature($0) })
  }

  /// What ``SlotUses/sample(_:)`` of the keys in the sample is at most.
  var sampled: UInt32 { UInt32.max >> UInt32(shift) }

  @inline(__always)
  func isSampled(_ hash: UInt32) -> Bool { SlotUses.sample(hash) <= sampled }

  private static func shift(for entries: Int) -> UInt64 {
    var shift = leastShift
    while entries >> Int(shift) > largest { shift += 1 }
    while shift > 0, entries >> Int(shift) < smallest { shift -= 1 }
    return shift
  }

  #if DEBUG
  var flaw: String? { miniatures.lazy.compactMap(\.flaw).first }
  #endif
}
