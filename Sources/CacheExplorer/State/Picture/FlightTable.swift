package import CacheEngine

/// The loads that pools have under way.
package struct FlightTable: Sendable {
  package struct ID: Hashable, Sendable {
    package var pool: String
    package var key: String
  }

  package struct Flight: Sendable {
    package var key: String
    /// How many wait for it.
    package var callers = 1
    package var since: CacheInstant
    package var leader: RequestID?
    /// The index of the level that was asked last.
    package var level: Int?
    /// The index of the operator that holds it up.
    package var heldBy: Int?
  }

  package private(set) var flights: [ID: Flight] = [:]
  private var led: [RequestID: ID] = [:]

  package mutating func began(_ id: ID, leader: RequestID?, at time: CacheInstant) {
    ended(id)
    guard flights.count < RequestTraffic.mostPending else { return }
    flights[id] = Flight(key: id.key, since: time, leader: leader)
    if let leader { led[leader] = id }
  }

  package mutating func changed(_ id: ID, callers: Int) { flights[id]?.callers = min(max(0, callers), 1_000_000) }

  package mutating func ended(_ id: ID) {
    guard let leader = flights.removeValue(forKey: id)?.leader else { return }
    led[leader] = nil
  }

  /// A request reached a level: if it leads a load, the load is there.
  package mutating func reached(_ level: Int, request: RequestID) {
    guard let id = led[request] else { return }
    flights[id]?.level = level
    flights[id]?.heldBy = nil
  }

  /// An operator holds up a request, or releases it.
  package mutating func held(by operation: Int?, request: RequestID) {
    guard let id = led[request] else { return }
    flights[id]?.heldBy = operation
  }

  mutating func forgetAll() { self = FlightTable() }
}
