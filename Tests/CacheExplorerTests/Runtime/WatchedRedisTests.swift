#if Redis
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import Synchronization
import Testing

@testable import ExplorerCache
@testable import ExplorerState

/// What is heard of a Redis server under a level.
struct WatchedRedisTests {
  @Test("A server that tells at once that it is heard is heard, and does not look deaf")
  func atOnce() async throws {
    let bus = EagerBus()
    let redis = WatchedRedis(
      try RedisSettings(url: "redis://localhost"), faults: FaultInjector(), clock: SystemClock(), bus: bus)
    bus.onListening.withLock { $0 = { [weak redis] in redis?.heard(.everything(.connected)) } }
    let feed = redis.changes(of: [[1]])
    try #require(redis.status.deafFor == nil)
    #expect(redis.status.isAsked && redis.status.doubts == 1)
    var next = feed.makeAsyncIterator()
    #expect(await next.next() == .everything(.connected))
  }
}

/// What tells before it has said where.
private final class EagerBus: InvalidationBus {
  let onListening = Mutex<(@Sendable () -> Void)?>(nil)

  func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    onListening.withLock { $0 }?()
    return InvalidationFeed()
  }
}
#endif
