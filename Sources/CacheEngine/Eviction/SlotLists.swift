/// Doubly linked lists of slot numbers in one array, from oldest to newest, in at most one of which each slot is.
///
/// The first nodes are the heads of the lists: each stands before the newest and after the oldest of its list. Slot
/// `n` has the node after the heads.
struct SlotLists: Sendable {
  struct Node: Sendable {
    var newer: Int32
    var older: Int32
    var hash: UInt32 = 0
    /// The list that the slot is in; -1 for none.
    var list: Int8 = -1
    /// What the policy notes of the slot: a visited bit, a frequency.
    var mark: UInt8 = 0
  }

  private var nodes: ContiguousArray<Node>
  private var counts: ContiguousArray<Int>
  /// The slots in all lists.
  private(set) var total = 0
  private let heads: Int32

  init(_ lists: Int) {
    heads = Int32(lists)
    nodes = ContiguousArray((0..<Int32(lists)).map { Node(newer: $0, older: $0) })
    counts = ContiguousArray(repeating: 0, count: lists)
  }

  func count(_ list: Int) -> Int { counts[list] }
  func hash(_ slot: Int32) -> UInt32 { nodes[Int(slot + heads)].hash }
  func list(_ slot: Int32) -> Int { Int(nodes[Int(slot + heads)].list) }

  subscript(mark slot: Int32) -> UInt8 {
    get { nodes[Int(slot + heads)].mark }
    set { nodes[Int(slot + heads)].mark = newValue }
  }

  func oldest(_ list: Int) -> Int32? { slot(at: nodes[list].newer) }
  func newer(than slot: Int32) -> Int32? { self.slot(at: nodes[Int(slot + heads)].newer) }

  /// Puts a slot that is in no list at the newest end of one.
  mutating func append(_ slot: Int32, hash: UInt32, to list: Int) {
    let position = Int(slot + heads)
    while nodes.count <= position { nodes.append(Node(newer: 0, older: 0)) }
    nodes[position].hash = hash
    nodes[position].mark = 0
    link(slot + heads, list)
  }

  mutating func remove(_ slot: Int32) { unlink(slot + heads) }

  /// Makes a slot the newest of a list; its mark stays.
  mutating func move(_ slot: Int32, to list: Int) {
    unlink(slot + heads)
    link(slot + heads, list)
  }

  private func slot(at position: Int32) -> Int32? { position < heads ? nil : position - heads }

  private mutating func link(_ position: Int32, _ list: Int) {
    let newest = nodes[list].older
    nodes[Int(position)].newer = Int32(list)
    nodes[Int(position)].older = newest
    nodes[Int(position)].list = Int8(list)
    nodes[Int(newest)].newer = position
    nodes[list].older = position
    counts[list] += 1
    total += 1
  }

  private mutating func unlink(_ position: Int32) {
    let node = nodes[Int(position)]
    nodes[Int(node.newer)].older = node.older
    nodes[Int(node.older)].newer = node.newer
    nodes[Int(position)].list = -1
    counts[Int(node.list)] -= 1
    total -= 1
  }
}

extension SlotLists {
  /// The slots of a list, oldest first.
  func slots(_ list: Int) -> [Int32] {
    var slots: [Int32] = []
    var next = oldest(list)
    while let slot = next {
      slots.append(slot)
      next = newer(than: slot)
    }
    return slots
  }

  #if DEBUG
    func flaw(holding expected: Set<Int32>) -> String? {
      var seen: Set<Int32> = []
      for list in counts.indices {
        let slots = slots(list)
        guard slots.count == counts[list] else { return "list \(list) counts \(counts[list]), holds \(slots.count)" }
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
