import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineInspector
@testable import ExplorerCache
@testable import ExplorerState

/// Which apps have a place among those that are attached to at once.
@Suite(.timeLimit(.minutes(10)))
struct FleetPlacesTests {
  @Test("an app that does not answer is waited for while the others are connected to")
  func silent() async throws {
    let folder = try TemporaryFolder()
    let sockets = ["a", "b"].map { folder.url.appending(path: $0).path() }
    let listeners = try sockets.map { try UnixSocket.listen(at: $0) }
    let opening = Task { _ = try await AttachedFleet.open(sockets, buffer: EventBuffer()) }
    var inside: [Descriptor] = []
    for (count, listener) in listeners.enumerated() {
      try await turns {
        if case .somebody(let descriptor) = UnixSocket.accept(from: listener) { inside.append(descriptor) }
        return inside.count > count
      }
    }
    // Who was waited for alone has been given up by now.
    inside = []
    await #expect {
      try await opening.value
    } throws: {
      ($0 as? CacheError)?.code == .disconnected
    }
  }
}
