import CacheEngine
import CacheEngineHitRatio
import CacheEngineTesting
import Testing

/// A memory level tells its policy less than a simulation does.
@Suite struct LevelHitsTests {
  @Test(
    "a level has the hits that a simulation of its policy has, to the last one",
    arguments: [Eviction.lru, .fifo, .clock, .sieve, .s3fifo], [60, 400])
  func agrees(eviction: Eviction, capacity: Int) async throws {
    var generator = SeededGenerator(seed: 5)
    // A few keys come often: stripes open, and marks are full.
    let keys = (0..<30_000).map { _ in
      Int.random(in: 0..<1_000, using: &generator) * Int.random(in: 0..<1_000, using: &generator) / 1_000
    }
    let policy = try #require(SimulatedPolicy(rawValue: eviction.name))
    let expected = HitRatio.simulate(policy: policy, capacity: capacity, trace: RequestTrace(keys)).hits
    let level = MemoryCacheLevel<Int, Int>(countLimit: capacity, eviction: eviction)
    for key in keys where try await level.get(key) == nil { try await level.set(key, forKey: key) }
    #expect(level.counts.hits == expected)
  }
}
