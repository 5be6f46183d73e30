/// What observers are still to be told, in the order of the commits.
///
/// One thread at a time delivers, whichever came first; the others leave theirs in the line and go on. An observer that
/// stores does the same, so calls are never nested and nobody waits.
struct ModelDeliveries: Sendable {
  struct Delivery: Sendable {
    var calls: [(observers: [ModelGraph.ObserverID], value: (any Sendable)?)] = []
    var changes: ModelChanges?
    var listeners: [ModelGraph.ObserverID] = []
    var completion: (@Sendable () -> Void)?

    var isEmpty: Bool { calls.isEmpty && listeners.isEmpty && completion == nil }
  }

  private var line: [Delivery] = []
  private var first = 0
  private var isDelivering = false

  mutating func append(_ delivery: Delivery) {
    if !delivery.isEmpty { line.append(delivery) }
  }

  /// Whether the caller is to deliver now.
  mutating func begin() -> Bool {
    guard !isDelivering, first < line.count else { return false }
    isDelivering = true
    return true
  }

  /// The next delivery; after the last one the caller is done.
  mutating func next() -> Delivery? {
    guard first < line.count else {
      line = []
      first = 0
      isDelivering = false
      return nil
    }
    defer {
      line[first] = Delivery()
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
