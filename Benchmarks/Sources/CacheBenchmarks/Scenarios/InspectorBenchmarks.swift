import CacheEngine
import CacheEngineInspector
import Floor
import Foundation

/// What it costs an app that others could look into it, while nobody does, and while somebody does.
enum InspectorBenchmarks {
  private static let keys = (0..<1_024).map { "user:profile:\($0 + 100_000_000_000)" }

  static func comparisons(rounds: Int) async throws -> [Comparison] {
    [
      try await hits(rounds: rounds), try await lookups(rounds: rounds), try await misses(rounds: rounds),
      try await watched(rounds: rounds),
    ]
  }

  private static func filled() async throws -> MemoryCacheLevel<String, Int> {
    let level = MemoryCacheLevel<String, Int>(capacity: 4_096)
    for (index, key) in keys.enumerated() { try await level.set(index, forKey: key) }
    return level
  }

  private static func empty() -> MemoryCacheLevel<String, Int> { MemoryCacheLevel(capacity: 4_096) }

  /// A hit passes the wrapper round the cache and the one round its first level: two relaxed loads.
  private static func hits(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let inspector = CacheInspector()
    let plain = try await filled().compose(empty())
    let level = try await filled().observed(as: "memory", by: inspector)
    let whole = try await filled().observed(as: "memory", by: inspector)
      .compose(empty().observed(as: "lower", by: inspector)).traced(by: inspector)
    let told = CacheStatistics()
    let loud = try await filled().observed(as: "memory", by: told)
      .compose(empty().observed(as: "lower", by: told)).traced(by: told)
    var comparison = Comparison(
      title: "get, hit above, inspector attached to by nobody", operations: 500_000, rounds: rounds)
    comparison.add("2 levels, no inspector") { try await Workload.drive($0, keys, order) { try await plain.get($0) } }
    comparison.add("1 observed level, alone (1 load)") {
      try await Workload.drive($0, keys, order) { try await level.get($0) }
    }
    comparison.add("2 observed levels, traced (2 loads)") {
      try await Workload.drive($0, keys, order) { try await whole.get($0) }
    }
    comparison.add("2 levels that tell CacheStatistics") {
      try await Workload.drive($0, keys, order) { try await loud.get($0) }
    }
    return comparison
  }

  /// Every wrapper is inlined into who asks, and nothing in them is dynamic; but each has something to do when the level
  /// inside has answered, and comes back to the caller's executor for it, which `get` spares itself by `peek`.
  private static func lookups(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let inspector = CacheInspector()
    let plain = try await filled().compose(empty())
    let whole = try await filled().observed(as: "memory", by: inspector)
      .compose(empty().observed(as: "lower", by: inspector)).traced(by: inspector)
    var comparison = Comparison(
      title: "lookup, hit above, inspector attached to by nobody", operations: 200_000, rounds: rounds)
    comparison.add("2 levels, no inspector") {
      try await Workload.drive($0, keys, order) { try await plain.lookup($0).entry?.value }
    }
    comparison.add("2 observed levels, traced") {
      try await Workload.drive($0, keys, order) { try await whole.lookup($0).entry?.value }
    }
    return comparison
  }

  /// Every call is told: four events for a hit, six for a miss in both levels.
  ///
  /// What the inspector's own thread does for it is counted as well: it is the app's processor that does it.
  private static func watched(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    func whole(_ inspector: CacheInspector, _ level: MemoryCacheLevel<String, Int>) -> some CacheLevel<String, Int> {
      level.observed(as: "memory", by: inspector)
        .compose(empty().observed(as: "lower", by: inspector)).traced(by: inspector)
    }
    let quiet = whole(CacheInspector(), try await filled())
    let hit = whole(CacheInspector(), try await filled())
    let miss = whole(CacheInspector(), empty())
    let (first, second) = (try Onlooker(hit), try Onlooker(miss))
    var comparison = Comparison(title: "get, somebody attached", operations: 50_000, rounds: rounds)
    comparison.add("hit, nobody attached") { try await Workload.drive($0, keys, order) { try await quiet.get($0) } }
    comparison.add("hit, one attached") {
      try await Workload.drive($0, keys, order) { try await hit.get($0) }
      withExtendedLifetime(first) {}
    }
    comparison.add("miss in both, one attached") {
      try await Workload.drive($0, keys, order) { try await miss.get($0) }
      withExtendedLifetime(second) {}
    }
    return comparison
  }

  private static func misses(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let inspector = CacheInspector()
    let plain = empty().compose(empty())
    let whole = empty().observed(as: "memory", by: inspector)
      .compose(empty().observed(as: "lower", by: inspector)).traced(by: inspector)
    var comparison = Comparison(
      title: "get, miss in both levels, inspector attached to by nobody", operations: 100_000, rounds: rounds)
    comparison.add("2 levels, no inspector") { try await Workload.drive($0, keys, order) { try await plain.get($0) } }
    comparison.add("2 observed levels, traced") {
      try await Workload.drive($0, keys, order) { try await whole.get($0) }
    }
    return comparison
  }
}
