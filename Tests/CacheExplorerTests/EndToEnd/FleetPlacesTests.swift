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
      // It hangs up, or has been silent for too long by then, on a busy machine.
      [.disconnected, .timedOut].contains(($0 as? CacheError)?.code)
    }
  }

  @Test("an app that comes when all places are taken has that of one that is gone, which comes back when there is room")
  func reused() async throws {
    let folder = try TemporaryFolder()
    let serve = { [path = folder.url.path()] (name: String) in
      try CacheInspector.serve(MemoryCacheLevel<String, Data>(), at: "\(path)/\(name)", name: name)
    }
    let one = try serve("one")
    var two = try serve("two")
    let fleet = try await AttachedFleet.open([folder.url.path()], atMost: 2, buffer: EventBuffer())
    let following = Task {
      await fleet.follow(
        Follower(post: { _ in }, use: { _ in }, pause: { try await ContinuousClock().sleep(for: $0 / 50) }))
    }
    func wait(for names: [String]) async throws {
      try await turns {
        for case .fleet(let sheet) in await fleet.refresh() {
          return sheet.apps.map(\.name) == names && sheet.apps.allSatisfy { $0.ended == nil }
        }
        return false
      }
    }
    try await wait(for: ["one", "two"])
    two.close()
    let three = try serve("three")
    try await wait(for: ["one", "three"])
    two = try serve("two")
    three.close()
    try await wait(for: ["one", "two"])
    following.cancel()
    await following.value
    two.close()
    one.close()
  }
}
