import CacheEngine
import CacheEngineHitRatio
import Foundation

/// What it costs to tell from live requests what other caches would have hit, and how near the answers are.
struct WhatIfTable {
  private static let rounds = 3

  /// Replays a trace through a traced level, and tells its events to an observer.
  ///
  /// `nanoseconds`: How long a request is taken to be; `nil` for as long as it is here.
  static func line(_ name: String, _ trace: RequestTrace, share: Double, nanoseconds: Double?) async throws -> String {
    let keys = trace.keys.map { "key:\($0)" }
    let entries = max(100, trace.distinct / 10)
    let (hits, measured) = try await requests(keys, entries)
    let request = nanoseconds ?? measured
    var more: [Double] = []
    var report: HitRatioReport?
    for _ in 0..<rounds {
      let floor = tell(keys, hits, request, Nobody())
      let observer = HitRatioObserver(levels: [.init(name: "memory", capacity: entries, unit: .entries)], share: share)
      more.append(tell(keys, hits, request, observer) - floor)
      report = observer.reports.first
    }
    guard let report else { return name }
    let cost = more.min() ?? .nan
    let errors = report.estimates.dropFirst().map { estimate -> (error: Double, margin: Double) in
      let policy = SimulatedPolicy(rawValue: estimate.eviction.name) ?? .lru
      let exact = HitRatio.simulate(policy: policy, capacity: estimate.capacity, trace: trace).value
      return (100 * abs(estimate.value - exact), 100 * estimate.margin)
    }
    let mean = errors.reduce(0) { $0 + $1.error } / Double(max(1, errors.count))
    let most = errors.map(\.error).max() ?? .nan
    let inside = errors.count { $0.error <= max(0.1, $0.margin) }
    func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    return row([
      name, "\(trace.keys.count)", "\(entries)", text(request, 0), text(cost, 0), text(100 * cost / request, 1) + "%",
      text(100 * (report.timeShare ?? 0), 1) + "%",
      "1/\(Int((1 / report.rate).rounded()))", "\(report.bytes / 1_024)", text(mean, 2), text(most, 2),
      "\(inside)/\(errors.count)",
    ])
  }

  static var title: String {
    row([
      "trace", "requests", "entries", "ns", "more ns", "more", "told", "keys", "KiB", "mean off", "most off",
      "in margin",
    ])
  }

  private static func row(_ cells: [String]) -> String {
    cells.enumerated().map { index, cell in
      let width = index == 0 ? 24 : 10
      let pad = String(repeating: " ", count: max(1, width - cell.count))
      return index == 0 ? cell + pad : pad + cell
    }.joined()
  }

  /// Whether each request is a hit, and how long one takes: with counters as observers, as a service has them.
  private static func requests(_ keys: [String], _ entries: Int) async throws -> (hits: [Bool], nanoseconds: Double) {
    let statistics = CacheStatistics()
    let level = MemoryCacheLevel<String, Int>(countLimit: entries)
    let cache = level.observed(as: "memory", by: statistics).traced(by: statistics)
    var hits: [Bool] = []
    hits.reserveCapacity(keys.count)
    let began = ContinuousClock.now
    for key in keys {
      hits.append(try await cache.get(key) != nil)
      if hits.last == false { try await cache.set(1, forKey: key) }
    }
    let took = ContinuousClock.now - began
    let nanoseconds = Double(took.components.seconds) * 1e9 + Double(took.components.attoseconds) / 1e9
    return (hits, nanoseconds / Double(max(1, keys.count)))
  }

  /// Tells an observer the events of every request; nanoseconds of the processor for each request.
  ///
  /// Reading the clock for each event costs more than all else on some machines, so that the events come with times.
  private static func tell(_ keys: [String], _ hits: [Bool], _ nanoseconds: Double, _ observer: some CacheObserver)
    -> Double
  {
    let began = clock()
    var time = CacheInstant(nanoseconds: SystemClock().now.nanoseconds)
    let took = Duration.nanoseconds(Int64(nanoseconds))
    for (key, isHit) in zip(keys, hits) {
      time = time.advanced(by: took)
      observer.record(CacheEvent(time: time, level: "memory", key: key, kind: .lookupBegan))
      if isHit {
        observer.record(CacheEvent(time: time, level: "memory", key: key, kind: .hit(cost: 1, deadline: nil, .zero)))
      } else {
        observer.record(CacheEvent(time: time, level: "memory", key: key, kind: .miss(.absent, .zero)))
        observer.record(
          CacheEvent(time: time, level: "memory", key: key, kind: .stored(.set, cost: 1, deadline: nil, .zero)))
      }
      observer.record(CacheEvent(time: time, key: key, kind: .requestEnded(.get, .done, took)))
    }
    // What was noted last is part of the cost.
    if let observer = observer as? HitRatioObserver { _ = observer.reports }
    return Double(clock() - began) * 1_000_000_000 / Double(CLOCKS_PER_SEC) / Double(keys.count)
  }
}

private struct Nobody: CacheObserver {
  @inline(never)
  func record(_ event: CacheEvent) {}
}
