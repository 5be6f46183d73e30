/// Who waits for which load, as a plain value.
///
/// A *flight* is one load of one key with everyone who waits for it. The table decides; its owner acts on the answers
/// outside the lock.
@usableFromInline
struct InFlightTable<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
  @usableFromInline typealias FlightID = UInt64
  @usableFromInline typealias WaiterID = UInt64

  @usableFromInline
  enum Joined: Equatable {
    /// The caller is the first: begin a load under this number.
    case leads(FlightID)
    /// The caller waits for a load under way, one of so many.
    case follows(FlightID, callers: Int)
  }

  @usableFromInline
  struct Departure {
    @usableFromInline var waiter: Waiter
    @usableFromInline var flight: FlightID
    @usableFromInline var remaining: Int
    /// Nobody waits any more: cancel this load, once it is known.
    @usableFromInline var abandoned: Task<Void, Never>?

    @inlinable
    init(waiter: Waiter, flight: FlightID, remaining: Int, abandoned: Task<Void, Never>?) {
      self.waiter = waiter
      self.flight = flight
      self.remaining = remaining
      self.abandoned = abandoned
    }
  }

  @usableFromInline
  struct Flight: Sendable {
    @usableFromInline let id: FlightID
    @usableFromInline var waiters: [(id: WaiterID, waiter: Waiter)] = []
    @usableFromInline var load: Task<Void, Never>?
    /// The highest priority of those who joined.
    @usableFromInline var urgency: TaskPriority
    /// What asks for other values from within the load.
    @usableFromInline let making: ValueInTheMaking?

    @inlinable
    init(id: FlightID, urgency: TaskPriority, making: ValueInTheMaking?) {
      self.id = id
      self.urgency = urgency
      self.making = making
    }

    /// Its number, and how many wait for it now.
    @inlinable
    mutating func add(_ id: WaiterID, _ waiter: Waiter) -> (FlightID, callers: Int) {
      waiters.append((id, waiter))
      return (self.id, waiters.count)
    }

    /// `nil` if the caller does not wait for this one.
    @inlinable
    mutating func leave(_ id: WaiterID) -> Departure? {
      guard let place = waiters.firstIndex(where: { $0.id == id }) else { return nil }
      let waiter = waiters.remove(at: place).waiter
      return Departure(
        waiter: waiter, flight: self.id, remaining: waiters.count, abandoned: waiters.isEmpty ? load : nil)
    }
  }

  /// The flights that new callers of a key join.
  @usableFromInline var current: [Key: Flight] = [:]
  /// Those that nobody joins any more, and some still wait for.
  @usableFromInline var detached: [FlightID: Flight] = [:]
  @usableFromInline var lastID: FlightID = 0

  @inlinable
  init() {}

  @inlinable var isEmpty: Bool { current.isEmpty && detached.isEmpty }

  @inlinable
  mutating func join(
    _ key: Key, id: WaiterID, waiter: Waiter, urgency: TaskPriority = .medium,
    making: ValueInTheMaking? = nil
  ) -> Joined {
    // A flight of an old number is one that was under way.
    let next = lastID + 1
    let (flight, callers) = current[key, default: Flight(id: next, urgency: urgency, making: making)].add(id, waiter)
    guard flight == next else { return .follows(flight, callers: callers) }
    lastID = next
    return .leads(next)
  }

  /// Hands over the task of a load.
  ///
  /// Returns how urgent it is by now, or `nil` if nobody waits for it any more: then cancel it, or it has ended.
  @inlinable
  mutating func attach(_ load: Task<Void, Never>, to flight: FlightID, of key: Key) -> TaskPriority? {
    if let place = current.index(forKey: key), current.values[place].id == flight {
      current.values[place].load = load
      return current.values[place].urgency
    }
    guard let place = detached.index(forKey: flight) else { return nil }
    detached.values[place].load = load
    return detached.values[place].urgency
  }

  /// Somebody joined who is in a hurry: the load that has to make haste, if it was slower and is known.
  @inlinable
  mutating func hasten(_ key: Key, to urgency: TaskPriority) -> Task<Void, Never>? {
    guard let place = current.index(forKey: key), current.values[place].urgency < urgency else { return nil }
    current.values[place].urgency = urgency
    return current.values[place].load
  }

  /// A caller was cancelled.
  ///
  /// `nil` if it does not wait any more.
  @inlinable
  mutating func leave(_ id: WaiterID, key: Key) -> Departure? {
    // Almost always the current flight; a detached one has to be looked for.
    if let place = current.index(forKey: key), let departure = current.values[place].leave(id) {
      if departure.remaining == 0 { current.remove(at: place) }
      return departure
    }
    for flight in detached.keys {
      guard let departure = detached[flight]?.leave(id) else { continue }
      if departure.remaining == 0 { detached[flight] = nil }
      return departure
    }
    return nil
  }

  /// The load ended: everyone who waits for it.
  ///
  /// Empty if it was abandoned.
  @inlinable
  mutating func finish(_ flight: FlightID, of key: Key) -> [(id: WaiterID, waiter: Waiter)] {
    if let place = current.index(forKey: key), current.values[place].id == flight {
      return current.remove(at: place).value.waiters
    }
    return detached.removeValue(forKey: flight)?.waiters ?? []
  }

  /// Lets later callers of a key begin a load of their own: what is under way may be out of date.
  @inlinable
  mutating func detach(_ key: Key) {
    guard let flight = current.removeValue(forKey: key) else { return }
    detached[flight.id] = flight
  }

  @inlinable
  mutating func detachAll() {
    for flight in current.values { detached[flight.id] = flight }
    current = [:]
  }
}
