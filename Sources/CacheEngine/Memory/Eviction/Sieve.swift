import CacheCore

/// Evicts the entry under a hand that moves from old to new and spares, once, what was used.
///
/// Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, SIEVE is simpler than LRU, NSDI 2024. Unlike with CLOCK,
/// what is spared keeps its place, so that the hand meets new entries soon. Unchanged; where the entry under the
/// hand is removed, the hand goes on to the next newer one.
package struct Sieve: EvictionPolicy {
  private var lists = SlotLists(1)
  let uses = SlotUses.ofMarks()
  /// Where the search begins; `nil` for the oldest entry.
  private var hand: Int32?

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: 0)
    uses.insert(slot)
  }

  mutating func touched(_ slot: Int32) {
    lists[mark: slot] = 1
    uses.tell(of: slot, false)
  }

  mutating func removed(_ slot: Int32) {
    if hand == slot { hand = lists.newer(than: slot) }
    lists.remove(slot)
  }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    guard var candidate = hand ?? lists.oldest(0) else { return nil }
    while lists[mark: candidate] != 0, let next = lists.newer(than: candidate) ?? lists.oldest(0) {
      lists[mark: candidate] = 0
      uses.tell(of: candidate, true)
      candidate = next
    }
    hand = lists.newer(than: candidate)
    lists.remove(candidate)
    return candidate
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? {
    if let hand, !slots.contains(hand) { return "the hand is at \(hand), which is free" }
    return lists.flaw(holding: slots)
  }
  #endif
}
