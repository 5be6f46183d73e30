import CacheCore

/// Evicts the oldest entry that was not used since the hand last passed it.
///
/// CLOCK: F. J. Corbató, A paging experiment with the Multics system, MIT Project MAC, 1968. Changed: the ring with a hand is
/// a queue from which used entries are put back at the end, which visits them in the same order and lets entries be
/// removed from the middle. One bit; a new entry starts unused.
package struct SecondChance: EvictionPolicy {
  private var lists = SlotLists(1)
  let uses = SlotUses.ofMarks()

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: 0)
    uses.insert(slot)
  }

  mutating func touched(_ slot: Int32) {
    lists[mark: slot] = 1
    uses.tell(of: slot, false)
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    while let oldest = lists.oldest(0) {
      guard lists[mark: oldest] != 0 else {
        lists.remove(oldest)
        return oldest
      }
      lists[mark: oldest] = 0
      uses.tell(of: oldest, true)
      lists.move(oldest, to: 0)
    }
    return nil
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
