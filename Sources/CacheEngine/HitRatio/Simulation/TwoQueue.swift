import CacheMemory
import CacheCore

/// Lets new entries pass through a queue and orders by use those that came again after they had left it.
///
/// T. Johnson, D. Shasha, 2Q: a low overhead high performance buffer management replacement algorithm, VLDB 1994, the
/// full version: a quarter of the entries in `A1in`, half as many ghosts as entries in `A1out`. Unchanged. A measure
/// for the other policies, not a choice of a memory level.
struct TwoQueue: EvictionPolicy {
  private static let incoming = 0
  private static let used = 1

  private var lists = SlotLists(2)
  private var ghosts = GhostQueue()
  private var isReturning = false

  mutating func arriving(_ hash: UInt32) { isReturning = ghosts.remove(hash) }

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: isReturning ? Self.used : Self.incoming)
    isReturning = false
  }

  mutating func touched(_ slot: Int32) {
    if lists.list(slot) == Self.used { lists.move(slot, to: Self.used) }
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    let total = lists.total
    if lists.count(Self.incoming) > max(1, total / 4) || lists.count(Self.used) == 0 {
      guard let oldest = lists.oldest(Self.incoming) else { return nil }
      lists.remove(oldest)
      ghosts.append(lists.hash(oldest))
      ghosts.trim(to: max(1, total / 2))
      return oldest
    }
    guard let oldest = lists.oldest(Self.used) else { return nil }
    lists.remove(oldest)
    return oldest
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
