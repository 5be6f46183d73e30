import CacheEngine
import Floor

/// The work that memory caches are made for, by each of them.
///
/// `hit`: everything is there. `miss`: nothing that is asked for is. `set`: overwrites. `evict`: room for a tenth, every
/// set is of a key that is not held. `mixed`: all is there, a request in twenty is a set. `through`: room for a tenth, a
/// get, and where it misses a set. Requests follow a Zipf law with exponent 0.99, but those of `evict`, which go round.
struct MemoryScenarios<Key: Hashable & Sendable>: Sendable {
  let keyName: String
  let keys: [Key]
  let strangers: [Key]
  let rounds: Int
  let operations: Int
  /// Whether peers that are programs of their own do the same, and the slow ones in this one.
  let hasPeers: Bool

  private static var evictions: [Eviction] { [.lru, .adaptive, .clock, .sieve, .s3fifo, .wtinylfu] }

  func comparisons(threads: Int) async throws -> [Comparison] {
    let most = [try await hit(threads), evict(threads), try await mixed(threads)]
    guard hasPeers else { return most }
    return most + [try await miss(threads), try await set(threads), through(threads)]
  }

  private func comparison(_ work: String, _ scenario: String, _ threads: Int) -> Comparison {
    var comparison = Comparison(
      title: "\(work), \(keyName) keys, \(keys.count) entries, \(threads) thread\(threads == 1 ? "" : "s")",
      scenario: hasPeers ? "\(scenario) \(threads)" : nil, operations: operations, rounds: rounds)
    comparison.isInProcessorCaches = keys.count <= 1_000
    return comparison
  }

  private var requests: [Int] { Workload.zipf(keys.count, requests: 1 << 18, seed: 7) }

  private func hit(_ threads: Int) async throws -> Comparison {
    let (requests, all) = (requests, try await filled())
    var comparison = comparison("get, hit", "hit", threads)
    comparison.add("Dictionary behind Mutex (the floor)", .get, all.floor, requests, threads: threads)
    comparison.add("C CLOCK behind a mutex", .get, all.clock, requests, threads: threads)
    comparison.add("Dictionary LRU behind Mutex", .get, all.list, requests, threads: threads)
    if hasPeers, threads == 1 { comparison.add("NSCache", .get, all.foundation, requests, threads: threads) }
    let peek = DrivenPeek(level: all.memory.level, keys: keys)
    comparison.add("MemoryCacheLevel.peek", .get, peek, requests, threads: threads)
    comparison.add("MemoryCacheLevel.get", .get, all.memory, requests, threads: threads)
    for eviction in Self.evictions.dropFirst() {
      let memory = try await filledMemory(eviction)
      comparison.add("MemoryCacheLevel.get, \(eviction)", .get, memory, requests, threads: threads)
    }
    let mortal = try await filledMemory(.adaptive, expiry: .after(.seconds(3_600)))
    comparison.add("MemoryCacheLevel.get, adaptive, a lifetime", .get, mortal, requests, threads: threads)
    let observed = DrivenLevel(level: mortal.level.observed(as: "memory", by: CacheStatistics()), keys: keys)
    comparison.add("the same, with statistics", .get, observed, requests, threads: threads)
    return comparison
  }

  private func miss(_ threads: Int) async throws -> Comparison {
    let (requests, all) = (requests, try await filled())
    var comparison = comparison("get, miss", "miss", threads)
    let floor = DrivenDictionary(cache: all.floor.cache, keys: strangers)
    comparison.add("Dictionary behind Mutex (the floor)", .get, floor, requests, threads: threads)
    let memory = DrivenLevel(level: all.memory.level, keys: strangers)
    comparison.add("MemoryCacheLevel.get", .get, memory, requests, threads: threads)
    return comparison
  }

  private func set(_ threads: Int) async throws -> Comparison {
    let (requests, all) = (requests, try await filled())
    var comparison = comparison("set, overwriting", "set", threads)
    comparison.add("Dictionary behind Mutex (the floor)", .set, all.floor, requests, threads: threads)
    comparison.add("C CLOCK behind a mutex", .set, all.clock, requests, threads: threads)
    comparison.add("Dictionary LRU behind Mutex", .set, all.list, requests, threads: threads)
    if threads == 1 { comparison.add("NSCache", .set, all.foundation, requests, threads: threads) }
    comparison.add("MemoryCacheLevel.set", .set, all.memory, requests, threads: threads)
    comparison.add(
      "MemoryCacheLevel.set, adaptive", .set, try await filledMemory(.adaptive), requests, threads: threads)
    return comparison
  }

  private func mixed(_ threads: Int) async throws -> Comparison {
    let (requests, all) = (requests, try await filled())
    var comparison = comparison("19 gets and a set", "mixed", threads)
    comparison.add("Dictionary behind Mutex (the floor)", .mixed, all.floor, requests, threads: threads)
    comparison.add("Dictionary LRU behind Mutex", .mixed, all.list, requests, threads: threads)
    comparison.add("MemoryCacheLevel", .mixed, all.memory, requests, threads: threads)
    comparison.add("MemoryCacheLevel, adaptive", .mixed, try await filledMemory(.adaptive), requests, threads: threads)
    return comparison
  }

  private func evict(_ threads: Int) -> Comparison {
    let title = "set, evicting, room for a tenth"
    return tight(.set, comparison(title, "evict", threads), Array(keys.indices), threads, foundation: "NSCache")
  }

  private func through(_ threads: Int) -> Comparison {
    let title = "read through, room for a tenth"
    return tight(
      .through, comparison(title, "through", threads), requests, threads, foundation: "NSCache (keeps what came first)")
  }

  /// The same work by every cache, each with room for a tenth.
  private func tight(
    _ work: Work, _ empty: Comparison, _ requests: [Int], _ threads: Int, foundation: String
  ) -> Comparison {
    var comparison = empty
    let all = caches(capacity: keys.count / 10)
    comparison.add("C CLOCK behind a mutex (the floor)", work, all.clock, requests, threads: threads)
    comparison.add("Dictionary LRU behind Mutex", work, all.list, requests, threads: threads)
    if hasPeers, threads == 1 { comparison.add(foundation, work, all.foundation, requests, threads: threads) }
    for eviction in Self.evictions {
      let memory = DrivenLevel(
        level: MemoryCacheLevel<Key, Int>(capacity: keys.count / 10, eviction: eviction), keys: keys)
      comparison.add("MemoryCacheLevel, \(eviction)", work, memory, requests, threads: threads)
    }
    return comparison
  }
}

extension MemoryScenarios {
  private struct Caches: Sendable {
    let floor: DrivenDictionary<Key>
    let clock: DrivenClock
    let list: DrivenList<Key>
    let foundation: DrivenFoundation<Key>
    let memory: DrivenLevel<MemoryCacheLevel<Key, Int>>
  }

  private func caches(capacity: Int) -> Caches {
    Caches(
      floor: DrivenDictionary(cache: LockedDictionary(), keys: keys),
      clock: DrivenClock(cache: ClockCache(capacity: capacity), keys: StoredKeys(keys).keys),
      list: DrivenList(cache: LockedLRU(capacity: capacity), keys: keys),
      foundation: DrivenFoundation(
        cache: FoundationCache(capacity: capacity), keys: keys.map { FoundationCache<Key>.StoredKey($0) }),
      memory: DrivenLevel(level: MemoryCacheLevel(capacity: capacity, eviction: .lru), keys: keys))
  }

  /// Caches with room for everything, which hold everything.
  private func filled() async throws -> Caches {
    let all = caches(capacity: keys.count * 4)
    for number in keys.indices {
      all.floor.set(number)
      all.clock.set(number)
      all.list.set(number)
      if hasPeers { all.foundation.set(number) }
      try await all.memory.set(number)
    }
    return all
  }

  private func filledMemory(
    _ eviction: Eviction, expiry: Expiry = .never
  ) async throws -> DrivenLevel<MemoryCacheLevel<Key, Int>> {
    let memory = DrivenLevel(
      level: MemoryCacheLevel<Key, Int>(capacity: keys.count * 4, eviction: eviction, expiry: expiry), keys: keys)
    for number in keys.indices { try await memory.set(number) }
    return memory
  }
}
