import CacheEngine

/// What each eviction policy costs in a memory level that is full.
enum EvictionBenchmarks {
  static func comparisons(rounds: Int) async throws -> [Comparison] {
    [
      try await hit(entries: 1_024, rounds: rounds), try await hit(entries: 100_000, rounds: rounds),
      evictingSet(rounds: rounds),
    ]
  }

  /// Every key is there, but others had to leave before, so that the adaptive policy does all that it ever does.
  private static func hit(entries: Int, rounds: Int) async throws -> Comparison {
    let keys = Array(0..<entries)
    let order = Workload.order(entries)
    var comparison = Comparison(
      title: "peek, hit, Int keys, \(entries) entries in a full level", operations: 500_000, rounds: rounds)
    for eviction in Eviction.all {
      let level = MemoryCacheLevel<Int, Int>(countLimit: entries, eviction: eviction)
      for key in keys { try await level.set(key, forKey: key) }
      try await level.set(0, forKey: entries)
      // Back to what is asked for: what has left comes again in place of the other.
      try await level.remove(entries)
      for key in keys where level.peek(key) == nil { try await level.set(key, forKey: key) }
      comparison.add(eviction.name) { try await Workload.drive($0, keys, order) { level.peek($0) } }
    }
    return comparison
  }

  private static func evictingSet(rounds: Int) -> Comparison {
    var comparison = Comparison(
      title: "set of a new Int key, which evicts, 10000 entries", operations: 200_000, rounds: rounds)
    for eviction in Eviction.all {
      let level = MemoryCacheLevel<Int, Int>(countLimit: 10_000, eviction: eviction)
      comparison.add(eviction.name) { operations in
        for key in 0..<operations { try await level.set(key, forKey: key) }
      }
    }
    return comparison
  }
}
