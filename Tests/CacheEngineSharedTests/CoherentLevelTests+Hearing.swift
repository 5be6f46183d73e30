import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

extension CoherentLevelTests {
  private struct OwnBus: InvalidationBus {
    let feed = InvalidationFeed()
    func changes(of prefixes: [[UInt8]]) -> InvalidationFeed { feed }
  }

  @Test("G2 once the bus has ended the cache is deaf")
  func busEnds() async throws {
    let bus = OwnBus()
    let shared = try Shared(store.client("here"), namespace: "test", valueCoding: .json, clock: clock)
    let coherence = Coherence(bus, of: shared, whileDeaf: .passBy)
    let cache = Memory().compose(shared, coherence: coherence, observer: nil, clock: clock)
    bus.feed.send(.everything(.connected))
    try await turns { cache.coherence.deafSince == nil }
    try await cache.set(1, forKey: "a")
    #expect(cache.peek("a") == 1)
    bus.feed.end()
    try await turns { cache.coherence.deafSince != nil }
    #expect(cache.peek("a") == nil)
  }

  @Test("what could not be forgotten is passed by also when nothing is heard any more")
  func deafInDoubt() async throws {
    let removed = Calls<String>()
    let upper = HookedLevel(
      base: Memory(),
      onRemove: { key in
        removed.append(key)
        if key == "a" { throw CacheError(.simulated, "stuck") }
      })
    let bus = OwnBus()
    let shared = try Shared(store.client("here"), namespace: "test", valueCoding: .json, clock: clock)
    let cache = upper.compose(shared, coherence: Coherence(bus, of: shared), observer: nil, clock: clock)
    bus.feed.send(.everything(.connected))
    try await turns { cache.coherence.deafSince == nil }
    try await cache.set(1, forKey: "a")
    bus.feed.send(.names([Array("test:r:a".utf8)]))
    bus.feed.send(.lost(lastHeard: clock.now))
    bus.feed.send(.names([Array("test:r:b".utf8)]))
    try await turns { removed.all.contains("b") }
    #expect(cache.peek("a") == nil)
  }

  @Test("a clock may use the levels that read it, also where writes failed or something could not be forgotten")
  func callingClock() async throws {
    let own = CallingClock(clock)
    let client = store.client("here")
    let shared = try Shared(client, namespace: "test", valueCoding: .json, clock: own)
    let upper = HookedLevel(base: Memory(), onRemove: { _ in throw CacheError(.simulated, "stuck") })
    let cache = upper.compose(shared, coherence: Coherence(client, of: shared), observer: nil, clock: own)
    own.onRead { _ = (shared.unsettledCount, cache.coherence) }
    try await turns { cache.coherence.deafSince == nil }
    let refused = Mutex(0)
    client.onCall { call in
      guard case .commit = call else { return .done }
      refused.withLock { $0 += 1 }
      return .refused
    }
    await #expect(throws: CacheError.self) { try await shared.set(1, forKey: "a") }
    try await turns {
      clock.advance(by: .seconds(1))
      return refused.withLock { $0 } > 4
    }
    client.onCall(nil)
    try await turns {
      clock.advance(by: .seconds(1))
      return shared.unsettledCount == 0
    }
    try await Shared(store.client("there"), namespace: "test", valueCoding: .json, clock: clock).set(2, forKey: "a")
    try await turns { cache.coherence.deafSince != nil }
    own.onRead(nil)
  }

  @Test("names that were taken from a feed fill it no more")
  func takenNames() async {
    let feed = InvalidationFeed(limit: 2)
    var changes = feed.makeAsyncIterator()
    for number: UInt8 in 0..<3 {
      let change = SharedInvalidation.names([[number], [255]])
      feed.send(change)
      let told = await changes.next()
      #expect(told == change)
    }
  }
}
