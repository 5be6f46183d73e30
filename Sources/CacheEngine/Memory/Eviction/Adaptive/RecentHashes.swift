import CacheCore

/// Hashes that were inserted not long ago, in eight bytes each and without an order.
///
/// A table of buckets of four places. A hash has an age, which is how many came after it; beyond the limit it does
/// not count, and where a bucket is full the oldest makes room, so that a few are forgotten too soon. That a hash
/// is found takes one line of the processor's cache. ``GhostQueue`` forgets exactly, in several times the room.
struct RecentHashes: Sendable {
  private static let places = 4

  /// The hash, and below it the turn in which it came; 0 for an empty place.
  private var words: ContiguousArray<UInt64> = []
  private var turn: UInt32 = 0
  private var limit: UInt32 = 0

  mutating func insert(_ hash: UInt32, limit newLimit: Int) {
    limit = UInt32(truncatingIfNeeded: newLimit)
    // A quarter more places than hashes that count.
    while words.count < newLimit + newLimit / 4 { grow() }
    turn &+= 1
    put(UInt64(hash) << 32 | UInt64(turn))
  }

  /// Forgets a hash, and says whether it was there and young enough.
  mutating func remove(_ hash: UInt32) -> Bool {
    guard !words.isEmpty else { return false }
    let bucket = bucket(of: hash)
    for place in bucket..<bucket + Self.places where UInt32(words[place] >> 32) == hash && words[place] != 0 {
      let isYoung = age(words[place]) < limit
      words[place] = 0
      return isYoung
    }
    return false
  }

  private func age(_ word: UInt64) -> UInt32 { turn &- UInt32(truncatingIfNeeded: word) }

  private func bucket(of hash: UInt32) -> Int {
    Int(truncatingIfNeeded: FrequencySketch.mix(hash) >> 20) & (words.count - Self.places)
  }

  private mutating func put(_ word: UInt64) {
    let bucket = bucket(of: UInt32(word >> 32))
    var chosen = bucket
    for place in bucket..<bucket + Self.places {
      if words[place] == 0 || words[place] >> 32 == word >> 32 {
        chosen = place
        break
      }
      if age(words[place]) > age(words[chosen]) { chosen = place }
    }
    words[chosen] = word
  }

  private mutating func grow() {
    let old = words
    words = ContiguousArray(repeating: 0, count: max(Self.places, old.count * 2))
    for word in old where word != 0 { put(word) }
  }
}
