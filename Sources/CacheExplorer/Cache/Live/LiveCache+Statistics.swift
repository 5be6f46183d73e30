import CacheEngineHitRatio
import CacheEngine
import CacheEngineTesting
import ExplorerCommands
import ExplorerState
import ExplorerText

extension LiveCache {
  /// The statistics of every level as one line of JSON.
  package var statisticsJSON: String {
    let counts = statistics.snapshot
    return JSONText.object([
      ("version", JSONText.version),
      ("levels", .array(levels.map { json($0, counts.levels[$0.name] ?? CacheStatistics.Level()) })),
      (
        "pool",
        .object([
          ("executions", .number(counts.pool.executions)), ("joined", .number(counts.pool.joined)),
          ("inFlight", Self.underWay(counts.pool.inFlight)),
        ])
      ),
      ("operators", .array(operators.map { json($0, counts.operators[$0.name] ?? OperatorTraffic()) })),
      ("served", .object(counts.served.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })),
      ("requests", .number(counts.requests)), ("joined", .number(counts.joined)), ("missed", .number(counts.missed)),
      ("failed", .number(counts.failed)),
      ("cancelled", .number(counts.cancelled)), ("pending", Self.underWay(counts.pending)),
      ("whatIf", .array(whatIf.reports.map(WhatIfText.json))), ("recent", json(recent)),
    ]).line
  }

  /// The last seconds.
  private func json(_ counts: CacheStatistics.Snapshot) -> JSONText {
    let levels = levels.map { level in
      JSONText.object([("name", .text(level.name))] + Self.json(counts.levels[level.name] ?? CacheStatistics.Level()))
    }
    return .object([
      ("seconds", .number(Int(RecentFigures.window.components.seconds))), ("levels", .array(levels)),
      ("served", Self.json(counts.served.map { ($0.key, $0.value) })), ("requests", .number(counts.requests)),
      ("joined", .number(counts.joined)), ("missed", .number(counts.missed)), ("failed", .number(counts.failed)),
      ("cancelled", .number(counts.cancelled)),
    ])
  }

  private func json(_ level: Level, _ counts: CacheStatistics.Level) -> JSONText {
    let usage = level.storage?.usage
    return .object(
      [("name", .text(level.name)), ("kind", .text(level.kind))] + Self.json(counts) + [
        ("pending", Self.underWay(counts.pending)), ("entries", usage.map { .number($0.count) }),
        ("bytes", usage.map { .number($0.cost) }), ("capacityBytes", usage?.capacity.map { .number($0) }),
        ("fault", Self.json(level)), ("shared", level.shared?.status().json),
        ("owner", (level.owner?()?.words).map { .text($0) }),
      ])
  }

  private static func json(_ counts: CacheStatistics.Level) -> [(String, JSONText?)] {
    let latency = counts.latency
    func microseconds(_ share: Double) -> JSONText? {
      latency.percentile(share).map { .microseconds(nanoseconds: $0.clampedNanoseconds) }
    }
    return [
      ("lookups", .number(counts.lookups)), ("hits", .number(counts.hits)), ("stale", .number(counts.stale)),
      ("misses", json(counts.misses.map { ($0.key.rawValue, $0.value) })),
      ("sets", .number(counts.sets)), ("backFills", .number(counts.backFills)),
      ("removals", json(counts.removals.map { ($0.key.rawValue, $0.value) })),
      ("errors", .number(counts.errors)), ("writeErrors", .number(counts.writeErrors)),
      ("cancelled", .number(counts.cancelled)),
      (
        "latencyMicroseconds",
        latency.count == 0
          ? nil
          : .object([
            ("p50", microseconds(0.5)), ("p99", microseconds(0.99)),
            ("max", .microseconds(nanoseconds: latency.max.clampedNanoseconds)),
          ])
      ),
    ]
  }

  /// Who begins to listen in the middle of a call hears of its end only.
  private static func underWay(_ count: Int) -> JSONText { .number(max(0, count)) }

  /// What went wrong on purpose; `nil` if nothing ever did.
  private static func json(_ level: Level) -> JSONText? {
    let (fault, count) = (level.fault, level.faults.count)
    guard fault != nil || count != FaultInjector.Count() else { return nil }
    return .object([
      ("now", fault.map(JSONText.text)), ("errors", .number(count.errors)), ("delays", .number(count.delays)),
    ])
  }

  private func json(_ operation: Operator, _ traffic: OperatorTraffic) -> JSONText {
    .object(
      [("name", .text(operation.name)), ("kind", .text(operation.kind))]
        + traffic.counters(of: operation.kind).map { ($0.name, .number($0.count)) }
        + (operation.kind == "breaker" ? [("phase", .text((traffic.circuit ?? .closed).rawValue))] : []))
  }

  private static func json(_ counts: [(String, Int)]) -> JSONText {
    .object(counts.sorted { $0.0 < $1.0 }.map { ($0.0, .number($0.1)) })
  }

  /// The statistics of every level, a line for each, for a person.
  package var summary: String {
    let counts = statistics.snapshot
    let lines = levels.map { level -> String in
      let count = counts.levels[level.name] ?? CacheStatistics.Level()
      var parts = [
        "\(level.name): \(Format.counted(count.lookups, "lookup", isGrouped: false))",
        Format.counted(count.hits, "hit", isGrouped: false),
      ]
      for (reason, number) in count.misses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        parts.append("\(number) \(reason)")
      }
      if count.stale > 0 { parts.append("\(count.stale) served stale") }
      if count.errors > 0 { parts.append("\(count.errors) failed") }
      if count.writeErrors > 0 {
        parts.append("\(Format.counted(count.writeErrors, "write", isGrouped: false)) failed")
      }
      if let usage = level.storage?.usage {
        parts += [
          Format.counted(usage.count, "entry", "entries", isGrouped: false),
          Format.counted(usage.cost, "byte", isGrouped: false),
        ]
      }
      if let shared = level.shared { parts.append(shared.status().hearing) }
      if let owner = level.owner?() { parts.append("owner: \(owner.words)") }
      if let fault = level.fault { parts.append("fault: \(fault)") }
      return parts.joined(separator: ", ")
    }
    let work = operators.compactMap { operation -> String? in
      let traffic = counts.operators[operation.name] ?? OperatorTraffic()
      var parts = traffic.counters(of: operation.kind).map { "\($0.count) \($0.words)" }
      if operation.kind == "breaker" { parts.insert((traffic.circuit ?? .closed).rawValue, at: 0) }
      return parts.isEmpty ? nil : "\(operation.name): \(parts.joined(separator: ", "))"
    }
    let served = counts.served.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    let total =
      Format.counted(counts.requests, "request", isGrouped: false)
      + "; served by \(served.isEmpty ? "nobody yet" : served)"
      + (counts.joined > 0 ? ", \(counts.joined) joined" : "")
    return ([total] + lines + work + [recentSummary]).joined(separator: "\n")
  }

  private var recentSummary: String {
    let counts = recent
    let parts = levels.compactMap { level -> String? in
      guard let count = counts.levels[level.name], count.answered > 0 else { return nil }
      return "\(level.name) hit \(count.hits) of \(Format.counted(count.answered, "lookup", isGrouped: false))"
    }
    return
      ([
        "last \(RecentFigures.window.components.seconds) s: "
          + Format.counted(counts.requests, "request", isGrouped: false)
      ] + parts).joined(separator: ", ")
  }
}
