/// Deadlines, with the places in an index that they were set for, in a binary heap, soonest first.
struct DeadlineHeap: Sendable {
  private var items: [(deadline: Int64, slot: Int32)] = []

  var first: (deadline: Int64, slot: Int32)? { items.first }
  var count: Int { items.count }

  mutating func insert(_ deadline: Int64, _ slot: Int32) {
    items.append((deadline, slot))
    var child = items.count - 1
    while child > 0, items[(child - 1) / 2].deadline > items[child].deadline {
      items.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    guard let last = items.popLast(), !items.isEmpty else { return }
    items[0] = last
    var parent = 0
    while true {
      let left = parent * 2 + 1
      guard left < items.count else { return }
      let right = left + 1
      let least = right < items.count && items[right].deadline < items[left].deadline ? right : left
      guard items[least].deadline < items[parent].deadline else { return }
      items.swapAt(parent, least)
      parent = least
    }
  }
}
