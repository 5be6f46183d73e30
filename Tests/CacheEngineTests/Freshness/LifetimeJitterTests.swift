import CacheEngine
import CacheEngineTesting
import Testing

/// Lifetimes that differ, so that what is stored together does not expire together.
@Suite struct LifetimeJitterTests {
  private let clock = ManualClock()

  /// How long a hundred values live that are stored at once.
  private func lifetimes(
    of lifetime: Duration, jitter: Double, seed: UInt64? = 1, terms: StoreTerms = StoreTerms()
  ) async throws -> [Duration] {
    let memory = MemoryCacheLevel<Int, Int>(clock: clock)
    let cache = memory.expiring(after: lifetime, jitter: jitter, seed: seed, clock: clock)
    var lifetimes: [Duration] = []
    for key in 0..<100 {
      try await cache.store(key, forKey: key, terms: terms)
      guard let deadline = try await memory.lookupIncludingExpired(key).entry?.deadline else { continue }
      lifetimes.append(clock.now.duration(to: deadline))
    }
    return lifetimes
  }

  @Test("lifetimes are spread over the share, none is longer than told, and a seed tells them all")
  func spread() async throws {
    let lifetimes = try await lifetimes(of: .seconds(60), jitter: 0.25)
    #expect(lifetimes.allSatisfy { $0 > .seconds(45) && $0 <= .seconds(60) })
    #expect(Set(lifetimes).count == 100)
    // Every fifth of the share has some.
    #expect(Set(lifetimes.map { Int(($0 - .seconds(45)) / .seconds(3)) }).isSuperset(of: 0..<5))
    #expect(try await self.lifetimes(of: .seconds(60), jitter: 0.25) == lifetimes)
    #expect(try await self.lifetimes(of: .seconds(60), jitter: 0.25, seed: 2) != lifetimes)
    #expect(
      try await self.lifetimes(of: .seconds(60), jitter: 0.25, seed: nil)
        != self.lifetimes(of: .seconds(60), jitter: 0.25, seed: nil))
  }

  @Test("no jitter changes nothing; a whole one leaves something of a life; the longest of lifetimes does not overflow")
  func ends() async throws {
    #expect(try await Set(lifetimes(of: .seconds(60), jitter: 0)) == [.seconds(60)])
    let whole = try await lifetimes(of: .seconds(60), jitter: 1)
    #expect(whole.count == 100 && whole.contains { $0 < .seconds(10) } && whole.contains { $0 > .seconds(50) })
    let longest = try await lifetimes(of: .seconds(Int64.max), jitter: 1)
    #expect(longest.allSatisfy { $0 > .zero })
  }

  @Test("a lifetime that is asked for is kept to the nanosecond")
  func explicit() async throws {
    let terms = StoreTerms(expiry: .after(.seconds(7)))
    #expect(try await Set(lifetimes(of: .seconds(60), jitter: 1, terms: terms)) == [.seconds(7)])
  }

  @Test("what is told of a store is the deadline that it was given", arguments: [StoreTerms.Purpose.set, .backFill])
  func told(purpose: StoreTerms.Purpose) async throws {
    let memory = MemoryCacheLevel<Int, Int>(clock: clock)
    let observer = RecordingObserver()
    let cache = memory.expiring(after: .seconds(60), jitter: 1, seed: 1, clock: clock)
      .observed(as: "memory", by: observer, clock: clock)
    for key in 0..<20 { try await cache.store(key, forKey: key, terms: StoreTerms(purpose: purpose)) }
    let told = observer.events.compactMap { event -> CacheInstant? in
      if case .stored(_, _, let deadline, _) = event.kind { deadline } else { nil }
    }
    #expect(told == (0..<20).compactMap { memory.peekEntry($0)?.deadline })
    #expect(Set(told).count == 20)
  }

  @Test("what is copied up at once does not expire at once")
  func backFill() async throws {
    let below = MemoryCacheLevel<Int, Int>(name: "below", clock: clock)
    for key in 0..<20 { try await below.set(key, forKey: key) }
    let memory = MemoryCacheLevel<Int, Int>(clock: clock)
    let cache = memory.expiring(after: .seconds(10), jitter: 0.5, seed: 1, clock: clock).compose(below, clock: clock)
    for key in 0..<20 { _ = try await cache.get(key) }
    let deadlines = try await memory.contents().compactMap(\.deadline)
    #expect(Set(deadlines).count == 20)
    #expect(deadlines.allSatisfy { $0 <= clock.now.advanced(by: .seconds(10)) })
  }
}
