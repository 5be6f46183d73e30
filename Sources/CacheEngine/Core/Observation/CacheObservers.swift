/// Tells several observers of every event, in order.
public struct CacheObservers: CacheObserver {
  package let observers: [any CacheObserver]

  /// Creates an observer that tells others.
  ///
  /// - Parameter observers: Whom to tell.
  public init(_ observers: [any CacheObserver]) { self.observers = observers }

  /// The switch of the only observer; among several, one always listens.
  public var attention: ObservationSwitch? { observers.count == 1 ? observers[0].attention : nil }

  /// Hands an event to every observer.
  public func record(_ event: CacheEvent) {
    for observer in observers { observer.record(event) }
  }
}

extension CacheObserver {
  /// A removal listener for a level that tells this observer of every entry that leaves.
  ///
  /// - Parameters:
  ///   - level: The name that the events carry.
  ///   - clock: The clock by which the events are timed.
  /// - Returns: The listener to create the level with.
  public func removals<Key: Hashable & Sendable>(
    from level: String, clock: any CacheClock = SystemClock()
  ) -> @Sendable (Removal<Key>) -> Void {
    let attention = attention
    return { removal in
      if let attention, !attention.isOn { return }
      record(
        CacheEvent(
          time: clock.now, request: .current, level: level, key: String(describing: removal.key),
          kind: .removed(removal.cause, cost: removal.cost),
          madeRoomFor: removal.madeRoomFor.map { String(describing: $0) }))
    }
  }
}
