import CacheEngine
import Floor
import Foundation

/// How the cost of an operation grows with the number of entries and the size of the values.
enum Growth {
  static func plots(rounds: Int, isHuge: Bool) async throws -> [Plot] {
    let counts = [1_000, 10_000, 100_000, 1_000_000] + (isHuge ? [10_000_000] : [])
    var hits = Plot(title: "get, hit, String keys", abscissa: "entries", ordinate: "ns")
    var evictions = Plot(title: "set, evicting, String keys", abscissa: "entries", ordinate: "ns")
    for count in counts {
      for row in try await hit(count, rounds: rounds).run() { hits.add(row.name, Double(count), row.median) }
      for row in try await evict(count, rounds: rounds).run() { evictions.add(row.name, Double(count), row.median) }
    }
    var sizes = Plot(title: "values of Data, 1,000 entries", abscissa: "bytes", ordinate: "ns")
    for size in [16, 256, 4_096, 65_536, 1 << 20] {
      for row in try await values(size, rounds: rounds).run() { sizes.add(row.name, Double(size), row.median) }
    }
    return [hits, evictions, sizes]
  }

  private static func hit(_ count: Int, rounds: Int) async throws -> Comparison {
    let keys = Workload.textKeys(count)
    let order = Workload.order(count)
    let floor = LockedDictionary<String, Int>()
    let memory = MemoryCacheLevel<String, Int>(capacity: count, eviction: .lru)
    for (index, key) in keys.enumerated() {
      floor.set(index, forKey: key)
      try await memory.set(index, forKey: key)
    }
    var comparison = Comparison(title: "hit", operations: 300_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex") { try await Workload.drive($0, keys, order) { floor.get($0) } }
    comparison.add("MemoryCacheLevel.get") { try await Workload.drive($0, keys, order) { try await memory.get($0) } }
    return comparison
  }

  private static func evict(_ count: Int, rounds: Int) async throws -> Comparison {
    // As many again that are not held: every set evicts.
    let keys = Workload.textKeys(count * 2)
    let order = Array(keys.indices)
    let list = LockedLRU<String, Int>(capacity: count)
    let memory = MemoryCacheLevel<String, Int>(capacity: count, eviction: .lru)
    for (index, key) in keys.enumerated() {
      list.set(index, forKey: key)
      try await memory.set(index, forKey: key)
    }
    var comparison = Comparison(title: "evict", operations: 300_000, rounds: rounds)
    var (listAt, memoryAt) = (0, 0)
    comparison.add("Dictionary LRU behind Mutex") { operations in
      for _ in 0..<operations {
        list.set(1, forKey: keys[order[listAt]])
        listAt = (listAt + 1) % order.count
      }
    }
    comparison.add("MemoryCacheLevel.set") { operations in
      for _ in 0..<operations {
        try await memory.set(1, forKey: keys[order[memoryAt]])
        memoryAt = (memoryAt + 1) % order.count
      }
    }
    return comparison
  }

  private static func values(_ size: Int, rounds: Int) async throws -> Comparison {
    let keys = Workload.textKeys(1_000)
    let order = Workload.order(keys.count)
    let memory = MemoryCacheLevel<String, Data>(capacity: 2 << 30)
    let value = Data(repeating: 1, count: size)
    for key in keys { try await memory.set(value, forKey: key) }
    var comparison = Comparison(title: "values", operations: 100_000, rounds: rounds)
    comparison.add("MemoryCacheLevel.get") { operations in
      try await Workload.drive(operations, keys, order) { try await memory.get($0)?.count }
    }
    comparison.add("MemoryCacheLevel.set") { operations in
      try await Workload.drive(operations, keys, order) {
        try await memory.set(value, forKey: $0)
        return 0
      }
    }
    return comparison
  }
}
