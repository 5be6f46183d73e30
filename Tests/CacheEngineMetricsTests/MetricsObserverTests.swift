#if Metrics
import CacheEngine
import CacheEngineMetrics
import CacheEngineTesting
import Metrics
import MetricsTestKit
import Synchronization
import Testing

/// What a metrics system is told.
struct MetricsObserverTests {
  private let figures = TestMetrics()

  private func event(_ level: String?, _ kind: CacheEvent.Kind) -> CacheEvent {
    CacheEvent(time: CacheInstant(nanoseconds: 0), level: level, key: "secret", kind: kind)
  }

  @Test("Hits, misses by reason, failures, stores, loads and latencies are told with cache and level")
  func told() async throws {
    let metrics = MetricsObserver(cache: "numbers", factory: figures)
    let origin = ScriptedLevel<String, Int> { key in
      if key == "broken" { throw CacheError(.unreachable, "gone") }
      return key == "absent" ? .miss(.absent) : .hit(Entry(1))
    }
    let cache = MemoryCacheLevel<String, Int>(capacity: 2, removalListener: metrics.removals(from: "memory")) { _, _ in
      1
    }
    .observed(as: "memory", by: metrics)
    .compose(origin.observed(as: "origin", by: metrics), observer: nil).pooled(observer: metrics).traced(by: metrics)
    for key in ["a", "a", "b", "absent", "c"] { _ = try await cache.get(key) }
    await #expect(throws: CacheError.self) { try await cache.get("broken") }

    func total(_ label: String, _ dimensions: [(String, String)]) -> Int64 {
      figures.counterTotal(label: label, dimensions: [("cache", "numbers")] + dimensions)
    }
    #expect(total("cache_requests", [("outcome", "hit")]) == 4)
    #expect(total("cache_requests", [("outcome", "hit"), ("level", "memory")]) == 1)
    #expect(total("cache_requests", [("outcome", "miss")]) == 1)
    #expect(total("cache_requests", [("outcome", "failed")]) == 1)
    #expect(total("cache_lookups", [("level", "memory"), ("outcome", "hit")]) == 1)
    #expect(total("cache_misses", [("level", "memory"), ("reason", "absent")]) == 5)
    #expect(total("cache_failures", [("level", "origin"), ("operation", "get")]) == 1)
    #expect(total("cache_stores", [("level", "memory"), ("purpose", "fill")]) == 3)
    #expect(total("cache_removals", [("level", "memory"), ("cause", "evicted")]) == 1)
    #expect(total("cache_loads", []) >= 5)
    let timers = figures.timers(label: "cache_lookup_duration", dimensions: [("level", "origin")])
    #expect(timers.flatMap(\.values).count == 5)
    #expect(timers.flatMap(\.values).allSatisfy { $0 >= 0 })
  }

  @Test("Every kind of event is told as the documentation says, and those that it does not name are not told")
  func figuresOfEvents() {
    let metrics = MetricsObserver(cache: "c", factory: figures)
    let kinds: [CacheEvent.Kind] = [
      .requestBegan(.get), .requestEnded(.get, .hit(level: "disk"), .milliseconds(1)),
      .requestEnded(.set, .done, .milliseconds(2)), .lookupBegan, .hit(cost: 1, deadline: nil, .milliseconds(3)),
      .miss(.expired, .milliseconds(4)), .failed(.get, "gone", .milliseconds(5)),
      .failed(.clear, "gone", .milliseconds(6)),
      .cancelled(.get, .milliseconds(7)), .cancelled(.set, .milliseconds(8)),
      .stored(.set, cost: 1, deadline: nil, .milliseconds(9)),
      .stored(.backFill, cost: 1, deadline: nil, .milliseconds(10)), .removed(.evicted, cost: 1),
      .done(.remove, .milliseconds(11)), .memoryWarning(dropped: 1, cost: 1, .milliseconds(12)), .flightBegan,
      .flightJoined(callers: 2), .flightLeft(callers: 1), .flightEnded(callers: 1, .milliseconds(13)),
      .operated(.rememberedMiss),
    ]
    for kind in kinds { metrics.record(event("l", kind)) }
    func series(_ label: String, _ dimensions: [(String, String)]) -> String {
      "\(label) \(dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ","))"
    }
    let counted = figures.counters.map { "\(series($0.label, $0.dimensions)): \($0.totalValue)" }
    #expect(
      counted.sorted() == [
        "cache_failures cache=c,level=l,operation=clear: 1", "cache_failures cache=c,level=l,operation=get: 1",
        "cache_loads cache=c,level=l: 1", "cache_loads_joined cache=c,level=l: 1",
        "cache_lookups cache=c,level=l,outcome=cancelled: 1", "cache_lookups cache=c,level=l,outcome=failed: 1",
        "cache_lookups cache=c,level=l,outcome=hit: 1", "cache_lookups cache=c,level=l,outcome=miss: 1",
        "cache_misses cache=c,level=l,reason=expired: 1", "cache_operations cache=c,level=l,event=remembered: 1",
        "cache_removals cache=c,level=l,cause=evicted: 1", "cache_requests cache=c,level=disk,outcome=hit: 1",
        "cache_stores cache=c,level=l,purpose=fill: 1", "cache_stores cache=c,level=l,purpose=set: 1",
      ])
    let timed = figures.timers.map { "\(series($0.label, $0.dimensions)): \($0.values.map { $0 / 1_000_000 })" }
    #expect(
      timed.sorted() == [
        "cache_load_duration cache=c,level=l: [13]", "cache_lookup_duration cache=c,level=l,outcome=cancelled: [7]",
        "cache_lookup_duration cache=c,level=l,outcome=failed: [5]",
        "cache_lookup_duration cache=c,level=l,outcome=hit: [3]",
        "cache_lookup_duration cache=c,level=l,outcome=miss: [4]",
        "cache_request_duration cache=c,level=disk,outcome=hit: [1]",
      ])
  }

  @Test("All series of a figure have the same dimensions, or the factory of swift-prometheus would end the program")
  func sameDimensions() {
    let metrics = MetricsObserver(cache: "c", factory: figures)
    let outcomes: [CacheEvent.Outcome] = [
      .hit(level: "memory"), .hit(level: nil), .miss(.absent), .failed("gone"), .cancelled,
    ]
    for outcome in outcomes { metrics.record(event(nil, .requestEnded(.get, outcome, .zero))) }
    for level in ["memory", nil] { metrics.record(event(level, .failed(.set, "gone", .zero))) }
    let made = figures.counters.map { ($0.label, $0.dimensions) } + figures.timers.map { ($0.label, $0.dimensions) }
    let names = Dictionary(grouping: made, by: \.0).mapValues { Set($0.map { $0.1.map(\.0) }) }
    #expect(names.count == 3 && names.values.allSatisfy { $0.count == 1 })
    #expect(figures.counterTotal(label: "cache_requests", dimensions: [("outcome", "miss"), ("level", "none")]) == 1)
  }

  @Test("However many names of levels and reasons come, the series are bounded, nothing is lost, and no key is told")
  func bounded() {
    let metrics = MetricsObserver(cache: "c", factory: figures)
    for number in 0..<1_000 {
      metrics.record(event("level \(number)", .miss(MissReason(rawValue: "reason \(number)"), .zero)))
    }
    let limit = MetricsObserver.mostNames + 1
    #expect(Set(figures.counters.flatMap { $0.dimensions.filter { $0.0 == "level" }.map(\.1) }).count == limit)
    #expect(figures.counters(label: "cache_misses").count == limit)
    #expect(figures.counterTotal(label: "cache_misses") == 1_000)
    #expect(figures.counterTotal(label: "cache_misses", dimensions: [("level", "other")]) == Int64(1_001 - limit))
    #expect(!figures.counters.contains { $0.dimensions.contains { $0.1.contains("secret") } })
  }

  @Test("Counts of many tasks at once are all told, though several make a series at the same time")
  func atOnce() async {
    let metrics = MetricsObserver(cache: "c", factory: figures)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for _ in 0..<500 {
            metrics.record(
              CacheEvent(
                time: CacheInstant(nanoseconds: 0), level: "level \(task % 2)",
                kind: .hit(cost: 1, deadline: nil, .seconds(1))))
          }
        }
      }
    }
    #expect(figures.counterTotal(label: "cache_lookups") == 4_000)
    #expect(figures.timers(label: "cache_lookup_duration").flatMap(\.values).count == 4_000)
  }

  @Test("Of two figures that are made for one series at the same time only one counts")
  func madeTwice() {
    /// Hands out a figure a look-up, as systems do that do not know which they have, and is overtaken while it makes the first.
    final class Overtaken: MetricsFactory {
      let figures = TestMetrics()
      let made = Mutex((count: 0, overtake: (@Sendable () -> Void)?.none))

      func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let (number, overtake) = made.withLock { made in
          made.count += 1
          defer { made.overtake = nil }
          return (made.count, made.overtake)
        }
        overtake?()
        return figures.makeCounter(label: "\(label) \(number)", dimensions: dimensions)
      }
      func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        figures.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
      }
      func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        figures.makeTimer(label: label, dimensions: dimensions)
      }
      func destroyCounter(_ handler: any CounterHandler) { figures.destroyCounter(handler) }
      func destroyRecorder(_ handler: any RecorderHandler) { figures.destroyRecorder(handler) }
      func destroyTimer(_ handler: any TimerHandler) { figures.destroyTimer(handler) }
    }
    let factory = Overtaken()
    let metrics = MetricsObserver(cache: "c", factory: factory)
    let event = event("level", .stored(.set, cost: 1, deadline: nil, .zero))
    factory.made.withLock { $0.overtake = { metrics.record(event) } }
    for _ in 0..<3 { metrics.record(event) }
    let counters = factory.figures.counters.filter { $0.label.hasPrefix("cache_stores") }
    #expect(counters.map(\.totalValue).sorted() == [0, 4])
  }

  @Test("How full a level is can be told")
  func usage() throws {
    let metrics = MetricsObserver(cache: "c", factory: figures)
    metrics.report(LevelUsage(count: 3, cost: 4_096), as: "disk")
    let cost = try figures.expectGauge("cache_level_cost", [("cache", "c"), ("level", "disk")])
    #expect(cost.lastValue == 4_096)
    let entries = try figures.expectGauge("cache_level_entries", [("cache", "c"), ("level", "disk")])
    #expect(entries.lastValue == 3)
  }
}
#endif
