import CacheEngine
import Floor

/// A cache as scenarios drive it: keys are named by numbers, and values are numbers.
protocol DrivenCache: Sendable {
  func get(_ number: Int) async throws -> Int?
  func set(_ number: Int) async throws
}

struct DrivenDictionary<Key: Hashable & Sendable>: DrivenCache {
  let cache: LockedDictionary<Key, Int>
  let keys: [Key]

  func get(_ number: Int) -> Int? { cache.get(keys[number]) }
  func set(_ number: Int) { cache.set(number, forKey: keys[number]) }
}

struct DrivenClock: DrivenCache {
  let cache: ClockCache
  let keys: [StoredKeys.Key]

  func get(_ number: Int) -> Int? { cache.get(keys[number]) }
  func set(_ number: Int) { cache.set(number, forKey: keys[number]) }
}

struct DrivenList<Key: Hashable & Sendable>: DrivenCache {
  let cache: LockedLRU<Key, Int>
  let keys: [Key]

  func get(_ number: Int) -> Int? { cache.get(keys[number]) }
  func set(_ number: Int) { cache.set(number, forKey: keys[number]) }
}

struct DrivenFoundation<Key: Hashable & Sendable>: DrivenCache {
  let cache: FoundationCache<Key>
  let keys: [FoundationCache<Key>.StoredKey]

  func get(_ number: Int) -> Int? { cache.get(keys[number]) }
  func set(_ number: Int) { cache.set(number, forKey: keys[number]) }
}

struct DrivenLevel<Level: CacheLevel>: DrivenCache where Level.Value == Int {
  let level: Level
  let keys: [Level.Key]

  func get(_ number: Int) async throws -> Int? { try await level.get(keys[number]) }
  func set(_ number: Int) async throws { try await level.set(number, forKey: keys[number]) }
}

/// A memory level that is asked without waiting.
struct DrivenPeek<Key: Hashable & Sendable>: DrivenCache {
  let level: MemoryCacheLevel<Key, Int>
  let keys: [Key]

  func get(_ number: Int) -> Int? { level.peek(keys[number]) }
  func set(_ number: Int) async throws { try await level.set(number, forKey: keys[number]) }
}

/// What a cache is asked to do with each key.
enum Work {
  case get
  case set
  /// A set in twenty, else a get.
  case mixed
  /// A get, and a set if nothing was there.
  case through
}

extension Comparison {
  /// Adds a cache that as many tasks drive at once.
  ///
  /// Generic, and not an existential, so that the cache's code is linked into the loop.
  mutating func add(_ name: String, _ work: Work, _ cache: some DrivenCache, _ requests: [Int], threads: Int) {
    switch work {
    case .get:
      add(name, threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) { try await cache.get($0) ?? 0 }
      }
    case .set:
      add(name, threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          try await cache.set($0)
          return 0
        }
      }
    case .mixed:
      add(name, threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          guard $0 % 20 == 0 else { return try await cache.get($0) ?? 0 }
          try await cache.set($0)
          return 0
        }
      }
    case .through:
      add(name, threads: threads) { worker, operations in
        try await Workload.walk(requests, worker: worker, operations) {
          if let value = try await cache.get($0) { return value }
          try await cache.set($0)
          return 0
        }
      }
    }
  }
}
