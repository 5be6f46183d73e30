import CacheEngine
import Synchronization
import Testing

@Suite struct HashedOnceTests {
  /// Counts how often keys are hashed, in either way.
  private struct Counted: FastHashable {
    final class Counts: Sendable {
      let fast = Mutex(0)
      let slow = Mutex(0)
    }
    let number: Int
    let counts: Counts
    static func == (left: Counted, right: Counted) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) {
      counts.slow.withLock { $0 += 1 }
      hasher.combine(number)
    }
    func hashFast(into hasher: inout FastHasher) {
      counts.fast.withLock { $0 += 1 }
      hasher.combine(number)
    }
  }

  private struct Source<Key: Hashable & Sendable>: Fetcher {
    func get(_ key: Key) async throws -> Int? { 7 }
  }

  /// Loads through a pool, hits, sets and removes in two levels.
  private func use<Key: Hashable & Sendable>(_ key: Key) async throws {
    let cache = MemoryCacheLevel<Key, Int>().compose(MemoryCacheLevel<Key, Int>()).compose(Source<Key>().pooled())
      .pooled()
    #expect(try await cache.get(key) == 7)
    #expect(try await cache.get(key) == 7)
    try await cache.set(8, forKey: key)
    #expect(try await cache.get(key) == 8)
    try await cache.remove(key)
  }

  @Test("no level, pool or gate hashes a key by Swift's slow hash that knows a fast one")
  func neverSlowly() async throws {
    let counts = Counted.Counts()
    try await use(Counted(number: 1, counts: counts))
    #expect(counts.slow.withLock { $0 } == 0)
    #expect(counts.fast.withLock { $0 } > 0)
  }

  @Test("a key that carries its hash is hashed once, through all levels, pools and gates of a stack")
  func once() async throws {
    let counts = Counted.Counts()
    try await use(HashedKey(Counted(number: 1, counts: counts)))
    #expect(counts.slow.withLock { $0 } == 0)
    #expect(counts.fast.withLock { $0 } == 1)
  }
}
