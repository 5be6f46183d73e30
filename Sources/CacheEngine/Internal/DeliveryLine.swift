/// What is still to be delivered, in order.
///
/// One thread at a time delivers, whichever came first; the others leave theirs in the line and go on. Whoever is
/// delivered to does the same, so deliveries are never nested and nobody waits.
struct DeliveryLine<Item: Sendable>: Sendable {
  private var line: [Item?] = []
  private var first = 0
  private var isDelivering = false

  mutating func append(_ item: Item) { line.append(item) }

  /// Whether the caller is to deliver now.
  mutating func begin() -> Bool {
    guard !isDelivering, first < line.count else { return false }
    isDelivering = true
    return true
  }

  /// The next item; after the last one the caller is done.
  mutating func next() -> Item? {
    guard first < line.count else {
      line = []
      first = 0
      isDelivering = false
      return nil
    }
    defer {
      line[first] = nil
      first += 1
      // What is done with goes now and then, so that a line that never empties stays as long as what waits in it.
      if first > 64, first * 2 > line.count {
        line.removeFirst(first)
        first = 0
      }
    }
    return line[first]
  }
}
