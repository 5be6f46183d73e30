import CacheEngine
import CacheEngineTesting
import ExplorerState
import Foundation
import Synchronization
import Testing

@testable import CacheEngineInspector
@testable import ExplorerCache
@testable import ExplorerCommands

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

  @Test("an app that hung up and did not end is said to be the same when it is attached again")
  func same() async throws {
    let folder = try TemporaryFolder()
    let place = AppPlace(path: folder.url.appending(path: "s").path())
    func serve() throws -> InspectorServer {
      try CacheInspector.serve(MemoryCacheLevel<String, Data>(), at: place.path, name: "app")
    }
    let first = try serve()
    let session = try await AppSession.open(place, isAgain: false)
    session.begin(EventBuffer())
    let log = Synchronization.Mutex<[String]>([])
    let following = Task {
      await AppFollower(place: place) { _ in true }.follow(
        session,
        Follower(
          post: { message in if case .log(let lines, _) = message { log.withLock { $0 += lines.map(\.text) } } },
          use: { _ in }, pause: { try await ContinuousClock().sleep(for: $0 / 50) }))
    }
    first.close()
    let second = try serve()
    let told = "attached again (pid \(session.client.welcome.pid)) to app, the process of before; counters were reset"
    try await turns { log.withLock { $0.last == told } }
    following.cancel()
    await following.value
    second.close()
  }

  @Test("what was done to an entry of an app is taken back: value, deadline, age and tags", arguments: [true, false])
  func undo(expires: Bool) async throws {
    let folder = try TemporaryFolder()
    let clock = ManualClock(now: SystemClock().now)
    let level = MemoryCacheLevel<String, Data>(name: "memory", expiry: .after(.seconds(3_600)), clock: clock)
    let server = try CacheInspector.serve(level, at: folder.url.appending(path: "s").path(), allowsWrites: true)
    let session = try await AppSession.open(AppPlace(path: server.path), isAgain: false)
    session.begin(EventBuffer())
    let interpreter = Interpreter(live: session.cache.live, mode: .interactive)
    try await level.store(
      Data("one".utf8), forKey: "a",
      terms: StoreTerms(expiry: expires ? .after(.seconds(60)) : .never, tags: ["letters"]))
    let before = try #require(try await level.lookup("a").entry)
    clock.advance(by: .seconds(7))
    for line in ["del a", "set a other --ttl 5s"] {
      _ = await interpreter.run(try #require(try Verbs.parse(line)))
      #expect(try await level.get("a") != before.value)
      #expect(await interpreter.run(UndoVerb()).outcome == .ok)
      let after = try #require(try await level.lookup("a").entry)
      #expect(after.value == before.value && after.deadline == before.deadline)
      #expect(after.created == before.created && after.tags == before.tags)
    }
    server.close()
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
