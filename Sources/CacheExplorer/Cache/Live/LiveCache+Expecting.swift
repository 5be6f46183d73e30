import CacheEngine
package import ExplorerCommands
import ExplorerState
import ExplorerText

extension LiveCache {
  /// What expectations can be about here.
  var expectationNames: ExpectationNames {
    ExpectationNames(
      levels: levels.map(\.name), operators: operators.map { ($0.name, $0.kind) }, hasProxy: http != nil)
  }

  /// Compares a figure with what is expected of it.
  ///
  /// - Throws: ``CommandError`` if there is no such level, operator or figure.
  package func measure(_ expectation: Expectation) throws(CommandError) -> ExpectationReport {
    try expectationNames.check(expectation)
    let counts = expectation.isLately ? recent : statistics.snapshot
    let measured =
      switch expectation.owner {
      case nil: whole(expectation, counts)
      case Expectation.proxy? where http != nil: measureProxy(expectation)
      case let owner?:
        level(named: owner).map { measure(expectation, at: $0, counts) }
          ?? measure(expectation, ofOperator: owner, counts)
      }
    return ExpectationReport(
      expectation: expectation, actual: measured.value, counts: measured.counts, source: measured.source,
      window: expectation.isLately ? RecentFigures.window : openedAt.duration(to: clock.now))
  }

  private struct Measured {
    var value: Double?
    var counts: [(String, Int)] = []
    var source: String

    static func none(_ reason: String) -> Measured { Measured(value: nil, source: "no traffic: \(reason)") }

    /// `all`: The whole and its words.
    static func share(
      _ part: Int, _ partWord: String, of whole: Int, _ all: String, _ counted: [(String, Int)] = []
    ) -> Measured {
      Measured(
        value: whole > 0 ? Double(part) / Double(whole) : nil,
        counts: [(partWord, part), ("answered", whole)] + counted,
        source: "\(partWord): \(Format.count(part)) of \(all)" + Measured.list(counted))
    }

    static func list(_ counted: [(String, Int)]) -> String {
      let shown = counted.filter { $0.1 > 0 }.map { "\(Format.count($0.1)) \($0.0)" }
      return shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
    }
  }

  /// Nobody has asked anything of the cache.
  private static func isIdle(_ counts: CacheStatistics.Snapshot) -> Bool {
    counts.requests + counts.writes.requests == 0
      && counts.levels.values.allSatisfy { $0.lookups == 0 && $0.sets == 0 }
  }

  // MARK: The whole cache

  private func whole(_ expectation: Expectation, _ count: CacheStatistics.Snapshot) -> Measured {
    let reads = count.requests - count.pending
    let sources = Set(levels.filter(\.isSource).map(\.name) + operators.map(\.name))
    let hits = count.served.reduce(0) { $0 + (sources.contains($1.key) ? 0 : $1.value) }
    let ends = [("joined", count.joined), ("cancelled", count.cancelled)]
    func share(_ part: Int, _ word: String) -> Measured {
      guard count.ended > 0 else { return .none("no read of the cache was answered") }
      return .share(part, word, of: count.ended, "\(Format.counted(count.ended, "read")) that ended", ends)
    }
    func number(_ value: Int, _ one: String, _ rest: String = "") -> Measured {
      // Having been asked nothing counts only for those who expect just that.
      let isMeant = expectation.figure.kind == .requests && expectation.comparison == .equal && expectation.value == 0
      guard !Self.isIdle(count) || isMeant else { return .none("nothing was asked of the cache") }
      return Measured(
        value: Double(value), counts: [(expectation.figure.name, value), ("reads", reads)],
        source: "\(Format.counted(value, one))\(rest) of the whole cache; \(Format.counted(reads, "read")) ended")
    }
    switch expectation.figure.kind {
    case .hit: return share(hits, "hits")
    case .miss: return share(count.missed, "misses")
    case .error: return share(count.failed, "errors")
    case .requests: return number(count.requests, "read")
    case .hits: return number(hits, "read", " served above the sources")
    case .misses: return number(count.missed, "missed read")
    case .errors: return number(count.failed, "failed read")
    case .cancelled: return number(count.cancelled, "cancelled read")
    case .joined: return number(count.pool.joined, "joined load")
    case .executions: return number(count.pool.executions, "load", " begun by pools")
    case .p50, .p90, .p95, .p99, .p999, .max:
      return latency(expectation.figure, count.latency, "read", "of the whole cache")
    case .served, .used, .lookups, .stale, .sets, .fills, .evictions, .expirations, .entries, .bytes, .refused, .queued,
      .remembered, .timeouts, .retries, .opened, .fallbacks, .refreshes, .failedRefreshes, .validated, .collapsed,
      .forwarded,
      .sent, .saved:
      return .none("\(expectation.figure.name) is a figure of one level or operator")
    }
  }

  private func latency(
    _ figure: ExpectedFigure, _ latency: LatencyHistogram, _ one: String, _ rest: String
  ) -> Measured {
    guard latency.count > 0 else { return .none("no answer was measured among \(one)s \(rest)") }
    let value = figure.percentile.map { latency.percentile($0) } ?? latency.max
    let precision = figure.percentile == nil ? "" : "; exact to 6 %, rounded up"
    return Measured(
      value: value.map { Double($0.clampedNanoseconds) }, counts: [("measured", Int(latency.count))],
      source: "\(Format.counted(Int(latency.count), one)) \(rest)\(precision)")
  }

  // MARK: The proxy

  private func measureProxy(_ expectation: Expectation) -> Measured {
    guard let http else { return .none("there is no proxy") }
    let count = expectation.isLately ? http.recent(at: clock.now) : http.counts
    func number(_ value: Int, _ one: String, _ rest: String) -> Measured {
      guard count.requests > 0 else { return .none("no request came") }
      return Measured(
        value: Double(value), counts: [(expectation.figure.name, value), ("requests", count.requests)],
        source: "\(Format.counted(value, one)) \(rest); \(Format.counted(count.requests, "request"))")
    }
    switch expectation.figure.kind {
    case .hit:
      guard count.answered > 0 else { return .none("no request was answered by cache or server") }
      return .share(
        count.hits, "hits", of: count.answered,
        "\(Format.counted(count.answered, "request")) that cache or server answered",
        [("validated", count.validated), ("collapsed", count.collapsed), ("forwarded", count.forwarded)])
    case .requests: return number(count.requests, "request", "of clients")
    case .hits: return number(count.hits, "request", "answered without asking the server")
    case .stale: return number(count.stale, "answer", "served stale")
    case .validated: return number(count.validated, "answer", "that the server confirmed")
    case .collapsed: return number(count.collapsed, "request", "that took part in another one")
    case .forwarded: return number(count.forwarded, "request", "forwarded to the server")
    case .refused: return number(count.refused, "request", "refused or without an answer")
    case .sent: return number(count.bytes, "byte", "sent to clients")
    default: return number(count.savedBytes, "byte", "that the server did not have to send")
    }
  }

  // MARK: A level

  private func measure(
    _ expectation: Expectation, at level: Level, _ snapshot: CacheStatistics.Snapshot
  ) -> Measured {
    let count = snapshot.levels[level.name] ?? CacheStatistics.Level()
    let (misses, answered) = (count.missed, count.answered)
    let reasons = count.misses.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }
    let usage = level.storage?.usage
    func share(_ part: Int, _ word: String) -> Measured {
      guard answered > 0 else { return .none("\(level.name) has answered no look-up") }
      return .share(
        part, word, of: answered, "\(Format.counted(answered, "answered look-up")) of \(level.name)",
        reasons + [("failed", count.errors)])
    }
    func number(_ value: Int, _ one: String, _ rest: String = "", many: String? = nil) -> Measured {
      guard !Self.isIdle(snapshot) else { return .none("nothing was asked of the cache") }
      let isLookups = [.requests, .lookups].contains(expectation.figure.kind)
      return Measured(
        value: Double(value),
        counts: [(expectation.figure.name, value)] + (isLookups ? [] : [("lookups", count.lookups)]),
        source: "\(Format.counted(value, one, many))\(rest) of \(level.name)"
          + (isLookups ? "" : "; \(Format.counted(count.lookups, "look-up"))"))
    }
    switch expectation.figure.kind {
    case .hit: return share(count.hits, "hits")
    case .miss: return share(misses, "misses")
    case .error: return share(count.errors, "errors")
    case .served:
      guard snapshot.answered > 0 else { return .none("no level has answered a read") }
      return .share(
        snapshot.served[level.name] ?? 0, "reads", of: snapshot.answered,
        "\(Format.count(snapshot.answered)) that levels answered")
    case .requests, .lookups: return number(count.lookups, "look-up")
    case .hits: return number(count.hits, "hit")
    case .misses: return number(misses, "miss", many: "misses")
    case .errors: return number(count.errors, "failed look-up")
    case .cancelled: return number(count.cancelled, "cancelled look-up")
    case .refused: return number(count.refused, "refused key")
    case .stale: return number(count.stale, "value", " served stale")
    case .sets: return number(count.sets, "set")
    case .fills: return number(count.backFills, "fill")
    case .evictions: return number(count.removals[.evicted] ?? 0, "eviction")
    case .expirations: return number(count.removals[.expired] ?? 0, "expiration")
    case .entries, .bytes, .used: return held(expectation.figure, usage, level.name)
    case .p50, .p90, .p95, .p99, .p999, .max:
      return latency(expectation.figure, count.latency, "answered look-up", "of \(level.name)")
    case .executions, .joined, .queued, .remembered, .timeouts, .retries, .opened, .fallbacks, .refreshes,
      .failedRefreshes, .validated, .collapsed, .forwarded, .sent, .saved:
      return .none("\(expectation.figure.name) is no figure of a level")
    }
  }

  /// What is held is there to be counted, whether anybody asked or not.
  private func held(_ figure: ExpectedFigure, _ usage: LevelUsage?, _ name: String) -> Measured {
    guard let usage else { return Measured(value: nil, source: "\(name) holds nothing that could be counted") }
    let counts = [("entries", usage.count), ("bytes", usage.cost)]
    let source = "\(name) holds \(Format.counted(usage.count, "entry", "entries")), \(Format.bytes(usage.cost))"
    switch figure.kind {
    case .entries: return Measured(value: Double(usage.count), counts: counts, source: source)
    case .bytes: return Measured(value: Double(usage.cost), counts: counts, source: source)
    default:
      guard let capacity = usage.capacity, capacity > 0 else {
        return Measured(value: nil, source: "\(name) has no limit in bytes")
      }
      return Measured(
        value: Double(usage.cost) / Double(capacity), counts: counts + [("capacityBytes", capacity)],
        source: "\(source) of \(Format.bytes(capacity))")
    }
  }

  // MARK: An operator

  private func measure(
    _ expectation: Expectation, ofOperator name: String, _ counts: CacheStatistics.Snapshot
  ) -> Measured {
    guard !Self.isIdle(counts) else { return .none("nothing was asked of the cache") }
    let kind = operators.first { $0.name == name }?.kind ?? ""
    let counters = (counts.operators[name] ?? OperatorTraffic()).counters(of: kind)
    guard let counter = counters.first(where: { $0.name == expectation.figure.name }) else {
      return .none("\(name) counts no \(expectation.figure.name)")
    }
    return Measured(
      value: Double(counter.count), counts: counters.map { ($0.name, $0.count) },
      source: "\(name): " + counters.map { "\(Format.count($0.count)) \($0.words)" }.joined(separator: ", "))
  }
}
