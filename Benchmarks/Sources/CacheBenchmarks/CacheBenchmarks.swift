import CacheEngine
import Floor

@main
struct CacheBenchmarks {
  static func main() async throws {
    // A task and not the main actor: that is where most callers are.
    try await Task.detached { try await run() }.value
  }

  private static func run() async throws {
    let isQuick = CommandLine.arguments.contains("--quick")
    let rounds = isQuick ? 5 : 15
    for comparison in try await [
      stringHit(entries: 1_024, rounds: rounds), stringHit(entries: 100_000, rounds: rounds),
      integerHit(rounds: rounds),
      publishedHit(rounds: rounds),
      modelChange(models: 1_000, rounds: rounds), modelChange(models: 100_000, rounds: rounds),
      modelScan(models: 100_000, rounds: isQuick ? 3 : 5),
    ] + CompositionBenchmarks.comparisons(rounds: rounds) + EvictionBenchmarks.comparisons(rounds: rounds) {
      let rows = try await comparison.run()
      let floor = rows.first?.median ?? .nan
      print("\n\(comparison.title)")
      print("  \(pad("", 44)) \(pad("ns/op", 9)) \(pad("min-max", 17)) ratio")
      for row in rows {
        print(
          "  \(pad(row.name, 44)) \(pad(decimal(row.median), 9))",
          pad("\(decimal(row.least))-\(decimal(row.most))", 17), decimal(row.median / floor, 2))
      }
    }
  }

  private static func keys(_ count: Int) -> [String] {
    (0..<count).map { "user:profile:" + String(repeating: "0", count: 12 - String($0).count) + String($0) }
  }

  private static func stringHit(entries: Int, rounds: Int) async throws -> Comparison {
    let keys = keys(entries)
    let order = Workload.order(entries)
    let floor = LockedDictionary<String, Int>()
    let memory = MemoryCacheLevel<String, Int>(capacity: entries * 2)
    for (index, key) in keys.enumerated() {
      floor.set(index, forKey: key)
      try await memory.set(index, forKey: key)
    }
    let composed = memory.compose(MemoryCacheLevel<String, Int>(name: "below"))
    let pooled = composed.pooled()
    let erased = composed.normalize()
    var comparison = Comparison(
      title: "get, hit, String keys of 25 bytes, \(entries) entries", operations: 500_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("Dictionary behind Mutex, async") {
      try await Workload.drive($0, keys, order) { try await floor.getAsync($0) }
    }
    comparison.add("MemoryCacheLevel.peek") { try await Workload.drive($0, keys, order) { memory.peek($0) } }
    comparison.add("MemoryCacheLevel.get") { try await Workload.drive($0, keys, order) { try await memory.get($0) } }
    comparison.add("memory.compose(below).get") {
      try await Workload.drive($0, keys, order) { try await composed.get($0) }
    }
    comparison.add("memory.compose(below).pooled().get") {
      try await Workload.drive($0, keys, order) { try await pooled.get($0) }
    }
    comparison.add("memory.compose(below).normalize().get") {
      try await Workload.drive($0, keys, order) { try await erased.get($0) }
    }
    return comparison
  }

  private static func integerHit(rounds: Int) async throws -> Comparison {
    let keys = Array(0..<1_024)
    let order = Workload.order(1_024)
    let floor = LockedDictionary<Int, Int>()
    let memory = MemoryCacheLevel<Int, Int>(capacity: 4_096)
    for key in keys {
      floor.set(key, forKey: key)
      try await memory.set(key, forKey: key)
    }
    let composed = memory.compose(MemoryCacheLevel<Int, Int>(name: "below"))
    var comparison = Comparison(title: "get, hit, Int keys, 1024 entries", operations: 1_000_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("memory.compose(below).get") {
      try await Workload.drive($0, keys, order) { try await composed.get($0) }
    }
    return comparison
  }
}
