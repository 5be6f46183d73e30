import CacheCore

/// Evicts the entry that was inserted first, however often it is read.
///
/// The oldest policy of all (L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM
/// Systems Journal 5(2), 1966, calls it FIFO). Unchanged.
package struct FirstInFirstOut: EvictionPolicy {
  private var lists = SlotLists(1)
  let uses = SlotUses.ofMarks()

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: 0)
    uses.insert(slot, isToldOf: false)
  }
  mutating func touched(_ slot: Int32) {}
  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    guard let oldest = lists.oldest(0) else { return nil }
    lists.remove(oldest)
    return oldest
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
