/// Slot numbers in the order of their ranks, changed one by one.
///
/// Blocks of at most 512 sorted items: to find, insert or take out one costs two binary searches and a short move, and the
/// item at a place is found by counting blocks. So a list of a million keys changes at the price of what changed, and shows
/// a window at the price of the window.
package struct SortedSlots: Sendable {
  package struct Item: Sendable, Equatable {
    package var rank: Int64
    var slot: Int32
  }

  /// What decides between items of one rank; the slot number if it decides nothing.
  package typealias Tie = (_ left: Int32, _ right: Int32) -> Int

  private static let most = 512

  private var blocks: [[Item]] = []
  package private(set) var count = 0
  /// How many items were compared or moved so far, for tests: work is counted, not timed.
  package private(set) var work = 0

  package var isEmpty: Bool { count == 0 }
  package var indices: Range<Int> { 0..<count }

  /// The slot at a place in the order.
  package subscript(place: Int) -> Int {
    var rest = place
    for block in blocks {
      if rest < block.count { return Int(block[rest].slot) }
      rest -= block.count
    }
    preconditionFailure("place \(place) of \(count)")
  }

  /// The slots of a part of the order, and how many steps it took to gather them.
  package func window(_ places: Range<Int>) -> (slots: [Int], work: Int) {
    let places = places.clamped(to: indices)
    var found: [Int] = []
    found.reserveCapacity(places.count)
    var (start, work) = (0, 0)
    for block in blocks {
      guard found.count < places.count else { break }
      work += 1
      let first = max(0, places.lowerBound - start)
      for index in first..<max(first, min(places.upperBound - start, block.count)) {
        found.append(Int(block[index].slot))
      }
      start += block.count
    }
    return (found, work + found.count)
  }

  /// Puts in all items, sorted again.
  mutating func replace(_ items: [Item], reversed: Bool, tie: Tie) {
    let sorted = items.sorted { Self.precedes($0, $1, reversed, tie) }
    work += items.count
    count = sorted.count
    let size = Self.most / 2
    blocks = stride(from: 0, to: sorted.count, by: size).map {
      Array(sorted[$0..<min($0 + size, sorted.count)])
    }
  }

  package mutating func insert(_ item: Item, reversed: Bool, tie: Tie) {
    guard !blocks.isEmpty else {
      blocks = [[item]]
      return count = 1
    }
    let block = block(for: item, reversed, tie)
    let place = place(of: item, in: block, reversed, tie)
    work += blocks[block].count - place
    blocks[block].insert(item, at: place)
    count += 1
    if blocks[block].count > Self.most {
      let half = Array(blocks[block][(Self.most / 2)...])
      blocks[block].removeSubrange((Self.most / 2)...)
      blocks.insert(half, at: block + 1)
    }
  }

  /// Takes an item out; it must be there with this rank.
  @discardableResult
  package mutating func remove(_ item: Item, reversed: Bool, tie: Tie) -> Bool {
    guard let (block, place) = find(item, reversed, tie) else { return false }
    work += blocks[block].count - place
    blocks[block].remove(at: place)
    if blocks[block].isEmpty { blocks.remove(at: block) }
    count -= 1
    return true
  }

  /// Where an item stands.
  package mutating func place(of item: Item, reversed: Bool, tie: Tie) -> Int? {
    guard let (block, place) = find(item, reversed, tie) else { return nil }
    work += block
    return blocks[..<block].reduce(place) { $0 + $1.count }
  }

  private mutating func find(_ item: Item, _ reversed: Bool, _ tie: Tie) -> (block: Int, place: Int)? {
    guard !blocks.isEmpty else { return nil }
    let block = block(for: item, reversed, tie)
    let place = place(of: item, in: block, reversed, tie)
    guard place < blocks[block].count, blocks[block][place] == item else { return nil }
    return (block, place)
  }

  /// The first block whose last item does not stand before the item, or else the last one.
  private mutating func block(for item: Item, _ reversed: Bool, _ tie: Tie) -> Int {
    var (low, high) = (0, blocks.count - 1)
    while low < high {
      let middle = (low + high) / 2
      work += 1
      let isBefore = blocks[middle].last.map { Self.precedes($0, item, reversed, tie) } ?? false
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func place(of item: Item, in block: Int, _ reversed: Bool, _ tie: Tie) -> Int {
    var (low, high) = (0, blocks[block].count)
    while low < high {
      let middle = (low + high) / 2
      work += 1
      if Self.precedes(blocks[block][middle], item, reversed, tie) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Equal ranks stand in the order of the tie and then of the slots, however the ranks are turned.
  private static func precedes(_ left: Item, _ right: Item, _ reversed: Bool, _ tie: Tie) -> Bool {
    if left.rank != right.rank { return reversed ? left.rank > right.rank : left.rank < right.rank }
    let order = tie(left.slot, right.slot)
    if order != 0 { return reversed ? order > 0 : order < 0 }
    return left.slot < right.slot
  }
}
