/// Evicts the entry that has not been used for the longest time.
///
/// The least recently used page of P. J. Denning, The working set model for program behavior, CACM 11(5), 1968.
/// Unchanged; an overwrite is a use.
///
/// A doubly linked list in an array: `links[0]` is the list's head and stands before the newest and after the oldest;
/// slot `n` has the links at `n + 1`.
@usableFromInline
struct LeastRecentlyUsed: EvictionPolicy {
  @usableFromInline
  struct Link: Sendable {
    @usableFromInline var newer: Int32
    @usableFromInline var older: Int32

    @inlinable
    init(newer: Int32, older: Int32) {
      self.newer = newer
      self.older = older
    }
  }

  @usableFromInline var links: ContiguousArray<Link>

  @inlinable
  init() { links = [Link(newer: 0, older: 0)] }

  @inlinable
  mutating func inserted(_ slot: Int32) {
    let position = slot + 1
    while Int(position) >= links.count { links.append(Link(newer: 0, older: 0)) }
    link(position)
  }

  @inlinable
  mutating func inserted(_ slot: Int32, hash: UInt32) { inserted(slot) }

  @inlinable
  mutating func touched(_ slot: Int32) {
    let position = slot + 1
    guard links[0].older != position else { return }
    unlink(position)
    link(position)
  }

  @inlinable
  mutating func removed(_ slot: Int32) { unlink(slot + 1) }

  @inlinable
  var victim: Int32? {
    let oldest = links[0].newer
    return oldest == 0 ? nil : oldest - 1
  }

  @inlinable
  mutating func evict() -> Int32? {
    guard let victim else { return nil }
    removed(victim)
    return victim
  }

  // The head's `older` is the newest entry and its `newer` the oldest: the list is a ring through the head.
  @inlinable
  mutating func link(_ position: Int32) {
    let newest = links[0].older
    links[Int(position)] = Link(newer: 0, older: newest)
    links[Int(newest)].newer = position
    links[0].older = position
  }

  @inlinable
  mutating func unlink(_ position: Int32) {
    let link = links[Int(position)]
    links[Int(link.newer)].older = link.older
    links[Int(link.older)].newer = link.newer
  }
}

extension LeastRecentlyUsed {
  /// Every slot, the one first that was not used for the longest time.
  var fromOldest: [Int32] {
    var slots: [Int32] = []
    var position = links[0].newer
    while position != 0 {
      slots.append(position - 1)
      position = links[Int(position)].newer
    }
    return slots
  }

  #if DEBUG
    @usableFromInline
    func flaw(holding expected: Set<Int32>) -> String? {
      let slots = fromOldest
      for slot in slots where links[Int(links[Int(slot + 1)].newer)].older != slot + 1 {
        return "slot \(slot) is linked one way"
      }
      return slots.count == expected.count && Set(slots) == expected
        ? nil : "holds \(slots.sorted()) in place of \(expected.sorted())"
    }
  #endif
}
