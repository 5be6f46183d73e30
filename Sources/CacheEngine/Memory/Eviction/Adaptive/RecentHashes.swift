import CacheCore

/// Hashes that were inserted not long ago, in four to five bytes each and without an order.
///
/// A table of buckets of four places, youngest first. A hash has an age, which is how many came after it; beyond the limit it does
/// not count, and where a bucket is full the oldest makes room, so that a few are forgotten too soon. Sixteen bits are
/// kept of a hash, so that one in sixteen thousand is taken for another, and its age to less than a thousandth of
/// the limit. That a hash is found takes one line of the processor's cache. ``GhostQueue`` forgets exactly, in many times the room.
struct RecentHashes: Sendable {
  private static let places = 4
  /// Ages are compared in so many steps at most: an eighth of what is kept of a turn.
  private static let steps = 8_192

  /// Sixteen bits of a hash, and the turn in which it came; zero for an empty place.
  private typealias Place = UInt32

  /// Four places, the first one lowest.
  private struct Bucket: BitwiseCopyable {
    var young: UInt64 = 0
    var old: UInt64 = 0
  }

  private var all = UnsharedArray(repeating: Bucket(), count: 0)
  private var turn = 0
  /// A step is 2^shift turns.
  private var shift = 0
  private var limit: UInt16 = 0
  /// The limit up to which there are places enough.
  private var room = 0

  mutating func insert(_ hash: UInt32, limit: Int) { insert(mixed: FrequencySketch.mix(hash), limit: limit) }

  /// Notes a hash; of one that is there already, the younger is found first.
  @inline(__always)
  mutating func insert(mixed: UInt64, limit newLimit: Int) {
    if newLimit > room { grow(to: newLimit) }
    limit = UInt16(truncatingIfNeeded: max(1, newLimit &>> shift))
    turn &+= 1
    let bucket = unsafe bucket(mixed)
    let young = unsafe bucket.pointee.young
    unsafe bucket.pointee.old = bucket.pointee.old &<< 32 | young &>> 32
    unsafe bucket.pointee.young = young &<< 32 | UInt64(Self.kept(mixed) | Place(step))
  }

  /// Forgets a hash, and says whether it was there and young enough.
  mutating func remove(_ hash: UInt32) -> Bool { remove(mixed: FrequencySketch.mix(hash)) }

  @inline(__always)
  mutating func remove(mixed: UInt64) -> Bool {
    if room == 0 { return false }
    let bucket = unsafe bucket(mixed)
    let kept = Self.kept(mixed)
    func isIt(_ place: Place) -> Bool { (place ^ kept) &>> 16 == 0 && place != 0 }
    let (young, old) = unsafe (bucket.pointee.young, bucket.pointee.old)
    let places = (
      Place(truncatingIfNeeded: young), Place(truncatingIfNeeded: young &>> 32), Place(truncatingIfNeeded: old),
      Place(truncatingIfNeeded: old &>> 32)
    )
    // The older ones move up.
    if isIt(places.0) {
      unsafe bucket.pointee = Bucket(young: young &>> 32 | old &<< 32, old: old &>> 32)
      return age(places.0) < limit
    }
    if isIt(places.1) {
      unsafe bucket.pointee = Bucket(young: UInt64(places.0) | old &<< 32, old: old &>> 32)
      return age(places.1) < limit
    }
    if isIt(places.2) {
      unsafe bucket.pointee.old = old &>> 32
      return age(places.2) < limit
    }
    if isIt(places.3) {
      unsafe bucket.pointee.old = UInt64(places.2)
      return age(places.3) < limit
    }
    return false
  }

  /// The places of a hash, which lie below the end: there are any number of buckets, as there are blocks in a ``FrequencySketch``.
  @inline(__always)
  private func bucket(_ mixed: UInt64) -> UnsafeMutablePointer<Bucket> {
    let number = ((mixed &>> 20 & 0xffff_ffff) &* UInt64(truncatingIfNeeded: all.count)) &>> 32
    return unsafe all.start + Int(truncatingIfNeeded: number)
  }

  /// What is kept of a hash: bits that do not say in which bucket it is.
  @inline(__always)
  private static func kept(_ mixed: UInt64) -> Place { Place(truncatingIfNeeded: mixed) &<< 16 }

  @inline(__always) private var step: UInt16 { UInt16(truncatingIfNeeded: turn &>> shift) }

  @inline(__always)
  private func age(_ place: Place) -> UInt16 { step &- UInt16(truncatingIfNeeded: place) }

  /// Makes room for an eighth more than the limit, and forgets everything, since too little of the hashes is there to move them.
  @inline(never)
  private mutating func grow(to limit: Int) {
    room = limit + limit / 8
    all = UnsharedArray(repeating: Bucket(), count: (room + Self.places - 1) / Self.places)
    shift = 0
    while room >> shift > Self.steps { shift += 1 }
  }
}
