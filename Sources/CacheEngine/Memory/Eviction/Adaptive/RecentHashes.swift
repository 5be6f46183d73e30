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

  mutating func insert(_ hash: UInt32, limit: Int) { insert(hash, mixed: FrequencySketch.mix(hash), limit: limit) }

  @inline(__always)
  mutating func insert(_ hash: UInt32, mixed: UInt64, limit newLimit: Int) {
    limit = UInt32(truncatingIfNeeded: newLimit)
    // A quarter more places than hashes that count.
    if words.count < newLimit &+ newLimit / 4 { grow(to: newLimit + newLimit / 4) }
    turn &+= 1
    put(UInt64(hash) << 32 | UInt64(turn), mixed)
  }

  /// Forgets a hash, and says whether it was there and young enough.
  mutating func remove(_ hash: UInt32) -> Bool { remove(hash, mixed: FrequencySketch.mix(hash)) }

  @inline(__always)
  mutating func remove(_ hash: UInt32, mixed: UInt64) -> Bool {
    guard let place = place(of: hash, mixed) else { return false }
    let isYoung = age(words[place]) < limit
    words[place] = 0
    return isYoung
  }

  @inline(__always)
  private func place(of hash: UInt32, _ mixed: UInt64) -> Int? {
    if words.isEmpty { return nil }
    let start = start(of: mixed)
    // The bucket lies below the end, by how it is found.
    return unsafe words.withUnsafeBufferPointer { words in
      let bucket = unsafe words.baseAddress.unsafelyUnwrapped + start
      for place in 0..<Self.places {
        let word = unsafe bucket[place]
        if UInt32(truncatingIfNeeded: word >> 32) == hash, word != 0 { return start &+ place }
      }
      return nil
    }
  }

  @inline(__always)
  private func age(_ word: UInt64) -> UInt32 { turn &- UInt32(truncatingIfNeeded: word) }

  @inline(__always)
  private func start(of mixed: UInt64) -> Int {
    Int(truncatingIfNeeded: mixed >> 20) & (words.count &- Self.places)
  }

  @inline(__always)
  private mutating func put(_ word: UInt64, _ mixed: UInt64) {
    let (start, turn) = (start(of: mixed), turn)
    unsafe words.withUnsafeMutableBufferPointer { words in
      let bucket = unsafe words.baseAddress.unsafelyUnwrapped + start
      var chosen = 0
      var oldest: UInt32 = 0
      for place in 0..<Self.places {
        let other = unsafe bucket[place]
        if other == 0 || other >> 32 == word >> 32 {
          chosen = place
          break
        }
        let age = turn &- UInt32(truncatingIfNeeded: other)
        if place == 0 || age > oldest { (chosen, oldest) = (place, age) }
      }
      unsafe bucket[chosen] = word
    }
  }

  private mutating func grow(to length: Int) {
    while words.count < length {
      let old = words
      words = ContiguousArray(repeating: 0, count: max(Self.places, old.count * 2))
      for word in old where word != 0 { put(word, FrequencySketch.mix(UInt32(word >> 32))) }
    }
  }
}
