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

  /// A load, and who waits for it.
  ///
  /// An object, so that it is changed where it lies and never copied.
  @usableFromInline
  final class Flight: @unchecked Sendable {  // the table's owner guards it, as the table
    @usableFromInline let id: FlightID
    @usableFromInline let leaderID: WaiterID
    /// The first caller: most loads have no other.
    ///
    /// Not optional, since to release an optional of a generic type is to look up what it is.
    @usableFromInline var first: Waiter
    /// The first caller has not left.
    @usableFromInline var isLed = true
    /// The others in the order of their numbers; whoever has left is `nil`, until half of them are.
    @usableFromInline var followers: [(id: WaiterID, waiter: Waiter?)] = []
    @usableFromInline var waiting = 1
    @usableFromInline var load: Task<Void, Never>?
    /// The highest priority of those who joined, as a number: the type has no size that is known here.
    @usableFromInline var urgency: UInt8
    /// What those wait for who wait for the load.
    @usableFromInline let making: (any AwaitedWork)?

    @inlinable
    init(id: FlightID, leader: Waiter, id leaderID: WaiterID, urgency: UInt8, making: (any AwaitedWork)?) {
      self.id = id
      first = leader
      self.leaderID = leaderID
      self.urgency = urgency
      self.making = making
    }

    /// The first caller, until it leaves.
    @inlinable var leader: Waiter? { isLed ? first : nil }

    /// All who came, in the order of their numbers; whoever has left is `nil`.
    @usableFromInline var waiters: [(id: WaiterID, waiter: Waiter?)] {
      let place = followers.firstIndex { $0.id > leaderID } ?? followers.endIndex
      return followers[..<place] + [(leaderID, leader)] + followers[place...]
    }

    /// Its number, and how many wait for it now.
    @inlinable
    func add(_ id: WaiterID, _ waiter: Waiter) -> (FlightID, callers: Int) {
      // Numbers are drawn before the lock is taken, so that one may come a little late.
      var place = followers.count
      while place > 0, followers[place - 1].id > id { place -= 1 }
      followers.insert((id, waiter), at: place)
      waiting += 1
      return (self.id, waiting)
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
    _ key: Key, id: WaiterID, waiter: Waiter, urgency: UInt8 = 0,
    making: () -> (any AwaitedWork)? = { nil }
  ) -> Joined {
    let (place, isNew) = place(of: key, id, waiter, urgency, making)
    if isNew { return .leads(lastID) }
    let (flight, callers) = current[place].add(id, waiter)
    return .follows(flight, callers: callers)
  }

  /// Begins a load, unless one is under way that the caller can join.
  ///
  /// Who leads may begin to wait later.
  @inlinable
  mutating func lead(
    _ key: Key, id: WaiterID, waiter: Waiter, urgency: UInt8, making: () -> (any AwaitedWork)?
  ) -> FlightID? {
    place(of: key, id, waiter, urgency, making).isNew ? lastID : nil
  }

  @inlinable
  mutating func place(
    of key: Key, _ id: WaiterID, _ waiter: Waiter, _ urgency: UInt8, _ making: () -> (any AwaitedWork)?
  ) -> (KeyedSlots<Key, Flight>.Place, isNew: Bool) {
    let next = lastID + 1
    let place = current.place(
      of: key, adding: Flight(id: next, leader: waiter, id: id, urgency: urgency, making: making()))
    // A flight of an old number is one that was under way.
    let isNew = current[place].id == next
    if isNew { lastID = next }
    return (place, isNew)
  }

  /// Who leads a load waits from now on; `false` if it has left already, or the load has ended.
  @inlinable
  func beginToWait(_ leader: Waiter, for flight: FlightID, of key: Key) -> Bool {
    guard let flying = current[key].flatMap({ $0.id == flight ? $0 : nil }) ?? detached[flight], flying.isLed
    else {
      return false
    }
    flying.first = leader
    return true
  }

  /// What a caller waits for; `nil` if it does not wait for that load any more.
  func making(of flight: FlightID, key: Key) -> (any AwaitedWork)? {
    if let flying = current[key], flying.id == flight { return flying.making }
    return detached[flight]?.making
  }

  /// Those who wait for a load.
  func waiters(for making: any AwaitedWork, of key: Key) -> [(id: WaiterID, waiter: Waiter?)] {
    if let flying = current[key], flying.making === making { return flying.waiters }
    return detached.values.first { $0.making === making }?.waiters ?? []
  }

  /// Hands over the task of a load.
  ///
  /// Returns how urgent it is by now, or `nil` if nobody waits for it any more: then cancel it, or it has ended.
  @inlinable
  mutating func attach(_ load: Task<Void, Never>, to flight: FlightID, of key: Key) -> UInt8? {
    if let place = current.place(of: key), current[place].id == flight {
      current[place].load = load
      return current[place].urgency
    }
    guard let place = detached.index(forKey: flight) else { return nil }
    detached.values[place].load = load
    return detached.values[place].urgency
  }

  /// Somebody in a hurry has joined: returns the load that has to hurry up, if it was slower and is known.
  @inlinable
  mutating func hasten(_ key: Key, to urgency: UInt8) -> Task<Void, Never>? {
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
    if let place = current.place(of: key), let departure = current[place].leave(id, &steps) {
      if departure.remaining == 0 { current.remove(at: place) }
      return departure
    }
    guard let home = homes.removeValue(forKey: id), let departure = detached[home]?.leave(id, &steps) else {
      return nil
    }
    if departure.remaining == 0 { detached[home] = nil }
    return departure
  }

  /// The load ended: the flight with everyone who waits for it.
  ///
  /// `nil` if it was abandoned.
  @inlinable
  mutating func finish(_ flight: FlightID, of key: Key) -> Flight? {
    if let place = current.place(of: key), current[place].id == flight {
      return current.remove(at: place)
    }
    guard let ended = detached.removeValue(forKey: flight) else { return nil }
    for (id, _) in ended.waiters { homes[id] = nil }
    return ended
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
    detached[flight.id] = flight
    for (id, waiter) in flight.waiters where waiter != nil { homes[id] = flight.id }
  }
}
