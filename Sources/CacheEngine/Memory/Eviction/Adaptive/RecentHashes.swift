import CacheCore

/// Hashes that were inserted not long ago, in eight bytes each and without an order.
///
/// A table of buckets of four places. A hash has an age, which is how many came after it; beyond the limit it does
/// not count, and where a bucket is full the oldest makes room, so that a few are forgotten too soon. That a hash
/// is found takes one line of the processor's cache. ``GhostQueue`` forgets exactly, in several times the room.
struct RecentHashes: Sendable {
  private static let places = 4

  /// A hash, and the turn in which it came; two zeros for an empty place.
  private struct Place: BitwiseCopyable {
    var hash: UInt32 = 0
    var turn: UInt32 = 0

    @inline(__always) var isEmpty: Bool { hash == 0 && turn == 0 }
  }

  private var all = UnsharedArray(repeating: Place(), count: 0)
  private var turn: UInt32 = 0
  private var limit: UInt32 = 0

  mutating func insert(_ hash: UInt32, limit: Int) { insert(hash, mixed: FrequencySketch.mix(hash), limit: limit) }

  @inline(__always)
  mutating func insert(_ hash: UInt32, mixed: UInt64, limit newLimit: Int) {
    limit = UInt32(truncatingIfNeeded: newLimit)
    // A quarter more places than hashes that count.
    let wanted = newLimit &+ newLimit &>> 2
    if all.count < wanted { grow(to: wanted) }
    turn &+= 1
    put(Place(hash: hash, turn: turn), mixed)
  }

  /// Forgets a hash, and says whether it was there and young enough.
  mutating func remove(_ hash: UInt32) -> Bool { remove(hash, mixed: FrequencySketch.mix(hash)) }

  @inline(__always)
  mutating func remove(_ hash: UInt32, mixed: UInt64) -> Bool {
    if all.count == 0 { return false }
    let bucket = unsafe bucket(mixed)
    for place in 0..<Self.places where unsafe bucket[place].hash == hash && !bucket[place].isEmpty {
      let isYoung = unsafe age(bucket[place]) < limit
      unsafe bucket[place] = Place()
      return isYoung
    }
    return false
  }

  /// The places of a hash, which lie below the end: the mask names the first of four.
  @inline(__always)
  private func bucket(_ mixed: UInt64) -> UnsafeMutablePointer<Place> {
    unsafe all.start + (Int(truncatingIfNeeded: mixed >> 20) & (all.count &- Self.places))
  }

  @inline(__always)
  private func age(_ place: Place) -> UInt32 { turn &- place.turn }

  @inline(__always)
  private func put(_ new: Place, _ mixed: UInt64) {
    let bucket = unsafe bucket(mixed)
    var oldest = (place: 0, age: UInt32(0))
    for place in 0..<Self.places {
      let held = unsafe bucket[place]
      if held.hash == new.hash || held.isEmpty {
        unsafe bucket[place] = new
        return
      }
      let age = age(held)
      if age > oldest.age { oldest = (place, age) }
    }
    unsafe bucket[oldest.place] = new
  }

  private mutating func grow(to length: Int) {
    while all.count < length {
      let old = all
      all = UnsharedArray(repeating: Place(), count: max(Self.places, old.count * 2))
      for index in 0..<old.count where !old[index].isEmpty { put(old[index], FrequencySketch.mix(old[index].hash)) }
    }
  }
}
