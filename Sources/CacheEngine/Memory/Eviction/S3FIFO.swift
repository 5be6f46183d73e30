import CacheCore

/// Lets new entries pass through a small queue and keeps those that were used there in a large one.
///
/// J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, FIFO queues are all you need for cache eviction, SOSP 2023: a
/// small queue of a tenth, a main queue with reinsertion, and a ghost queue, as long as the main one, of what left the
/// small queue unused. Two bits of frequency; what was used twice moves from small to main, where it starts again from
/// nothing, and main gives up an entry first if it is full (algorithm 1).
///
/// Changed: the queues' shares are of the entries that are there and not of a capacity in bytes, and the ghosts are
/// hashes, so that a removed key is not kept alive.
///
/// libcachesim's `S3FIFO` is another policy since December 2024, as the head of its file says: until the first
/// eviction what finds the small queue full goes into the main one, and main is asked for an entry only before the small
/// queue is walked. With these two changes the hits here are its hits, to the last request.
package struct S3FIFO: EvictionPolicy {
  private static let small = 0
  private static let main = 1

  private var lists = SlotLists(2)
  private var ghosts = GhostQueue()
  let uses = SlotUses.ofMarks()
  /// The key that is arriving was evicted a short while ago.
  private var isReturning = false

  mutating func arriving(_ hash: UInt32) { isReturning = ghosts.remove(hash) }

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: isReturning ? Self.main : Self.small)
    isReturning = false
    uses.insert(slot)
  }

  mutating func touched(_ slot: Int32) {
    lists[mark: slot] = min(3, lists[mark: slot] + 1)
    if lists[mark: slot] == 3 { uses.tell(of: slot, false) }
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    let total = lists.total
    let smallShare = total / 10
    while true {
      if lists.count(Self.main) <= total - smallShare, let slot = lists.oldest(Self.small) {
        if lists[mark: slot] > 1 {
          lists[mark: slot] = 0
          uses.tell(of: slot, true)
          lists.move(slot, to: Self.main)
        } else {
          lists.remove(slot)
          ghosts.append(lists.hash(slot))
          ghosts.trim(to: total - smallShare)
          return slot
        }
      } else if let slot = lists.oldest(Self.main) {
        if lists[mark: slot] > 0 {
          lists[mark: slot] -= 1
          uses.tell(of: slot, true)
          lists.move(slot, to: Self.main)
        } else {
          lists.remove(slot)
          return slot
        }
      } else {
        return nil
      }
    }
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? {
    for slot in slots where lists[mark: slot] > 3 { return "slot \(slot) has a frequency above 3" }
    return lists.flaw(holding: slots)
  }
  #endif
}
