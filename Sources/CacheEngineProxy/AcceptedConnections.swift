#if Proxy
import NIOCore
import NIOHTTP1
import Synchronization

/// Connections that were accepted and that nobody has begun to answer.
///
/// SwiftNIO ends the process when such a connection is released unfinished, as those are that come while their listener closes.
final class AcceptedConnections: Sendable {
  typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

  private let state = Mutex((waiting: [ObjectIdentifier: Connection](), isOver: false))

  deinit { end() }

  /// Keeps a connection until it is taken.
  func add(_ connection: Connection) {
    let isLate = state.withLock { state in
      if !state.isOver { state.waiting[ObjectIdentifier(connection.channel)] = connection }
      return state.isOver
    }
    if isLate { Self.close(connection) }
  }

  /// Hands a connection over to who finishes it.
  func take(_ connection: Connection) {
    _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(connection.channel)) }
  }

  /// Closes what is not taken any more, and what still comes.
  func end() {
    let left = state.withLock { state in
      defer { state = ([:], true) }
      return Array(state.waiting.values)
    }
    for connection in left { Self.close(connection) }
  }

  private static func close(_ connection: Connection) {
    Task { try? await connection.executeThenClose { _, _ in } }
  }
}
#endif
