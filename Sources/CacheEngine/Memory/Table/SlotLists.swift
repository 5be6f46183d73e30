import CacheCore

/// Doubly linked lists of slot numbers in one array, from oldest to newest, in at most one of which each slot is.
///
/// The first nodes are the heads of the lists: each stands before the newest and after the oldest of its list. Slot
/// `n` has the node after the heads.
package struct SlotLists: Sendable {
  // What is on the way of every hit is always inlined: seen from outside the room, it would not be otherwise.

  private struct Node: BitwiseCopyable {
    var newer: Int32
    var older: Int32
    var hash: UInt32 = 0
  }

  /// The list that a slot is in, and what the policy notes of the slot: a visited bit, a frequency up to 15.
  private struct Note: BitwiseCopyable {
    static let inNone: UInt8 = 15
    private var bits: UInt8

    init(list: UInt8) { bits = list << 4 }

    var list: UInt8 {
      get { bits >> 4 }
      set { bits = newValue << 4 | mark }
    }
    var mark: UInt8 {
      get { bits & 15 }
      set { bits = bits & 0xf0 | newValue }
    }
  }

  private let nodes: UnsharedArray<Node>
  /// Of each slot; in a node they would take four bytes.
  private let notes = UnsharedArray(repeating: Note(list: Note.inNone), count: 0)
  /// The slots in all lists.
  package private(set) var total = 0
  private let heads: Int32

  package init(_ lists: Int) {
    heads = Int32(lists)
    nodes = UnsharedArray(repeating: Node(newer: 0, older: 0), count: lists)
    for list in 0..<lists { nodes[list] = Node(newer: Int32(list), older: Int32(list)) }
  }

  /// The head of a list counts it, where other nodes have a hash.
  @inline(__always)
  package func count(_ list: Int) -> Int { Int(nodes[list].hash) }
  @inline(__always)
  package func hash(_ slot: Int32) -> UInt32 { nodes[Int(slot &+ heads)].hash }
  @inline(__always)
  package func list(_ slot: Int32) -> Int { Int(notes[Int(slot)].list) }

  @inline(__always)
  package subscript(mark slot: Int32) -> UInt8 {
    get { notes[Int(slot)].mark }
    nonmutating set { notes[Int(slot)].mark = newValue }
  }

  @inline(__always)
  package func oldest(_ list: Int) -> Int32? { slot(at: nodes[list].newer) }
  package func newer(than slot: Int32) -> Int32? { self.slot(at: nodes[Int(slot + heads)].newer) }

  // A slot that is in no list has a place that is checked when it is appended; one that is in a list has had it, and the notes,
  // which are asked for its list, say so. What nodes name are nodes.

  /// Puts a slot that is in no list at the newest end of one.
  @inline(__always)
  package mutating func append(_ slot: Int32, hash: UInt32, to list: Int) {
    let position = Int(slot &+ heads)
    nodes.grow(to: position &+ 1, repeating: Node(newer: 0, older: 0))
    notes.grow(to: Int(slot) &+ 1, repeating: Note(list: Note.inNone))
    notes[Int(slot)] = Note(list: UInt8(truncatingIfNeeded: list))
    total &+= 1
    let nodes = unsafe nodes.start
    unsafe nodes[list].hash &+= 1
    unsafe nodes[position].hash = hash
    unsafe Self.link(position, list, nodes)
  }

  @inline(__always)
  package mutating func remove(_ slot: Int32) {
    let list = list(slot)
    assert(list < heads, "a slot that is in no list cannot leave one")
    let position = Int(slot &+ heads)
    notes[Int(slot)].list = Note.inNone
    total &-= 1
    let nodes = unsafe nodes.start
    unsafe nodes[list].hash &-= 1
    unsafe Self.unlink(position, nodes)
  }

  /// Makes a slot the newest of a list; its mark stays.
  @inline(__always)
  package mutating func move(_ slot: Int32, to list: Int) {
    let old = self.list(slot)
    assert(old < heads, "a slot that is in no list cannot be moved")
    let position = Int(slot &+ heads)
    if old != list { notes[Int(slot)].list = UInt8(truncatingIfNeeded: list) }
    let nodes = unsafe nodes.start
    unsafe nodes[old].hash &-= 1
    unsafe nodes[list].hash &+= 1
    unsafe Self.unlink(position, nodes)
    unsafe Self.link(position, list, nodes)
  }

  @inline(__always)
  private func slot(at position: Int32) -> Int32? { position < heads ? nil : position &- heads }

  @inline(__always)
  private static func link(_ position: Int, _ list: Int, _ nodes: UnsafeMutablePointer<Node>) {
    let newest = unsafe nodes[list].older
    unsafe nodes[position].newer = Int32(truncatingIfNeeded: list)
    unsafe nodes[position].older = newest
    unsafe nodes[Int(newest)].newer = Int32(truncatingIfNeeded: position)
    unsafe nodes[list].older = Int32(truncatingIfNeeded: position)
  }

  @inline(__always)
  private static func unlink(_ position: Int, _ nodes: UnsafeMutablePointer<Node>) {
    let (newer, older) = unsafe (nodes[position].newer, nodes[position].older)
    unsafe nodes[Int(newer)].older = older
    unsafe nodes[Int(older)].newer = newer
  }
}

extension SlotLists {
  /// The slots of a list, oldest first.
  package func slots(_ list: Int) -> [Int32] {
    var slots: [Int32] = []
    var next = oldest(list)
    while let slot = next {
      slots.append(slot)
      next = newer(than: slot)
    }
    return slots
  }

  #if DEBUG
  package func flaw(holding expected: Set<Int32>) -> String? {
    var seen: Set<Int32> = []
    for list in 0..<Int(heads) {
      let slots = slots(list)
      guard slots.count == count(list) else { return "list \(list) counts \(count(list)), holds \(slots.count)" }
      for slot in slots {
        guard self.list(slot) == list else { return "slot \(slot) is in list \(list) and says \(self.list(slot))" }
        let position = slot + heads
        guard nodes[Int(nodes[Int(position)].newer)].older == position else {
          return "slot \(slot) is linked one way"
        }
        guard seen.insert(slot).inserted else { return "slot \(slot) is in two lists" }
      }
    }
    return seen == expected ? nil : "holds \(seen.sorted()) in place of \(expected.sorted())"
  }
  #endif
}
