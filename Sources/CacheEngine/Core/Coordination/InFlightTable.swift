/// Who waits for which load, as a plain value.
///
/// A *flight* is one load of one key with everyone who waits for it. The table decides; its owner acts on the answers
/// outside the lock.
@usableFromInline
struct InFlightTable<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
  @usableFromInline typealias FlightID = UInt64
  @usableFromInline typealias WaiterID = UInt64

  @usableFromInline
  enum Joined {
    /// The caller is the first: begin a load.
    case leads(Flight)
    /// The caller waits for a load under way, one of so many.
    case follows(Flight, callers: Int)
  }

  @usableFromInline
  struct Departure {
    @usableFromInline var waiter: Waiter
    @usableFromInline var flight: FlightID
    @usableFromInline var remaining: Int
    /// Nobody waits any more: cancel this load, once it is known.
    @usableFromInline var abandoned: Task<Void, any Error>?

    @inlinable
    init(waiter: Waiter, flight: FlightID, remaining: Int, abandoned: Task<Void, any Error>?) {
      self.waiter = waiter
      self.flight = flight
      self.remaining = remaining
      self.abandoned = abandoned
    }
  }

  /// A load, and who waits for it.
  ///
  /// An object, so that it is changed where it lies and never copied. Nothing looks for two changes at once, since whoever changes
  /// it has the lock of the table's owner, or is the end of its load, after which nobody looks at who waited.
  @usableFromInline
  final class Flight: AwaitedWork, @unchecked Sendable {  // the table's owner guards it, as the table
    /// Where the table has it.
    @usableFromInline enum Home: Sendable { case current, detached, nowhere }

    @usableFromInline let id: FlightID
    @usableFromInline let leaderID: WaiterID
    /// The first caller: most loads have no other.
    ///
    /// Not optional, since to release an optional of a generic type is to look up what it is.
    @safe @exclusivity(unchecked) @usableFromInline var first: Waiter
    /// The first caller has not left.
    @safe @exclusivity(unchecked) @usableFromInline var isLed = true
    /// The first caller has its answer, although it did not wait.
    @safe @exclusivity(unchecked) @usableFromInline var isAnswered = false
    /// The others in the order of their numbers; whoever has left is `nil`, until half of them are.
    @safe @exclusivity(unchecked) @usableFromInline var followers: [(id: WaiterID, waiter: Waiter?)] = []
    @safe @exclusivity(unchecked) @usableFromInline var waiting = 1
    @safe @exclusivity(unchecked) @usableFromInline var load: Task<Void, any Error>?
    /// The highest priority of those who joined, as a number: the type has no size that is known here.
    @safe @exclusivity(unchecked) @usableFromInline var urgency: UInt8
    @safe @exclusivity(unchecked) @usableFromInline var home = Home.current
    /// Where it is among those that new callers join, so that its key need not be looked up again.
    @safe @exclusivity(unchecked) @usableFromInline var place = KeyedSlots<Key, Flight>.Place(slot: -1, hash: 0)
    /// Knows who waits for it, for whoever looks for a circle.
    @usableFromInline let keeper: (any FlightKeeper)?

    @inlinable
    init(id: FlightID, leader: Waiter, id leaderID: WaiterID, urgency: UInt8, keeper: (any FlightKeeper)?) {
      self.id = id
      first = leader
      self.leaderID = leaderID
      self.urgency = urgency
      self.keeper = keeper
    }

    /// The first caller, until it leaves.
    @inlinable var leader: Waiter? { isLed ? first : nil }

    /// Nobody waits for it any more.
    @inlinable var isOver: Bool { home == .nowhere }

    @usableFromInline
    override func waiting(isEverybodyMeant: Bool) -> [NumberedWaiting] {
      keeper?.waiting(for: self, isEverybodyMeant: isEverybodyMeant) ?? []
    }

    /// All who came, in the order of their numbers; whoever has left is `nil`.
    @usableFromInline var waiters: [(id: WaiterID, waiter: Waiter?)] {
      let place = followers.firstIndex { $0.id > leaderID } ?? followers.endIndex
      return followers[..<place] + [(leaderID, leader)] + followers[place...]
    }

    /// How many wait for it now.
    @inlinable
    func add(_ id: WaiterID, _ waiter: Waiter) -> Int {
      // Numbers are drawn before the lock is taken, so that one may come a little late.
      var place = followers.count
      while place > 0, followers[place - 1].id > id { place -= 1 }
      followers.insert((id, waiter), at: place)
      waiting += 1
      return waiting
    }

    /// `nil` if the caller does not wait for this one.
    @inlinable
    func leave(_ id: WaiterID, _ steps: inout Int) -> Departure? {
      guard let waiter = id == leaderID ? leader : takeFollower(id, &steps) else { return nil }
      if id == leaderID { isLed = false }
      waiting -= 1
      if waiting * 2 < followers.count {
        steps += followers.count
        followers.removeAll { $0.waiter == nil }
      }
      return Departure(waiter: waiter, flight: self.id, remaining: waiting, abandoned: waiting == 0 ? load : nil)
    }

    @inlinable
    func takeFollower(_ id: WaiterID, _ steps: inout Int) -> Waiter? {
      var (first, end) = (0, followers.count)
      while first < end {
        steps += 1
        let middle = (first + end) / 2
        if followers[middle].id < id { first = middle + 1 } else { end = middle }
      }
      guard first < followers.count, followers[first].id == id else { return nil }
      return followers[first].waiter.take()
    }
  }

  /// The flights that new callers of a key join.
  @usableFromInline var current = KeyedSlots<Key, Flight>()
  /// Those that nobody joins any more, and some still wait for.
  @usableFromInline var detached: [FlightID: Flight] = [:]
  /// For which of those somebody waits.
  @usableFromInline var homes: [WaiterID: FlightID] = [:]
  /// How many places were looked at for those who left, ever: that must not grow with how many wait.
  @usableFromInline var steps = 0
  @usableFromInline var lastID: FlightID = 0

  @inlinable
  init() {}

  @inlinable var isEmpty: Bool { current.isEmpty && detached.isEmpty && homes.isEmpty }

  @inlinable
  mutating func join(
    _ key: Key, id: WaiterID, waiter: Waiter, urgency: UInt8 = 0, keeper: (any FlightKeeper)? = nil
  ) -> Joined {
    let (flight, isNew) = flight(of: key, id, waiter, urgency, keeper)
    return isNew ? .leads(flight) : .follows(flight, callers: flight.add(id, waiter))
  }

  /// Begins a load, unless one is under way that the caller can join.
  ///
  /// Who leads may begin to wait later.
  @inlinable
  mutating func lead(
    _ key: Key, id: WaiterID, waiter: Waiter, urgency: UInt8, keeper: (any FlightKeeper)?
  ) -> Flight? {
    let (flight, isNew) = flight(of: key, id, waiter, urgency, keeper)
    return isNew ? flight : nil
  }

  @inlinable
  @inline(__always)
  mutating func flight(
    of key: Key, _ id: WaiterID, _ waiter: Waiter, _ urgency: UInt8, _ keeper: (any FlightKeeper)?
  ) -> (Flight, isNew: Bool) {
    let next = lastID + 1
    let place = current.place(
      of: key, adding: Flight(id: next, leader: waiter, id: id, urgency: urgency, keeper: keeper))
    let flight = current[place]
    // A flight of an old number is one that was under way.
    guard flight.id == next else { return (flight, false) }
    flight.place = place
    lastID = next
    return (flight, true)
  }

  /// Who leads a load waits from now on; `false` if it has left already, or the load has ended.
  @inlinable
  func beginToWait(_ leader: Waiter, for flight: Flight) -> Bool {
    guard !flight.isOver, flight.isLed else { return false }
    flight.first = leader
    return true
  }

  /// Hands over the task of a load.
  ///
  /// Returns how urgent it is by now, or `nil` if nobody waits for it any more: then cancel it, or it has ended.
  @inlinable
  func attach(_ load: Task<Void, any Error>?, to flight: Flight) -> UInt8? {
    guard !flight.isOver else { return nil }
    flight.load = load
    return flight.urgency
  }

  /// Somebody in a hurry has joined: returns the load that has to hurry up, if it was slower and is known.
  @inlinable
  mutating func hasten(_ key: Key, to urgency: UInt8) -> Task<Void, any Error>? {
    guard let place = current.place(of: key), current[place].urgency < urgency else { return nil }
    current[place].urgency = urgency
    return current[place].load
  }

  /// A caller was cancelled.
  ///
  /// `nil` if it does not wait any more.
  @inlinable
  mutating func leave(_ id: WaiterID, key: Key) -> Departure? {
    // Almost always the current flight.
    if let place = current.place(of: key) {
      let flight = current[place]
      if let departure = flight.leave(id, &steps) {
        if departure.remaining == 0 {
          flight.home = .nowhere
          current.remove(at: place)
        }
        return departure
      }
    }
    guard let home = homes.removeValue(forKey: id), let flight = detached[home],
      let departure = flight.leave(id, &steps)
    else {
      return nil
    }
    if departure.remaining == 0 {
      flight.home = .nowhere
      detached[home] = nil
    }
    return departure
  }

  /// The load ended; `false` if it was abandoned.
  @inlinable
  mutating func finish(_ flight: Flight) -> Bool {
    switch flight.home {
    case .current: current.remove(at: flight.place)
    case .detached: forget(flight)
    case .nowhere: return false
    }
    flight.home = .nowhere
    return true
  }

  @usableFromInline
  mutating func forget(_ flight: Flight) {
    detached[flight.id] = nil
    for (id, _) in flight.waiters { homes[id] = nil }
  }

  /// Lets later callers of a key begin a load of their own: what is under way may be out of date.
  @inlinable
  mutating func detach(_ key: Key) {
    if let place = current.place(of: key), let flight = current.remove(at: place) { detach(flight) }
  }

  @inlinable
  mutating func detachAll() {
    for flight in current.payloads { detach(flight) }
    current = KeyedSlots()
  }

  @usableFromInline
  mutating func detach(_ flight: Flight) {
    flight.home = .detached
    detached[flight.id] = flight
    for (id, waiter) in flight.waiters where waiter != nil { homes[id] = flight.id }
  }
}

/// Keeps a table of flights behind a lock.
@usableFromInline
protocol FlightKeeper: AnyObject, Sendable {
  /// Those who wait for one of its flights now, those included, if asked for, who do nothing that others wait for.
  func waiting(for flight: AwaitedWork, isEverybodyMeant: Bool) -> [NumberedWaiting]
}
