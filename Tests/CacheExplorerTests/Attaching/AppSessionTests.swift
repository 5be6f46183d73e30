import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineInspector
@testable import ExplorerCache

/// A connection to an app, and how it ends.
@Suite(.timeLimit(.minutes(10))) struct AppSessionTests {
  @Test("the connection to an app that has ended is let go of: one that restarts for days takes no more descriptors")
  func letsGo() async throws {
    let folder = try TemporaryFolder()
    let server = try CacheInspector.serve(
      MemoryCacheLevel<String, Data>(), at: folder.url.appending(path: "s").path())
    weak var client: InspectorClient?
    do {
      let session = try await AppSession.open(AppPlace(path: server.path), isAgain: false)
      session.begin(EventBuffer())
      client = session.client
    }
    server.close()
    try await turns { client == nil }
  }

  @Test("who leaves does not wait for an app that does not answer, as one that is stopped does not")
  func leaving() async throws {
    let folder = try TemporaryFolder()
    let silent = try UnixSocket.listen(at: folder.url.appending(path: "s").path())
    let opening = Task { try await AppSession.open(AppPlace(path: silent.path), isAgain: false) }
    opening.cancel()
    await #expect(throws: CancellationError.self) { _ = try await opening.value }
  }
}
