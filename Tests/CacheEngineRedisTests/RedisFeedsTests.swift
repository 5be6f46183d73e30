import CacheEngineShared

#if Redis
import CacheEngine
@testable import CacheEngineRedis
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
    let feeds = RedisFeeds()
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
    feeds.remove(1)
    connection.close(CacheError(.closed, "the test is over"))
    withExtendedLifetime(server) {}
  }
}
#endif
