/// The index of a table whose entries lie in numbered slots.
///
/// Open addressing with linear probing and backward-shift deletion (Knuth, The Art of Computer Programming 3, 6.4,
/// algorithm R). A word is 0 where a place is empty, else 32 bits of the hash above the slot number plus one, so that probing
/// touches no key that does not match, and deletion hashes nothing.
@usableFromInline
package enum SlotIndex {
  @inlinable
  package static func word(_ slot: Int32, hash: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(UInt32(slot + 1)) }

  /// Adds a word that is not there to an index of `mask + 1` places, one of which is empty.
  @inlinable
  @inline(__always)
  @unsafe
  package static func insert(_ word: UInt64, into index: UnsafeMutablePointer<UInt64>, mask: Int) {
    var place = Int(truncatingIfNeeded: word >> 32) & mask
    while unsafe index[place] != 0 { place = (place &+ 1) & mask }
    unsafe index[place] = word
  }

  /// Takes a word out, and tells whether it was there.
  @inlinable
  @inline(__always)
  @unsafe
  package static func remove(_ word: UInt64, from index: UnsafeMutablePointer<UInt64>, mask: Int) -> Bool {
    var hole = Int(truncatingIfNeeded: word >> 32) & mask
    while unsafe index[hole] != word {
      if unsafe index[hole] == 0 { return false }
      hole = (hole &+ 1) & mask
    }
    var next = (hole &+ 1) & mask
    while unsafe index[next] != 0 {
      let home = unsafe Int(truncatingIfNeeded: index[next] >> 32) & mask
      // An entry may move back into the hole only if the hole lies between its home and its place.
      if (next &- home) & mask >= (next &- hole) & mask {
        unsafe index[hole] = index[next]
        hole = next
      }
      next = (next &+ 1) & mask
    }
    unsafe index[hole] = 0
    return true
  }
}
