import CacheEngine
import CacheEngineInspector
import CacheEngineTesting
import Foundation
import Testing

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
}
