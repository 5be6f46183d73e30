import CacheEngineShared

#if Redis
import CacheEngine
@testable import CacheEngineRedis
import CacheEngineTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct RedisFeedsTests {
  @Test(
    "that a connection is lost is told after all that it told, also where it is lost while that is told",
    arguments: [InvalidationCause.connected, .flushed])
  func order(cause: InvalidationCause) async throws {
    let server = try await HostileServer { _, _ in .silence }
    let connection = try await RedisConnection.connect(RedisSettings(.socket(server.folder + "/s"))) { _ in
    } onClose: { _, _ in
    }
    let feeds = RedisFeeds(.plain)
    let heard = Mutex<[SharedInvalidation]>([])
    feeds.add(1, [[1]]) { change in
      // Whoever tells this has not got any further.
      if change == .everything(cause) { feeds.lose(connection, lastHeard: CacheInstant(nanoseconds: 7)) }
      heard.withLock { $0.append(change) }
    }
    #expect(feeds.missing(on: connection) == [[1]])
    feeds.track([[1]], on: connection)
    if cause == .flushed { feeds.tellEverything(.flushed) }
    let lost = SharedInvalidation.lost(lastHeard: CacheInstant(nanoseconds: 7))
    let all: [SharedInvalidation] = [.everything(.connected), .everything(.flushed)]
    #expect(heard.withLock { $0 } == (cause == .connected ? [all[0], lost] : all + [lost]))
    #expect(!feeds.isTold(on: connection))
    // Who knows of the loss is told no more of what was heard before it.
    feeds.tellEverything(.overflow)
    feeds.tell([[1]])
    #expect(heard.withLock { $0.last } == lost)
    feeds.remove(1)
    connection.close(CacheError(.closed, "the test is over"))
    withExtendedLifetime(server) {}
  }

  @Test(
    "the server is asked for no prefix that begins with another, and who asks for more of it takes that one's place")
  func overlapping() async throws {
    let server = try await HostileServer { _, _ in .silence }
    let connection = try await RedisConnection.connect(RedisSettings(.socket(server.folder + "/s"))) { _ in
    } onClose: { _, _ in
    }
    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    let feeds = RedisFeeds(.plain)
    let told = Mutex<[Int]>([])
    func listen(_ number: Int, _ prefixes: [String]) {
      feeds.add(number, prefixes.map(bytes)) { _ in told.withLock { $0.append(number) } }
    }
    listen(1, ["a:r:", "a:", "b:r:"])
    listen(2, ["a:t:"])
    let first = feeds.missing(on: connection)
    #expect(Set(first) == [bytes("a:"), bytes("b:r:")] && feeds.widened(by: first) == nil)
    feeds.track(first, on: connection)
    #expect(told.withLock { Set($0) } == [1, 2])
    listen(3, ["a:x", "b:"])
    let second = feeds.missing(on: connection)
    #expect(second == [bytes("b:")])
    #expect(feeds.widened(by: second).map(Set.init) == [bytes("a:"), bytes("b:")])
    feeds.track(second, on: connection)
    // Those who knew it already are not told again.
    #expect(told.withLock { $0.sorted() } == [1, 2, 3] && feeds.missing(on: connection).isEmpty)
    // As they are written in a cluster, these do not overlap.
    let tagged = RedisFeeds(.tagged)
    for (number, prefix) in ["a:r:", "a"].enumerated() { tagged.add(number, [bytes(prefix)]) { _ in } }
    #expect(Set(tagged.missing(on: connection)) == [bytes("a:r:"), bytes("a")])
    connection.close(CacheError(.closed, "the test is over"))
    withExtendedLifetime(server) {}
  }

  @Test("what was changed here is told to those who listen to it, if these are several")
  func own() async throws {
    let server = try await HostileServer { _, _ in .silence }
    let connection = try await RedisConnection.connect(RedisSettings(.socket(server.folder + "/s"))) { _ in
    } onClose: { _, _ in
    }
    let feeds = RedisFeeds(.plain)
    let told = Mutex<[Int: [[UInt8]]]>([:])
    for (number, prefixes) in [1: [[1], [2]], 2: [[3]], 3: [[2]]] as [Int: [[UInt8]]] {
      feeds.add(number, prefixes) { change in
        if case .names(let names) = change { told.withLock { $0[number, default: []] += names } }
      }
    }
    feeds.track(feeds.missing(on: connection), on: connection)
    feeds.tellOwn([[1, 7], [2, 7], [3, 7]])
    #expect(told.withLock { $0 } == [1: [[2, 7]], 3: [[2, 7]]])
    connection.close(CacheError(.closed, "the test is over"))
    withExtendedLifetime(server) {}
  }

  @Test("who begins to listen while it is told that all is heard is told so as well")
  func second() async throws {
    let server = try await HostileServer { _, command in .say(command[0] == "HELLO" ? "" : "+OK\r\n") }
    var settings = RedisSettings(.socket(server.folder + "/s"))
    settings.commandLimit = .seconds(30)
    settings.pingInterval = .seconds(600)
    let node = RedisNode(settings, instance: [], role: .member)
    let told = Mutex<[Int]>([])
    node.listen(1, [[1]]) { [weak node] change in
      guard change == .everything(.connected) else { return }
      told.withLock { $0.append(1) }
      // The server was asked for all that is missing, and nobody has looked since whether there is more.
      node?.listen(2, [[1]]) { change in told.withLock { if change == .everything(.connected) { $0.append(2) } } }
    }
    try await turns { told.withLock { $0 } == [1, 2] }
    node.close()
    withExtendedLifetime(server) {}
  }

  @Test("who is cancelled while it is tried out what has ended a connection leaves at once, and nobody else does")
  func cancelledTrial() async throws {
    let server = try await HostileServer { connection, command in
      switch (command[0], connection) {
      case ("HELLO", _): .say("")
      case ("MGET", _): .say("*1\r\n_\r\n")
      case ("PUBLISH", 1): .close
      case ("PUBLISH", 3): .silence
      case ("PUBLISH", _): .say(":0\r\n")
      case ("MULTI", _): .say("+OK\r\n")
      case ("EXEC", _): .say("*2\r\n:0\r\n+OK\r\n")
      default: .say("+QUEUED\r\n")
      }
    }
    let store = server.store()
    let change = SharedChange.set(Array("photos:r:1".utf8), to: [1], lifetime: nil)
    let write: @Sendable () async throws -> Void = { _ = try await store.commit([change], if: [], reading: []) }
    await #expect(throws: CacheError.self) { try await write() }
    try await turns { do { return try await store.read([[1]]) == [nil] } catch is CacheError { return false } }
    let cancelled = Task { try await write() }
    try await turns { server.commands.count { $0[0] == "PUBLISH" } == 2 }
    let other = Task { try await write() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    server.say(":0\r\n", on: 3)
    try await other.value
    #expect(store.tellingError == nil)
    #expect(server.connectionCount == 3)
  }
}
#endif
