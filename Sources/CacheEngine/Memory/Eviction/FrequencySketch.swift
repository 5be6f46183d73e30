import CacheCore

/// Estimates how often a hash came lately, in four bits a counter.
///
/// A count-min sketch (G. Cormode, S. Muthukrishnan, An improved data stream summary, Journal of Algorithms 55, 2005)
/// with the conservative sampling of TinyLFU: once ten times as many hashes as entries were counted, every counter is
/// halved. The counters of a hash lie in one block of 64 bytes, as in Caffeine, so that counting touches one line
/// of the processor's cache. Changed: the table grows with the entries and keeps what it has counted, and is never small; it
/// has any number of blocks, of which a hash has the one at the same part of the whole (D. Lemire, Fast random integer generation in
/// an interval, ACM Transactions on Modeling and Computer Simulation 29(1), 2019), so that none of it is spare.
struct FrequencySketch: Sendable {
  private static let wordsInBlock = 8
  /// Few entries see many strangers: 4 KiB keep these apart.
  private static let leastBlocks = 64

  private var words = UnsharedArray<UInt64>(repeating: 0, count: 0)
  private var blocks: UInt64 = 0
  private var additions = 0
  /// The most entries that there were, at least eight; for each there is a word.
  private var entries = 0
  /// How many hashes are counted for each entry before all counters are halved.
  private let period: Int

  init(period: Int = 10) { self.period = period }

  /// Grows until there is a word for every entry.
  @inline(__always)
  mutating func reserve(_ entries: Int) { if entries > self.entries { grow(entries) } }

  @inline(never)
  private mutating func grow(_ newEntries: Int) {
    entries = max(8, newEntries)
    guard words.count < entries else { return }
    let (old, oldBlocks) = (words, Int(blocks))
    // A few more, since those of a part of a level may become more, and a quarter more than there were.
    let wanted = max(Self.leastBlocks, (entries + entries / 8) / Self.wordsInBlock + 1, oldBlocks + oldBlocks / 4)
    blocks = UInt64(wanted)
    words = UnsharedArray(repeating: 0, count: wanted * Self.wordsInBlock)
    guard oldBlocks > 0 else { return }
    // The hashes of a block lay in one or two: by the larger counters, none has come less often than was counted.
    for block in 0..<wanted {
      let (first, last) = (block * oldBlocks / wanted, ((block + 1) * oldBlocks - 1) / wanted)
      for word in 0..<Self.wordsInBlock {
        words[block * Self.wordsInBlock + word] = Self.larger(
          old[first * Self.wordsInBlock + word], old[last * Self.wordsInBlock + word])
      }
    }
  }

  /// The larger one of each two counters.
  private static func larger(_ a: UInt64, _ b: UInt64) -> UInt64 {
    // Of counters that lie a byte apart: the upper bit of a byte stays if nothing has to be borrowed for the difference.
    func apart(_ a: UInt64, _ b: UInt64) -> UInt64 {
      let notLess = ((a & everySecond | upperBits) &- (b & everySecond)) & upperBits
      let chosen = (notLess >> 7) * 15
      return a & chosen | b & (everySecond ^ chosen)
    }
    return apart(a, b) | apart(a >> 4, b >> 4) << 4
  }

  private static let (everySecond, upperBits): (UInt64, UInt64) = (0x0f0f_0f0f_0f0f_0f0f, 0x8080_8080_8080_8080)

  /// How often the hash came, at most 15.
  @inline(__always)
  func frequency(_ hash: UInt32) -> Int { frequency(of: Self.mix(hash)) }

  @inline(__always)
  func frequency(of mixed: UInt64) -> Int {
    if blocks == 0 { return 0 }
    let block = unsafe block(mixed)
    var least: UInt64 = 15
    for row in 0..<4 {
      let (word, shift) = Self.place(mixed, row)
      least = unsafe min(least, block[word] &>> shift & 15)
    }
    return Int(least)
  }

  /// The block of a hash, which lies below the end.
  @inline(__always)
  private func block(_ mixed: UInt64) -> UnsafeMutablePointer<UInt64> {
    unsafe words.start + Int(truncatingIfNeeded: ((mixed & 0xffff_ffff) &* blocks) &>> 32) &* Self.wordsInBlock
  }

  mutating func increment(_ hash: UInt32, by count: Int = 1) { increment(mixed: Self.mix(hash), by: UInt64(count)) }

  /// Counts a hash, of which four counters in one block are raised: to 15 at most.
  @inline(__always)
  mutating func increment(mixed: UInt64, by count: UInt64 = 1) {
    guard blocks > 0 else { return }
    let block = unsafe block(mixed)
    var counted: UInt64 = 0
    for row in 0..<4 {
      let (word, shift) = Self.place(mixed, row)
      let old = unsafe block[word]
      let room = 15 &- (old &>> shift & 15)
      guard room > 0 else { continue }
      let added = min(count, room)
      unsafe block[word] = old &+ added &<< shift
      counted = max(counted, added)
    }
    additions &+= Int(counted)
    if additions >= period &* entries { halve() }
  }

  /// Counts a hash once more after it was counted so often: in one step, unless the counters are halved in between.
  @inline(__always)
  mutating func increment(mixed: UInt64, after count: Int) {
    if count > 0 { countMore(mixed, count) } else { increment(mixed: mixed) }
  }

  @inline(never)
  private mutating func countMore(_ mixed: UInt64, _ count: Int) {
    let isHalved = additions &+ count >= period &* entries
    increment(mixed: mixed, by: UInt64(isHalved ? count : count &+ 1))
    if isHalved { increment(mixed: mixed) }
  }

  private mutating func halve() {
    for index in 0..<words.count { words[index] = words[index] >> 1 & 0x7777_7777_7777_7777 }
    additions /= 2
  }

  /// Each row has two words of the block, and 16 counters in each.
  @inline(__always)
  private static func place(_ mixed: UInt64, _ row: Int) -> (word: Int, shift: UInt64) {
    let bits = mixed &>> UInt64(32 &+ row &* 8)
    return (row &* 2 &+ Int(truncatingIfNeeded: bits & 1), (bits & 30) &<< 1)
  }

  /// The finaliser of SplitMix64: hashes may be as regular as small numbers.
  @inline(__always)
  static func mix(_ hash: UInt32) -> UInt64 {
    var z = UInt64(hash) &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
