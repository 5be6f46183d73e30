#if Redis
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import TestRedis
import Testing

/// A cut cable: packets are lost, nobody is refused, and no connection ends.
@Suite(
  .enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)),
  .enabled(if: CuttableLink.whyNot == nil, Comment(rawValue: CuttableLink.whyNot ?? "")), .serialized,
  .timeLimit(.minutes(10)))
struct PartitionTests {
  private typealias Shared = SharedCacheLevel<String, Int>
  private typealias Memory = MemoryCacheLevel<String, Int>

  private let link: CuttableLink
  private let redis: TestRedis

  init() async throws {
    link = try CuttableLink()
    redis = try await TestRedis([], at: link)
  }

  /// A process on this side of the cable.
  private func store(_ change: (inout RedisSettings) -> Void = { _ in }) -> RedisStore {
    var settings = link.settings
    settings.commandLimit = .milliseconds(300)
    settings.connectLimit = .milliseconds(300)
    settings.pingInterval = .milliseconds(300)
    settings.pauses = .milliseconds(10)...Duration.milliseconds(200)
    change(&settings)
    return RedisStore(settings)
  }

  /// What a call takes that may not hang: far above its limits, for this machine may be busy, and far below for ever.
  @discardableResult
  private func soon<Answer>(_ what: String, _ work: () async throws -> Answer) async throws -> Answer {
    let begin = ContinuousClock.now
    defer { #expect(begin.duration(to: .now) < .seconds(10), "\(what)") }
    return try await work()
  }

  @Test(
    "G1 G2 G4 G5 while the cable is cut nothing hangs, both sides write, and no old value is served when it is mended",
    arguments: CuttableLink.Cut.allCases, [RedisSettings.Invalidations.tracking, .channel])
  func partition(cut: CuttableLink.Cut, way: RedisSettings.Invalidations) async throws {
    let store = store { $0.invalidations = way }
    let shared = try Shared(store, namespace: "test", valueCoding: .json)
    // Whoever is on the server's machine is not cut off.
    let there = try Shared(redis.store(), namespace: "test", valueCoding: .json)
    let cache = Memory().compose(
      shared, coherence: Coherence(store, of: shared, whileDeaf: .serve(for: .milliseconds(1))), observer: nil)
    let origin = BasicFetcher<String, Int> { _ in 7 }
    let whole = cache.compose(origin, observer: nil)
    let careful = Memory().compose(shared.circuitBreaker(observer: nil).optional(observer: nil), observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    try await turns { store.hearsBy == way }
    for key in ["a", "b", "c"] { try await cache.set(1, forKey: key) }

    try link.cut(cut)
    try await there.set(2, forKey: "a")
    try await soon("a write") { await #expect(throws: CacheError.self) { try await shared.set(3, forKey: "b") } }
    try await turns { cache.coherence.deafSince != nil }
    for number in 0..<20 {
      #expect(try await soon("a read") { try await whole.get("cold\(number)") } == 7)
      try await soon("an optional write") { try await careful.set(number, forKey: "w\(number)") }
    }
    // Deaf for longer than copies are served: the shared level is asked, and does not answer.
    try await soon("a copy") {
      try await turns { cache.peek("a") == nil }
      do { #expect(try await cache.get("a") == nil) } catch is CacheError {}
    }
    #expect(shared.unsettledCount > 0)

    try link.mend()
    try await turns { shared.unsettledCount == 0 && cache.coherence.deafSince == nil }
    #expect(try await cache.get("a") == 2)
    // The write that was given up may have got there; the value before it is gone for good.
    #expect(try await shared.get("b") != 1)
    #expect(try await cache.get("c") == 1)
    try await cache.set(4, forKey: "b")
    try await turns { try await there.get("b") == 4 }
  }

  @Test("who connects while the cable is cut fails within the limit, and gets through when it is mended")
  func connecting() async throws {
    try link.cut(.both)
    let store = store()
    let error = await #expect(throws: CacheError.self) {
      try await soon("the first call") { try await store.timeSinceEpoch() }
    }
    #expect(error?.code == .timedOut || error?.code == .unreachable)
    try link.mend()
    try await turns {
      do { return try await store.timeSinceEpoch() > .zero } catch is CacheError { return false }
    }
  }

  @Test("the load of one who is cut off goes to another after the lease, and the late one fills nothing in")
  func lease() async throws {
    let (here, there) = (
      try Shared(store(), namespace: "test", valueCoding: .json),
      try Shared(redis.store(), namespace: "test", valueCoding: .json)
    )
    let gate = Gate()
    let late = BasicFetcher<String, Int> { _ in
      try await gate.pass()
      return 1
    }.sharedPool(here, lease: .milliseconds(200), observer: nil)
    let other = BasicFetcher<String, Int> { _ in 2 }.sharedPool(there, lease: .milliseconds(200), observer: nil)
    let load = Task { try await late.get("a") }
    await gate.arrivals(1)
    try link.cut(.both)
    #expect(try await soon("the other's turn") { try await other.get("a") } == 2)
    gate.open()
    #expect(try await soon("the late one's end") { try await load.value } == 1)
    try link.mend()
    try await turns { do { return try await here.get("a") == 2 } catch is CacheError { return false } }
    #expect(try await there.get("a") == 2)
  }
}
#endif
