import CacheEngine
import CacheEngineTesting
import Testing

/// What a memory level counts by itself.
@Suite struct MemoryCountsTests {
  @Test("hits and misses are counted by whatever name they are asked for, and a peek that finds nothing is not")
  func reads() async throws {
    let level = MemoryCacheLevel<String, Int>()
    #expect(level.counts.hitRatio == nil)
    try await level.set(1, forKey: "a")
    _ = try await level.get("a")
    _ = try await level.lookup("a")
    _ = level.peek("a")
    _ = level.peek("b")
    _ = try await level.get("b")
    _ = try await level.lookup("b")
    _ = try await level.lookupIncludingExpired("b")
    _ = level.contains("a")
    #expect(level.counts == MemoryCounts(hits: 3, misses: 2, stored: 1))
    #expect(level.counts.hitRatio == 0.6)
  }

  @Test("a composed cache counts a read once in each level that it asks")
  func composed() async throws {
    let (upper, lower) = (MemoryCacheLevel<String, Int>(), MemoryCacheLevel<String, Int>())
    let cache = upper.compose(lower).pooled()
    try await lower.set(1, forKey: "a")
    for _ in 0..<3 { _ = try await cache.get("a") }
    #expect(upper.counts == MemoryCounts(hits: 2, misses: 1, stored: 1))
    #expect(lower.counts == MemoryCounts(hits: 1, misses: 0, stored: 1))
  }

  @Test("what has expired is a miss, once, whether it is still kept or not", arguments: [Duration.zero, .seconds(60)])
  func expired(keepsExpired: Duration) async throws {
    let clock = ManualClock()
    let level = MemoryCacheLevel<String, Int>(
      expiry: .after(.seconds(1)), keepsExpired: keepsExpired, clock: clock)
    try await level.set(1, forKey: "a")
    try await level.set(2, forKey: "b")
    clock.advance(by: .seconds(2))
    #expect(level.peek("a") == nil)
    #expect(try await level.get("a") == nil)
    #expect(try await level.lookup("b").missReason == .expired)
    _ = try await level.lookupIncludingExpired("b")
    #expect(level.counts == MemoryCounts(misses: 2, stored: 2, expired: keepsExpired == .zero ? 2 : 0))
    clock.advance(by: .seconds(60))
    try await level.removeExpired()
    #expect(level.counts == MemoryCounts(misses: 2, stored: 2, expired: 2))
  }

  @Test("what makes room, what is overwritten and what is removed are told apart")
  func departures() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 3, eviction: .lru)
    for key in 0..<5 { try await level.set(key, forKey: key) }
    try await level.set(0, forKey: 4)
    try await level.remove(4)
    #expect(level.counts == MemoryCounts(stored: 6, evicted: 2))
    let before = level.counts
    _ = try await level.get(3)
    try await level.clear()
    #expect(level.counts - before == MemoryCounts(hits: 1))
  }

  @Test("no read of many tasks is lost or counted twice, while others write")
  func manyTasks() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 1_000)
    for key in 0..<500 { try await level.set(key, forKey: key) }
    await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<5_000 {
            _ = try await level.get(round % 1_000 < 500 ? round % 500 : 2_000 + task)
            if round % 97 == 0 { try await level.set(round, forKey: round % 500) }
          }
        }
      }
    }
    #expect(level.counts.hits == 10_000)
    #expect(level.counts.misses == 10_000)
  }
}
