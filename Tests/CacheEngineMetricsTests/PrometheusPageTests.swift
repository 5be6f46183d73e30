import CacheEngine
import CacheEngineMetrics
import CacheEngineTesting
import Testing

/// The page that Prometheus reads.
///
/// `PagesTests` finds the code of the product's first page here.
struct PrometheusPageTests {
  private static let hostile = [
    "a\"b", "a\\", "\\\"", "a\nb", "a\r\nb", "\n", "", "le=\"1\"}", "\\n", "é\u{301}", "# TYPE x counter", "\u{0}",
  ]

  @Test("The page says exactly what was counted, of every level, reason and outcome")
  func figures() async throws {
    let statistics = CacheStatistics()
    let memory = MemoryCacheLevel<String, Int>()
    let cache = memory.observed(as: "memory", by: statistics)
      .compose(
        ScriptedLevel<String, Int> { key in
          switch key {
          case "broken": throw CacheError(.unreachable, "gone")
          case "absent": .miss(.absent)
          default: .hit(Entry(1))
          }
        }.observed(as: "origin", by: statistics), observer: nil
      ).traced(by: statistics)
    for key in ["a", "a", "b", "absent", "a"] { _ = try await cache.get(key) }
    await #expect(throws: CacheError.self) { try await cache.get("broken") }
    try await cache.set(1, forKey: "own")

    var page = PrometheusPage()
    page.add(statistics.snapshot, cache: "numbers")
    page.add(LevelUsage(count: 3, cost: 24, capacity: 100), cache: "numbers", level: "memory")
    let read = try Exposition(page.text)
    func labels(_ more: [String: String]) -> [String: String] { more.merging(["cache": "numbers"]) { $1 } }
    #expect(read["cache_requests_total", labels(["outcome": "hit"])] == 4)
    #expect(read["cache_requests_total", labels(["outcome": "miss"])] == 1)
    #expect(read["cache_requests_total", labels(["outcome": "failed"])] == 1)
    #expect(read["cache_requests_total", labels(["outcome": "cancelled"])] == 0)
    #expect(read["cache_requests_pending", labels([:])] == 0)
    #expect(read["cache_loads_pending", labels([:])] == 0)
    #expect(read["cache_request_duration_seconds_count", labels([:])] == 6)
    #expect(read["cache_served_total", labels(["level": "memory"])] == 2)
    #expect(read["cache_served_total", labels(["level": "origin"])] == 2)
    #expect(read["cache_hits_total", labels(["level": "memory"])] == 2)
    #expect(read["cache_misses_total", labels(["level": "memory", "reason": "absent"])] == 4)
    #expect(read["cache_lookup_errors_total", labels(["level": "origin"])] == 1)
    #expect(read["cache_stores_total", labels(["level": "memory", "purpose": "fill"])] == 2)
    #expect(read["cache_stores_total", labels(["level": "memory", "purpose": "set"])] == 1)
    #expect(read["cache_lookup_duration_seconds_count", labels(["level": "memory", "outcome": "hit"])] == 2)
    #expect(read["cache_writes_total", labels(["outcome": "done"])] == 1)
    #expect(read["cache_level_entries", labels(["level": "memory"])] == 3)
    #expect(read["cache_level_cost", labels(["level": "memory"])] == 24)
    #expect(read["cache_level_capacity", labels(["level": "memory"])] == 100)
    #expect(read["cache_level_entries_limit", labels(["level": "memory"])] == nil)
    #expect(!page.text.contains("broken"), "a page has no keys")
  }

  @Test("The stack of the first page is on the page of Prometheus")
  func firstPage() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let source = ScriptedLevel<String, Int> { _ in .hit(Entry(1)) }
    // Article
    let statistics = CacheStatistics()
    let photos = memory.observed(as: "memory", by: statistics)
      .compose(source.observed(as: "source", by: statistics))
      .traced(by: statistics)

    var page = PrometheusPage()
    page.add(statistics.snapshot, cache: "photos")
    let body = page.text  // of the response to GET /metrics, with PrometheusPage.contentType
    // end
    #expect(body.contains("cache_requests_pending{cache=\"photos\"} 0\n"))
    _ = try await photos.get("a")
    page.add(statistics.snapshot, cache: "photos")
    let read = try Exposition(page.text)
    #expect(read["cache_served_total", ["cache": "photos", "level": "source"]] == 1)
  }

  @Test(
    "Names with quotation marks, backslashes and ends of lines come through, of caches, levels, operators and reasons")
  func hostileNames() throws {
    var counts = CacheStatistics.Snapshot()
    for (number, name) in Self.hostile.enumerated() {
      counts.levels[name] = CacheStatistics.Level()
      counts.levels[name]?.hits = number
      counts.levels[name]?.misses = [MissReason(rawValue: name): number]
      counts.operators[name] = CacheStatistics.Operator()
      counts.operators[name]?.loads = number
      counts.served[name] = number
    }
    var page = PrometheusPage()
    for name in Self.hostile {
      page.add(counts, cache: name)
      page.add(LevelUsage(count: 1, cost: 1), cache: name, level: name)
    }
    let read = try Exposition(page.text)
    for cache in Self.hostile {
      #expect(read["cache_level_entries", ["cache": cache, "level": cache]] == 1)
      for (number, name) in Self.hostile.enumerated() {
        #expect(read["cache_hits_total", ["cache": cache, "level": name]] == Double(number))
        #expect(read["cache_misses_total", ["cache": cache, "level": name, "reason": name]] == Double(number))
        #expect(read["cache_operator_loads_total", ["cache": cache, "operator": name]] == Double(number))
        #expect(read["cache_served_total", ["cache": cache, "level": name]] == Double(number))
      }
    }
    #expect(read.all("cache_hits_total").count == Self.hostile.count * Self.hostile.count)
  }

  @Test("A cache that is added twice stands there once, as it was last")
  func twice() throws {
    var (page, counts) = (PrometheusPage(), CacheStatistics.Snapshot())
    counts.missed = 1
    counts.served = ["first": 1]
    for cache in ["a", "b", "ab", "a\",b"] { page.add(counts, cache: cache) }
    page.add(LevelUsage(count: 3, cost: 24), cache: "a", level: "first")
    counts.missed = 2
    counts.served = ["second": 1]
    page.add(counts, cache: "a")
    var read = try Exposition(page.text)
    #expect(read["cache_requests_total", ["cache": "a", "outcome": "miss"]] == 2)
    #expect(read["cache_served_total", ["cache": "a", "level": "first"]] == nil)
    #expect(read["cache_served_total", ["cache": "a", "level": "second"]] == 1)
    #expect(read["cache_level_entries", ["cache": "a", "level": "first"]] == 3)
    for cache in ["b", "ab", "a\",b"] {
      #expect(read["cache_requests_total", ["cache": cache, "outcome": "miss"]] == 1)
      #expect(read["cache_served_total", ["cache": cache, "level": "first"]] == 1)
      page.add(CacheStatistics.Snapshot(), cache: cache)
    }
    page.add(CacheStatistics.Snapshot(), cache: "a")
    #expect(!page.text.contains("cache_served_total"))
    read = try Exposition(page.text)
    #expect(read["cache_requests_total", ["cache": "a", "outcome": "miss"]] == 0)
  }

  @Test("Buckets hold what the histogram counted, and bounds in any order, twice, or not longer than zero do no harm")
  func buckets() throws {
    var counts = CacheStatistics.Snapshot()
    for milliseconds in [0, 1, 3, 50, 50, 2_000, 100_000] { counts.latency.record(.milliseconds(milliseconds)) }
    var page = PrometheusPage(bounds: [
      .seconds(1), .milliseconds(2), .zero, .seconds(-1), .milliseconds(2), .milliseconds(100), .nanoseconds(1),
    ])
    page.add(counts, cache: "a")
    let read = try Exposition(page.text)
    let name = "cache_request_duration_seconds"
    for (bound, count) in [("1e-09", 1.0), ("0.002", 2), ("0.1", 5), ("1.0", 5), ("+Inf", 7)] {
      #expect(read[name + "_bucket", ["cache": "a", "le": bound]] == count, "up to \(bound)")
    }
    #expect(read.all(name + "_bucket").count == 5)
    #expect(read[name + "_sum", ["cache": "a"]] == 102.104)
    #expect(try Exposition(PrometheusPage().text).samples.isEmpty)
  }

  @Test("No count is below zero, even of who began to listen in the middle of a call")
  func middle() throws {
    let statistics = CacheStatistics()
    statistics.record(
      CacheEvent(time: CacheInstant(nanoseconds: 0), level: "disk", kind: .hit(cost: 1, deadline: nil, .seconds(1))))
    var page = PrometheusPage()
    page.add(statistics.snapshot, cache: "a")
    let read = try Exposition(page.text)
    #expect(read.samples.values.allSatisfy { $0 >= 0 })
    #expect(read["cache_hits_total", ["cache": "a", "level": "disk"]] == 1)
  }

  @Test(
    "The reader of these tests refuses what is no page",
    arguments: [
      "a 1\n", "# TYPE a counter\na 1", "# TYPE a counter\na 1\na 2\n", "# TYPE a counter\nb 1\n",
      "# TYPE a counter\na{b=\"\\x\"} 1\n", "# TYPE a counter\na{b=\"1\",b=\"2\"} 1\n", "# TYPE a counter\na x\n",
      "# TYPE a counter\n# TYPE a counter\na 1\n", "# TYPE a counter\na{b=\"c\nd\"} 1\n",
      "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
      "# TYPE a histogram\na_bucket{le=\"1\"} 3\na_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 2\n",
    ])
  func refusals(text: String) { #expect(throws: Exposition.Refusal.self) { try Exposition(text) } }
}
