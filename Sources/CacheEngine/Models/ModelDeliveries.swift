import CacheCore

/// What observers are still to be told, in the order of the commits.
struct ModelDeliveries: Sendable {
  typealias Line = DeliveryLine<Delivery>

  struct Delivery: Sendable {
    var calls: [(observers: [ModelGraph.ObserverID], value: (any Sendable)?)] = []
    var changes: ModelChanges?
    var listeners: [ModelGraph.ObserverID] = []
    var completions: [@Sendable () -> Void] = []
    /// What was folded, once something was; the calls stand here then, too.
    private var folded: Folded?

    init(
      calls: [(observers: [ModelGraph.ObserverID], value: (any Sendable)?)], changes: ModelChanges?,
      listeners: [ModelGraph.ObserverID], completion: (@Sendable () -> Void)?
    ) {
      self.calls = calls
      self.changes = changes
      self.listeners = listeners
      if let completion { completions.append(completion) }
    }

    var isEmpty: Bool { calls.isEmpty && listeners.isEmpty && completions.isEmpty }

    /// Tells of a later commit together with this one: each observer hears of its last state only.
    mutating func fold(_ later: Delivery) {
      var folded = self.folded.take() ?? Folded(self)
      folded.add(later)
      self.folded = folded
      completions += later.completions
    }

    /// The delivery as it is to be told.
    var unfolded: Delivery {
      guard let folded else { return self }
      var delivery = self
      delivery.calls = folded.states.map { ([$0.key], $0.value) }
      delivery.changes = folded.places.isEmpty ? nil : ModelChanges(changes: folded.changes.compactMap(\.self))
      delivery.listeners = folded.listeners.sorted()
      return delivery
    }
  }

  private struct Folded: Sendable {
    var states: [ModelGraph.ObserverID: (any Sendable)?] = [:]
    var changes: [ModelChanges.Change?] = []
    var places: [ModelKey: Int] = [:]
    var listeners: Set<ModelGraph.ObserverID> = []

    init(_ first: Delivery) { add(first) }

    mutating func add(_ delivery: Delivery) {
      for call in delivery.calls {
        for id in call.observers { states.updateValue(call.value, forKey: id) }
      }
      listeners.formUnion(delivery.listeners)
      for change in delivery.changes?.changes ?? [] {
        let place = places[change.key] ?? changes.count
        places[change.key] = place
        if place == changes.count { changes.append(nil) }
        changes[place] = changes[place].map { $0.followed(by: change) } ?? change
      }
    }
  }

  private var line = Line()

  /// Leaves a delivery in the line, and returns who may deliver it.
  mutating func append(_ delivery: Delivery) -> Line.Writer {
    let writer = line.writer()
    if !delivery.isEmpty { line.append(delivery, of: writer) { $0.fold(delivery) } }
    return writer
  }

  mutating func begin(_ writer: Line.Writer) -> Line.Step { line.begin(writer) }

  mutating func next() -> Line.Step { line.next() }
}

extension ModelChanges.Change {
  /// What two changes of one model come to; a model that came and left has left.
  fileprivate func followed(by later: Self) -> Self {
    let kind: Kind =
      switch (kind, later.kind) {
      case (.inserted, .updated): .inserted
      case (.removed, .inserted): .updated
      default: later.kind
      }
    return Self(key: key, kind: kind, oldValue: oldValue, newValue: later.newValue)
  }
}
