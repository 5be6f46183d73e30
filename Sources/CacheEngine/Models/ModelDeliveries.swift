/// What observers are still to be told, in the order of the commits.
struct ModelDeliveries: Sendable {
  struct Delivery: Sendable {
    var calls: [(observers: [ModelGraph.ObserverID], value: (any Sendable)?)] = []
    var changes: ModelChanges?
    var listeners: [ModelGraph.ObserverID] = []
    var completion: (@Sendable () -> Void)?

    var isEmpty: Bool { calls.isEmpty && listeners.isEmpty && completion == nil }
  }

  private var line = DeliveryLine<Delivery>()

  mutating func append(_ delivery: Delivery) {
    if !delivery.isEmpty { line.append(delivery) }
  }

  /// Whether the caller is to deliver now.
  mutating func begin() -> Bool { line.begin() }

  /// The next delivery; after the last one the caller is done.
  mutating func next() -> Delivery? { line.next() }
}
