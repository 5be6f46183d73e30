#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

/// Who listens for changes on a connection, and what the server was asked to tell.
final class RedisFeeds: Sendable {
  private struct Listener: Sendable {
    let prefixes: [[UInt8]]
    let send: @Sendable (SharedInvalidation) -> Void
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    /// What this connection tells of.
    var connection: ObjectIdentifier?
    var tracked: Set<[UInt8]> = []
    /// Those who know that they hear.
    var told: Set<Int> = []
  }

  private let state = Mutex(State())

  var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

  func add(_ number: Int, _ prefixes: [[UInt8]], _ send: @escaping @Sendable (SharedInvalidation) -> Void) {
    state.withLock { $0.listeners[number] = Listener(prefixes: prefixes, send: send) }
  }

  func remove(_ number: Int) {
    // What goes with it dies outside of the lock.
    let gone = state.withLock { state in
      state.told.remove(number)
      return state.listeners.removeValue(forKey: number)
    }
    _ = gone
  }

  /// Whether anybody hears by a connection.
  func isTold(on connection: RedisConnection) -> Bool {
    state.withLock { $0.connection == ObjectIdentifier(connection) && !$0.told.isEmpty }
  }

  /// What the server has yet to be asked to tell on a connection.
  func missing(on connection: RedisConnection) -> [[UInt8]] {
    state.withLock { state in
      if state.connection != ObjectIdentifier(connection) {
        state.connection = ObjectIdentifier(connection)
        state.tracked = []
        state.told = []
      }
      return Array(Set(state.listeners.values.flatMap(\.prefixes)).subtracting(state.tracked))
    }
  }

  /// The server tells of these as well: who hears everything now is told so.
  func track(_ prefixes: [[UInt8]], on connection: RedisConnection) {
    let listeners = state.withLock { state -> [Listener] in
      guard state.connection == ObjectIdentifier(connection) else { return [] }
      state.tracked.formUnion(prefixes)
      let new = state.listeners.filter {
        !state.told.contains($0.key) && state.tracked.isSuperset(of: $0.value.prefixes)
      }
      state.told.formUnion(new.keys)
      return Array(new.values)
    }
    for listener in listeners { listener.send(.everything(.connected)) }
  }

  /// A connection has ended.
  func lose(_ connection: RedisConnection, lastHeard: CacheInstant) {
    let listeners = state.withLock { state -> [Listener] in
      guard state.connection == ObjectIdentifier(connection) else { return [] }
      defer {
        state.connection = nil
        state.told = []
      }
      return state.told.compactMap { state.listeners[$0] }
    }
    for listener in listeners { listener.send(.lost(lastHeard: lastHeard)) }
  }

  func tellEverything(_ cause: InvalidationCause) {
    let listeners = state.withLock { state in state.told.compactMap { state.listeners[$0] } }
    for listener in listeners { listener.send(.everything(cause)) }
  }

  func tell(_ names: [[UInt8]]) {
    let listeners = state.withLock { state in state.told.compactMap { state.listeners[$0] } }
    for listener in listeners {
      let matching = names.filter { name in listener.prefixes.contains { name.starts(with: $0) } }
      if !matching.isEmpty { listener.send(.names(matching)) }
    }
  }

  /// What was changed on this connection, which the server does not tell it.
  ///
  /// Whoever listens alone has made the change. Of several nobody knows which one did, so all are told.
  func tellOwn(_ names: [[UInt8]]) {
    let shared = state.withLock { state in
      state.listeners.count < 2
        ? []
        : names.filter { name in
          state.listeners.values.count { $0.prefixes.contains { name.starts(with: $0) } } > 1
        }
    }
    if !shared.isEmpty { tell(shared) }
  }
}
#endif
