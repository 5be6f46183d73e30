import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Synchronization

/// A server that does one thing after the other, as Redis does, on virtual time.
///
/// It tells changes as with `CLIENT TRACKING ON BCAST NOLOOP`: each to every client but the one that made it, whoever has a
/// copy.
final class VirtualServer: Sendable {
  /// What things take, as measured; see the article *Growth*.
  struct Costs: Sendable {
    /// From a client to the server and back, without the work there.
    var roundTrip = Duration.microseconds(500)
    /// A command, or a transaction.
    var command = Duration.microseconds(10)
    /// To tell one client of one change.
    var push = Duration.microseconds(3)
  }

  struct Load: Sendable {
    var commands = 0
    /// Changes told, once for each who was told.
    var pushes = 0
    var busy = Duration.zero
  }

  fileprivate struct State {
    var names = SimulatedNames()
    var listeners: [(client: Int, prefixes: [[UInt8]], feed: InvalidationFeed)] = []
    var told: [Int: Int] = [:]
    /// When it has done all that it was asked so far.
    var free: CacheInstant
    var load = Load()
  }

  let costs: Costs
  let time: VirtualTime
  fileprivate let state: Mutex<State>

  init(_ costs: Costs, _ time: VirtualTime) {
    self.costs = costs
    self.time = time
    state = Mutex(State(free: time.now))
  }

  var load: Load { state.withLock { $0.load } }

  func client(_ number: Int) -> VirtualClient { VirtualClient(server: self, number: number) }

  /// How many changes a client was told, that it hears included.
  func told(_ client: Int) -> Int { state.withLock { $0.told[client] ?? 0 } }

  /// Waits until it is a command's turn, and takes the time that it takes.
  fileprivate func serve() async throws {
    let now = time.now
    let end = state.withLock { state in
      state.free = max(state.free, now.advanced(by: costs.roundTrip / 2)).advanced(by: costs.command)
      state.load.commands += 1
      state.load.busy += costs.command
      return state.free
    }
    try await time.sleep(until: end.advanced(by: costs.roundTrip / 2), tolerance: nil)
  }

  fileprivate func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]], by client: Int
  ) -> [[UInt8]?]? {
    let now = time.now
    let (answer, messages) = state.withLock { state -> ([[UInt8]?]?, [(InvalidationFeed, [[UInt8]])]) in
      let (answer, changed) = state.names.commit(changes, if: conditions, reading: names, now)
      let messages = state.listeners.compactMap { listener -> (InvalidationFeed, [[UInt8]])? in
        let heard = changed.filter { name in listener.prefixes.contains { name.starts(with: $0) } }
        guard listener.client != client, !heard.isEmpty else { return nil }
        state.told[listener.client, default: 0] += heard.count
        state.load.pushes += heard.count
        return (listener.feed, heard)
      }
      // The next command waits until all of them were told.
      let telling = costs.push * messages.count
      state.free = state.free.advanced(by: telling)
      state.load.busy += telling
      return (answer, messages)
    }
    for (feed, names) in messages { feed.send(.names(names)) }
    return answer
  }
}

/// A process's connection to a ``VirtualServer``.
final class VirtualClient: SharedStore, InvalidationBus {
  let server: VirtualServer
  let number: Int
  var name: String { "server" }

  fileprivate init(server: VirtualServer, number: Int) {
    self.server = server
    self.number = number
  }

  func timeSinceEpoch() async throws -> Duration {
    try await server.serve()
    return server.time.timeSinceEpoch
  }

  func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] {
    try await server.serve()
    let now = server.time.now
    return server.state.withLock { state in names.map { state.names.value($0, now) } }
  }

  func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    try await server.serve()
    return server.commit(changes, if: conditions, reading: names, by: number)
  }

  func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let feed = InvalidationFeed()
    server.state.withLock { state in
      state.listeners.append((number, prefixes, feed))
      state.told[number, default: 0] += 1
    }
    feed.send(.everything(.connected))
    return feed
  }
}
