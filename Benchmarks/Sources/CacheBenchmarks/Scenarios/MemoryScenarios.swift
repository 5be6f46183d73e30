import CacheEngine
import Floor

/// The work that memory caches are made for, by each of them.
///
/// 100,000 keys. `hit`: everything is there. `miss`: nothing that is asked for is. `set`: overwrites. `evict`: room for
/// a tenth, every set is of a key that is not held. `mixed`: all is there, a request in twenty is a set. `through`:
/// room for a tenth, a get, and where it misses a set. Requests follow a Zipf law with exponent 0.99, but those of
/// `evict`, which go round.
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
    let most = [
      try await hit(threads: threads), try await evict(threads: threads), try await mixed(threads: threads),
    ]
    guard hasPeers else { return most }
    return most + [
      try await miss(threads: threads), try await set(threads: threads), try await through(threads: threads),
    ]
  }

  private func comparison(_ work: String, _ scenario: String, threads: Int) -> Comparison {
    Comparison(
      title: "\(work), \(keyName) keys, \(keys.count) entries, \(threads) thread\(threads == 1 ? "" : "s")",
      scenario: hasPeers ? "\(scenario) \(threads)" : nil, operations: operations, rounds: rounds)
  }

  private func hasSlow(_ threads: Int) -> Bool { hasPeers && threads == 1 }

  private var requests: [Int] { Workload.zipf(keys.count, requests: 1 << 18, seed: 7) }

  private func hit(threads: Int) async throws -> Comparison {
    let (keys, requests, all) = (keys, requests, try await Filled(keys, hasFoundation: hasSlow(threads)))
    var comparison = comparison("get, hit", "hit", threads: threads)
    comparison.add("Dictionary behind Mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { all.floor.get(keys[$0]) ?? 0 }
    }
    comparison.add("C CLOCK behind a mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { all.clock.get(all.stored[$0]) ?? 0 }
    }
    comparison.add("Dictionary LRU behind Mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { all.list.get(keys[$0]) ?? 0 }
    }
    if hasSlow(threads) {
      comparison.add("NSCache", threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) { all.foundation.get(all.objects[$0]) ?? 0 }
      }
    }
    comparison.add("MemoryCacheLevel.peek", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { all.memory.peek(keys[$0]) ?? 0 }
    }
    comparison.add("MemoryCacheLevel.get", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { try await all.memory.get(keys[$0]) ?? 0 }
    }
    for eviction in Self.evictions.dropFirst() {
      let memory = MemoryCacheLevel<Key, Int>(capacity: keys.count * 4, eviction: eviction)
      for (index, key) in keys.enumerated() { try await memory.set(index, forKey: key) }
      comparison.add("MemoryCacheLevel.get, \(eviction)", threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) { try await memory.get(keys[$0]) ?? 0 }
      }
    }
    return comparison
  }

  private func miss(threads: Int) async throws -> Comparison {
    let (strangers, requests, all) = (strangers, requests, try await Filled(keys, hasFoundation: hasSlow(threads)))
    var comparison = comparison("get, miss", "miss", threads: threads)
    comparison.add("Dictionary behind Mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { all.floor.get(strangers[$0]) ?? 0 }
    }
    comparison.add("MemoryCacheLevel.get", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) { try await all.memory.get(strangers[$0]) ?? 0 }
    }
    return comparison
  }

  private func set(threads: Int) async throws -> Comparison {
    let (keys, requests, all) = (keys, requests, try await Filled(keys, hasFoundation: hasSlow(threads)))
    var comparison = comparison("set, overwriting", "set", threads: threads)
    comparison.add("Dictionary behind Mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        all.floor.set($0, forKey: keys[$0])
        return 0
      }
    }
    comparison.add("C CLOCK behind a mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        all.clock.set($0, forKey: all.stored[$0])
        return 0
      }
    }
    comparison.add("Dictionary LRU behind Mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        all.list.set($0, forKey: keys[$0])
        return 0
      }
    }
    if hasSlow(threads) {
      comparison.add("NSCache", threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          all.foundation.set($0, forKey: all.objects[$0])
          return 0
        }
      }
    }
    comparison.add("MemoryCacheLevel.set", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        try await all.memory.set($0, forKey: keys[$0])
        return 0
      }
    }
    return comparison
  }

  private func evict(threads: Int) async throws -> Comparison {
    let (keys, round) = (keys, Array(keys.indices))
    let tight = Tight(keys)
    var comparison = comparison("set, evicting, room for a tenth", "evict", threads: threads)
    comparison.add("C CLOCK behind a mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(round, worker: worker, operations) {
        tight.clock.set($0, forKey: tight.stored[$0])
        return 0
      }
    }
    comparison.add("Dictionary LRU behind Mutex", threads: threads) { worker, operations in
      try await Workload.walk(round, worker: worker, operations) {
        tight.list.set($0, forKey: keys[$0])
        return 0
      }
    }
    if hasSlow(threads) {
      comparison.add("NSCache", threads: threads) { worker, operations in
        try await Workload.walk(round, worker: worker, operations) {
          tight.foundation.set($0, forKey: tight.objects[$0])
          return 0
        }
      }
    }
    for eviction in Self.evictions {
      let memory = MemoryCacheLevel<Key, Int>(capacity: keys.count / 10, eviction: eviction)
      comparison.add("MemoryCacheLevel.set, \(eviction)", threads: threads) { worker, operations in
        try await Workload.walk(round, worker: worker, operations) {
          try await memory.set($0, forKey: keys[$0])
          return 0
        }
      }
    }
    return comparison
  }

  private func mixed(threads: Int) async throws -> Comparison {
    let (keys, requests, all) = (keys, requests, try await Filled(keys, hasFoundation: hasSlow(threads)))
    var comparison = comparison("19 gets and a set", "mixed", threads: threads)
    comparison.add("Dictionary behind Mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        guard $0 % 20 == 0 else { return all.floor.get(keys[$0]) ?? 0 }
        all.floor.set($0, forKey: keys[$0])
        return 0
      }
    }
    comparison.add("Dictionary LRU behind Mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        guard $0 % 20 == 0 else { return all.list.get(keys[$0]) ?? 0 }
        all.list.set($0, forKey: keys[$0])
        return 0
      }
    }
    comparison.add("MemoryCacheLevel", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        guard $0 % 20 == 0 else { return try await all.memory.get(keys[$0]) ?? 0 }
        try await all.memory.set($0, forKey: keys[$0])
        return 0
      }
    }
    return comparison
  }

  private func through(threads: Int) async throws -> Comparison {
    let (keys, requests, tight) = (keys, requests, Tight(keys))
    var comparison = comparison("read through, room for a tenth", "through", threads: threads)
    comparison.add("C CLOCK behind a mutex (the floor)", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        if let value = tight.clock.get(tight.stored[$0]) { return value }
        tight.clock.set($0, forKey: tight.stored[$0])
        return 0
      }
    }
    comparison.add("Dictionary LRU behind Mutex", threads: threads) { worker, operations in
      try await Workload.walk(requests, worker: worker, operations) {
        if let value = tight.list.get(keys[$0]) { return value }
        tight.list.set($0, forKey: keys[$0])
        return 0
      }
    }
    if hasSlow(threads) {
      comparison.add("NSCache (keeps what came first)", threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          if let value = tight.foundation.get(tight.objects[$0]) { return value }
          tight.foundation.set($0, forKey: tight.objects[$0])
          return 0
        }
      }
    }
    for eviction in Self.evictions {
      let memory = MemoryCacheLevel<Key, Int>(capacity: keys.count / 10, eviction: eviction)
      comparison.add("MemoryCacheLevel, \(eviction)", threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          if let value = try await memory.get(keys[$0]) { return value }
          try await memory.set($0, forKey: keys[$0])
          return 0
        }
      }
    }
    return comparison
  }
}

extension MemoryScenarios {
  /// Caches with room for everything, which hold everything.
  private struct Filled: Sendable {
    let floor = LockedDictionary<Key, Int>()
    let clock: ClockCache
    let list: LockedLRU<Key, Int>
    let foundation: FoundationCache<Key>
    let memory: MemoryCacheLevel<Key, Int>
    let stored: [StoredKeys.Key]
    let objects: [FoundationCache<Key>.StoredKey]

    init(_ keys: [Key], hasFoundation: Bool) async throws {
      stored = StoredKeys(keys).keys
      objects = keys.map { FoundationCache<Key>.StoredKey($0) }
      clock = ClockCache(capacity: keys.count * 4)
      list = LockedLRU(capacity: keys.count * 4)
      foundation = FoundationCache(capacity: keys.count * 4)
      memory = MemoryCacheLevel(capacity: keys.count * 4, eviction: .lru)
      for (index, key) in keys.enumerated() {
        floor.set(index, forKey: key)
        clock.set(index, forKey: stored[index])
        list.set(index, forKey: key)
        if hasFoundation { foundation.set(index, forKey: objects[index]) }
        try await memory.set(index, forKey: key)
      }
    }
  }

  /// Empty caches with room for a tenth.
  private struct Tight: Sendable {
    let clock: ClockCache
    let list: LockedLRU<Key, Int>
    let foundation: FoundationCache<Key>
    let stored: [StoredKeys.Key]
    let objects: [FoundationCache<Key>.StoredKey]

    init(_ keys: [Key]) {
      stored = StoredKeys(keys).keys
      objects = keys.map { FoundationCache<Key>.StoredKey($0) }
      clock = ClockCache(capacity: keys.count / 10)
      list = LockedLRU(capacity: keys.count / 10)
      foundation = FoundationCache(capacity: keys.count / 10)
    }
  }
}
