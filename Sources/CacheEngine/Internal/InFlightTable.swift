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
    init(waiter: Waiter, flight: FlightID, remaining: Int) {
      self.waiter = waiter
      self.flight = flight
      self.remaining = remaining
    }
  }

  @usableFromInline
  struct Flight: Sendable {
    @usableFromInline let key: Key
    @usableFromInline var waiters: [(id: WaiterID, waiter: Waiter)]
    @usableFromInline var load: Task<Void, Never>?

    @inlinable
    init(key: Key, waiters: [(id: WaiterID, waiter: Waiter)]) {
      self.key = key
      self.waiters = waiters
    }
  }

  @usableFromInline var flights: [FlightID: Flight] = [:]
  /// The flight that a new caller of a key joins.
  @usableFromInline var current: [Key: FlightID] = [:]
  @usableFromInline var lastID: UInt64 = 0

  @inlinable
  init() {}

  @inlinable var isEmpty: Bool { flights.isEmpty && current.isEmpty }

  @inlinable
  mutating func nextWaiterID() -> WaiterID {
    lastID += 1
    return lastID
  }

  @inlinable
  mutating func join(_ key: Key, id: WaiterID, waiter: Waiter) -> Joined {
    if let flight = current[key] {
      flights[flight]?.waiters.append((id, waiter))
      return .follows(flight, callers: flights[flight]?.waiters.count ?? 0)
    }
    lastID += 1
    current[key] = lastID
    flights[lastID] = Flight(key: key, waiters: [(id, waiter)])
    return .leads(lastID)
  }

  /// Hands over the task of a load.
  ///
  /// Returns `false` if nobody waits for it any more: then cancel it, or it has ended.
  @inlinable
  mutating func attach(_ load: Task<Void, Never>, to flight: FlightID) -> Bool {
    guard flights[flight] != nil else { return false }
    flights[flight]?.load = load
    return true
  }

  /// A caller was cancelled.
  ///
  /// `nil` if it does not wait any more.
  @inlinable
  mutating func leave(_ id: WaiterID, key: Key) -> Departure? {
    // Almost always the current flight; a detached one has to be looked for.
    let candidates = current[key].map { [$0] } ?? []
    for flight in candidates + flights.keys.filter({ flights[$0]?.key == key }) {
      guard let position = flights[flight]?.waiters.firstIndex(where: { $0.id == id }),
        let waiter = flights[flight]?.waiters.remove(at: position).waiter
      else { continue }
      let remaining = flights[flight]?.waiters.count ?? 0
      var departure = Departure(waiter: waiter, flight: flight, remaining: remaining)
      if remaining == 0 {
        departure.abandoned = flights[flight]?.load
        drop(flight)
      }
      return departure
    }
    return nil
  }

  /// The load ended: everyone who waits for it.
  ///
  /// Empty if it was abandoned.
  @inlinable
  mutating func finish(_ flight: FlightID) -> [Waiter] {
    let waiters = flights[flight]?.waiters.map(\.waiter) ?? []
    drop(flight)
    return waiters
  }

  /// Lets later callers of a key begin a load of their own: what is under way may be out of date.
  @inlinable
  mutating func detach(_ key: Key) { current[key] = nil }

  @inlinable
  mutating func detachAll() { current = [:] }

  @inlinable
  mutating func drop(_ flight: FlightID) {
    guard let key = flights.removeValue(forKey: flight)?.key else { return }
    if current[key] == flight { current[key] = nil }
  }
}
