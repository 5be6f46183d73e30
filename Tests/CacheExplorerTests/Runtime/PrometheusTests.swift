import CacheEngine
import CacheEngineMetrics
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// What Prometheus is told of a cache, and what `--json` prints.
struct PrometheusTests {
  private let clock = ManualClock()

  private static let yaml = """
    levels:
      - memory: { count: 40, expiry: 3s }
      - conditioned: { when: { not: { suffix: "9" } }, level: { memory: { name: second, capacity: 1 KiB } } }
      - pooled:
          stale:
            whileRevalidate: 5s
            level: { memory: { name: kept, count: 40, expiry: 2s, keepExpired: 1m } }
            from: { capped: { limit: 3, level: { origin: { latency: 0s, size: 10 B, failures: 20%, seed: 3 } } } }
    """

  /// The names of a kind of operator's counts on the page.
  private static let operations = [
    "executions": "loads_total", "joined": "joined_total", "running": "running", "waiting": "waiting",
    "queued": "queued_total", "refused": "refused_total", "refreshes": "refreshes_total", "refreshing": "refreshing",
    "failedRefreshes": "refresh_errors_total", "fallbacks": "fallbacks_total",
  ]

  @Test("every count of --json is on the page for Prometheus, and the same, whatever happened", arguments: 1...4)
  func agree(seed: UInt64) async throws {
    let configuration = try ConfigurationReader.read(Self.yaml, file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
    let model = Model(configuration, title: "c", now: clock.now)
    var messages = RandomMessages(seed: seed, levels: model.live.levels, operators: model.live.operators)
    for step in 0..<600 {
      _ = try? await live.cache.get("key:\(step % 60)")
      if step % 7 == 0 { try? await live.cache.set(Data(), forKey: "key:\(step % 50)") }
      live.statistics.record(messages.event())
    }

    var page = PrometheusPage()
    page.add(live.statistics.snapshot, cache: "c")
    for level in live.levels {
      if let usage = level.storage?.usage { page.add(usage, cache: "c", level: level.name) }
    }
    var series: [Substring: Int] = [:]
    for line in page.text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " ") else { continue }
      series[line[..<space]] = Int(line[line.index(after: space)...])
    }
    var compared = 0
    func compare(_ count: Any?, _ name: String, _ labels: String = "") {
      let labels = labels.isEmpty ? "" : "," + labels
      let line = "cache_\(name){cache=\"c\"\(labels)}"
      #expect(count as? Int == series[line[...]], "\(line)")
      compared += 1
    }

    let json = try #require(JSONSerialization.jsonObject(with: Data(live.statisticsJSON.utf8)) as? [String: Any])
    for (field, outcome) in ["joined": "joined", "missed": "miss", "failed": "failed", "cancelled": "cancelled"] {
      compare(json[field], "requests_total", "outcome=\"\(outcome)\"")
    }
    compare(json["pending"], "requests_pending")
    let served = try #require(json["served"] as? [String: Int])
    compare(served.values.reduce(0, +), "requests_total", "outcome=\"hit\"")
    for name in live.levels.map(\.name) { compare(served[name], "served_total", "level=\"\(name)\"") }
    compare((json["pool"] as? [String: Int])?["inFlight"], "loads_pending")
    for level in try #require(json["levels"] as? [[String: Any]]) {
      let label = "level=\"\(level["name"] ?? "")\""
      for (field, name) in [
        "lookups": "lookups_total", "hits": "hits_total", "stale": "stale_total", "errors": "lookup_errors_total",
        "cancelled": "lookups_cancelled_total", "pending": "lookups_pending", "writeErrors": "write_errors_total",
        "entries": "level_entries", "bytes": "level_cost", "capacityBytes": "level_capacity",
      ] {
        compare(level[field], name, label)
      }
      for (field, purpose) in ["sets": "set", "backFills": "fill"] {
        compare(level[field], "stores_total", "\(label),purpose=\"\(purpose)\"")
      }
      for (reason, count) in try #require(level["misses"] as? [String: Int]) {
        compare(count, "misses_total", "\(label),reason=\"\(reason)\"")
      }
      for (cause, count) in try #require(level["removals"] as? [String: Int]) {
        compare(count, "removals_total", "\(label),cause=\"\(cause)\"")
      }
    }
    for operation in try #require(json["operators"] as? [[String: Any]]) {
      for (field, name) in Self.operations where operation[field] != nil {
        compare(operation[field], "operator_\(name)", "operator=\"\(operation["name"] ?? "")\"")
      }
      #expect(Set(operation.keys).subtracting(Self.operations.keys) == ["name", "kind"])
    }
    #expect(compared > 60)
    try await live.close()
  }
}
