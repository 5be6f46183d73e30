/// Evicts the entry that has not been used for the longest time.
///
/// The least recently used page of P. J. Denning, The working set model for program behavior, CACM 11(5), 1968.
/// Unchanged; an overwrite is a use.
///
/// A doubly linked list in an array: `links[0]` is the list's head and stands before the newest and after the oldest;
/// slot `n` has the links at `n + 1`.
@usableFromInline
package struct LeastRecentlyUsed: EvictionPolicy {
  @usableFromInline
  package struct Link: Sendable {
    @usableFromInline var newer: Int32
    @usableFromInline var older: Int32
    @usableFromInline var hash: UInt32

    @inlinable
    init(newer: Int32 = 0, older: Int32 = 0, hash: UInt32 = 0) {
      self.newer = newer
      self.older = older
      self.hash = hash
    }
  }

  @usableFromInline package var links: ContiguousArray<Link>

  @inlinable
  package init() { links = [Link()] }

  @inlinable
  package mutating func inserted(_ slot: Int32, hash: UInt32 = 0) {
    let position = Int(slot) + 1
    links.grow(to: position + 1, repeating: Link())
    links[position].hash = hash
    unsafe links.withUnsafeMutableBufferPointer { unsafe Self.link(position, $0) }
  }

  @inlinable
  package func hash(_ slot: Int32) -> UInt32 { links[Int(slot + 1)].hash }

  @inlinable
  package mutating func touched(_ slot: Int32) {
    let position = Int(slot) + 1
    guard links[0].older != position else { return }
    // On the way of every hit: in one go, so that the array is asked once whether it is shared.
    unsafe links.withUnsafeMutableBufferPointer { links in
      unsafe Self.unlink(position, links)
      unsafe Self.link(position, links)
    }
  }

  @inlinable
  package mutating func removed(_ slot: Int32) {
    unsafe links.withUnsafeMutableBufferPointer { unsafe Self.unlink(Int(slot) + 1, $0) }
  }

  @inlinable
  package var victim: Int32? {
    let oldest = links[0].newer
    return oldest == 0 ? nil : oldest - 1
  }

  @inlinable
  package mutating func evict() -> Int32? {
    guard let victim else { return nil }
    removed(victim)
    return victim
  }

  // The head's `older` is the newest entry and its `newer` the oldest: the list is a ring through the head.
  @inlinable
  package static func link(_ position: Int, _ links: UnsafeMutableBufferPointer<Link>) {
    let newest = unsafe links[0].older
    unsafe links[position].newer = 0
    unsafe links[position].older = newest
    unsafe links[Int(newest)].newer = Int32(truncatingIfNeeded: position)
    unsafe links[0].older = Int32(truncatingIfNeeded: position)
  }

  @inlinable
  package static func unlink(_ position: Int, _ links: UnsafeMutableBufferPointer<Link>) {
    let (newer, older) = unsafe (links[position].newer, links[position].older)
    unsafe links[Int(newer)].older = older
    unsafe links[Int(older)].newer = newer
  }
}

extension LeastRecentlyUsed {
  /// Every slot, the one first that was not used for the longest time.
  package var fromOldest: [Int32] {
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
  package func flaw(holding expected: Set<Int32>) -> String? {
    let slots = fromOldest
    for slot in slots where links[Int(links[Int(slot + 1)].newer)].older != slot + 1 {
      return "slot \(slot) is linked one way"
    }
    return slots.count == expected.count && Set(slots) == expected
      ? nil : "holds \(slots.sorted()) in place of \(expected.sorted())"
  }
  #endif
}
