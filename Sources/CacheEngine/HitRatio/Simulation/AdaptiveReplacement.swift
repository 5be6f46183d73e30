import CacheMemory
import CacheCore

/// Balances what was used once and what was used twice by which of their ghosts return.
///
/// N. Megiddo, D. S. Modha, ARC: a self-tuning, low overhead replacement cache, FAST 2003. Changed: the capacity is the
/// number of entries that are there when room is needed. A measure for the other policies, not a choice of a memory
/// level.
struct AdaptiveReplacement: EvictionPolicy {
  private static let once = 0
  private static let often = 1

  private var lists = SlotLists(2)
  private var onceGhosts = GhostQueue()
  private var oftenGhosts = GhostQueue()
  /// The size that the list of what was used once should have.
  private var target = 0.0
  private var returns: Returning = .no

  private enum Returning { case no, fromOnce, fromOften }

  mutating func arriving(_ hash: UInt32) {
    let (once, often) = (Double(onceGhosts.count), Double(oftenGhosts.count))
    if onceGhosts.remove(hash) {
      target = min(Double(lists.total), target + max(1, often / once))
      returns = .fromOnce
    } else if oftenGhosts.remove(hash) {
      target = max(0, target - max(1, once / often))
      returns = .fromOften
    } else {
      returns = .no
    }
  }

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: returns == .no ? Self.once : Self.often)
    returns = .no
  }

  mutating func touched(_ slot: Int32) { lists.move(slot, to: Self.often) }
  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    let capacity = lists.total
    let once = lists.count(Self.once)
    if returns == .no {
      if once + onceGhosts.count >= capacity {
        guard once < capacity else { return take(Self.once) }
        onceGhosts.trim(to: capacity - once - 1)
      } else {
        oftenGhosts.trim(to: 2 * capacity - once - onceGhosts.count - lists.count(Self.often) - 1)
      }
    }
    let isOnceTooLong =
      Double(once) > target || (returns == .fromOften && Double(once) == target) || lists.count(Self.often) == 0
    if once > 0, isOnceTooLong, let slot = take(Self.once) {
      onceGhosts.append(lists.hash(slot))
      return slot
    }
    guard let slot = take(Self.often) else { return nil }
    oftenGhosts.append(lists.hash(slot))
    return slot
  }

  private mutating func take(_ list: Int) -> Int32? {
    guard let oldest = lists.oldest(list) else { return nil }
    lists.remove(oldest)
    return oldest
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
