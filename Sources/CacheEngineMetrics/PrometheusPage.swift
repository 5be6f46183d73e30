public import CacheEngine

/// The figures of caches as a page that Prometheus scrapes, in its text format 0.0.4.
///
/// It is made from the exact counts of `CacheStatistics` and from its latency histograms, the same as every other
/// view of a cache; no metrics system is needed, and no trait.
///
/// ```swift
/// let statistics = CacheStatistics()
/// let photos = memory.observed(as: "memory", by: statistics)
///   .compose(disk.observed(as: "disk", by: statistics)).traced(by: statistics)
///
/// // In the handler of GET /metrics, whose Content-Type is PrometheusPage.contentType:
/// var page = PrometheusPage()
/// page.add(statistics.snapshot, cache: "photos")
/// page.add(disk.usage, cache: "photos", level: "disk")
/// return page.text
/// ```
///
/// Labels are the names of caches, levels and operators, and words of the library, never keys: there are as many series as
/// the program has levels. Names may have any characters.
public struct PrometheusPage: Sendable {
  /// The `Content-Type` of the response.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The bounds of the buckets, from 1 microsecond to 10 seconds.
  public static let standardBounds: [Duration] = [
    .microseconds(1), .microseconds(5), .microseconds(10), .microseconds(50), .microseconds(100), .microseconds(500),
    .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(500),
    .seconds(1), .seconds(5), .seconds(10),
  ]

  private enum Kind: String { case counter, gauge, histogram }

  /// All series of one name, which have to stand together.
  private struct Family {
    var kind: Kind
    var help: String
    /// The lines of each series, by its labels: who adds a cache twice replaces what stood there.
    var series: [String: [String]] = [:]
  }

  private let bounds: [(duration: Duration, text: String)]
  private var families: [String: Family] = [:]

  /// Creates a page with nothing on it.
  ///
  /// - Parameter bounds: The bounds of the buckets of every histogram, in any order. Those that are not longer than zero are left
  ///   out. A bucket may hold durations that exceed its bound by less than 1/16 of it, which is how exact a
  ///   `LatencyHistogram` is.
  public init(bounds: [Duration] = standardBounds) {
    var texts: Set<String> = []
    self.bounds = bounds.filter { $0 > .zero }.sorted().map { ($0, Self.seconds($0)) }
      .filter { texts.insert($0.1).inserted }
  }

  /// Puts the counts of a cache on the page, in place of those that it has of a cache of this name.
  ///
  /// - Parameters:
  ///   - counts: The counts, since the program began: Prometheus computes the difference between two pages by itself.
  ///   - cache: The name of the cache.
  /// - Complexity: O(series on the page) + O(levels and operators), times the number of buckets.
  public mutating func add(_ counts: CacheStatistics.Snapshot, cache: String) {
    removeCounts(of: cache)
    let own = [("cache", cache)]
    let reads = [
      ("hit", counts.served.values.reduce(0, +)), ("joined", counts.joined), ("miss", counts.missed),
      ("failed", counts.failed), ("cancelled", counts.cancelled),
    ]
    for (outcome, count) in reads {
      add(count, "cache_requests_total", "Reads that have ended, by outcome.", own + [("outcome", outcome)])
    }
    add(gauge: counts.pending, "cache_requests_pending", "Reads under way.", own)
    add(gauge: counts.pool.inFlight, "cache_loads_pending", "Loads of pools under way.", own)
    add(counts.latency, "cache_request_duration_seconds", "How long reads took that were not cancelled.", own)
    for (level, count) in counts.served {
      add(count, "cache_served_total", "Reads by the level that answered them.", own + [("level", level)])
    }
    let writes = [
      ("done", counts.writes.done), ("failed", counts.writes.failed), ("cancelled", counts.writes.cancelled),
    ]
    for (outcome, count) in writes {
      add(count, "cache_writes_total", "Writes, removals and warnings that have ended.", own + [("outcome", outcome)])
    }
    add(gauge: counts.writes.pending, "cache_writes_pending", "Writes, removals and warnings under way.", own)
    for (name, level) in counts.levels { add(level, own + [("level", name)]) }
    for (name, operation) in counts.operators { add(operation, own + [("operator", name)]) }
  }

  /// Puts on the page how full a level is.
  ///
  /// - Parameters:
  ///   - usage: How full it is; for a disk level the cost is every byte that its directory takes.
  ///   - cache: The name of the cache.
  ///   - level: The name of the level.
  public mutating func add(_ usage: LevelUsage, cache: String, level: String) {
    let labels = [("cache", cache), ("level", level)]
    add(gauge: usage.count, "cache_level_entries", "Entries held.", labels)
    add(
      gauge: usage.cost, "cache_level_cost", "What the entries weigh: bytes, unless the level counts otherwise.", labels
    )
    if let capacity = usage.capacity {
      add(gauge: capacity, "cache_level_capacity", "The most that the entries may weigh.", labels)
    }
    if let limit = usage.countLimit {
      add(gauge: limit, "cache_level_entries_limit", "The most entries that may be held.", labels)
    }
  }

  /// The page: families in the order of their names, and series in that of their labels.
  public var text: String {
    var lines: [String] = []
    for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
      lines.append("# HELP \(name) \(family.help)")
      lines.append("# TYPE \(name) \(family.kind.rawValue)")
      for (_, series) in family.series.sorted(by: { $0.key < $1.key }) { lines += series }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension PrometheusPage {
  private typealias Labels = [(name: String, value: String)]

  /// Removes all but how full its levels are, also of levels and reasons that new counts may not have.
  private mutating func removeCounts(of cache: String) {
    let own = Self.text(of: [("cache", cache)])
    for (name, family) in families where !name.hasPrefix("cache_level_") {
      families[name]?.series = family.series.filter { $0.key != own && !$0.key.hasPrefix(own + ",") }
    }
  }

  private mutating func add(_ level: CacheStatistics.Level, _ labels: Labels) {
    add(level.lookups, "cache_lookups_total", "How often the level was asked for a key.", labels)
    add(level.hits, "cache_hits_total", "How often the level had the value.", labels)
    for (reason, count) in level.misses {
      add(
        count, "cache_misses_total", "How often the level had no value, by reason.",
        labels + [("reason", reason.rawValue)])
    }
    add(level.errors, "cache_lookup_errors_total", "Look-ups that failed.", labels)
    add(level.cancelled, "cache_lookups_cancelled_total", "Look-ups that were cancelled.", labels)
    add(gauge: level.pending, "cache_lookups_pending", "Look-ups that have not been answered yet.", labels)
    add(level.stale, "cache_stale_total", "Expired values returned to callers that asked for stale ones.", labels)
    let stores = [("set", level.sets), ("fill", level.backFills)]
    for (purpose, count) in stores {
      add(
        count, "cache_stores_total", "Values stored: set by somebody, or copied up from a level below.",
        labels + [("purpose", purpose)])
    }
    add(level.writeErrors, "cache_write_errors_total", "Writes and removals that failed.", labels)
    for (cause, count) in level.removals {
      add(count, "cache_removals_total", "Entries that left, by cause.", labels + [("cause", cause.rawValue)])
    }
    let latencies = [("hit", level.hitLatency), ("miss", level.missLatency), ("error", level.errorLatency)]
    for (outcome, latency) in latencies {
      add(
        latency, "cache_lookup_duration_seconds", "How long look-ups took, by outcome.", labels + [("outcome", outcome)]
      )
    }
  }

  private mutating func add(_ operation: CacheStatistics.Operator, _ labels: Labels) {
    let counts = [
      ("loads", operation.loads, "Loads that a pool began."),
      ("joined", operation.joined, "Callers that joined a load."),
      ("refused", operation.refused, "Keys that a condition refused."),
      ("queued", operation.queued, "Reads that had to wait for a place."),
      ("refreshes", operation.refreshes, "Values reloaded in the background."),
      ("refresh_errors", operation.failedRefreshes, "Values that could not be reloaded."),
      ("retries", operation.retries, "Reads tried again."),
      ("circuit_opened", operation.timesOpened, "How often a circuit was opened."),
      ("timeouts", operation.timeouts, "Reads that took longer than they may."),
      ("fallbacks", operation.fallbacks, "Reads answered with a value instead of a miss or an error."),
      ("remembered", operation.rememberedMisses, "Reads answered from what is remembered of earlier misses."),
    ]
    for (name, count, help) in counts { add(count, "cache_operator_\(name)_total", help, labels) }
    add(gauge: operation.running, "cache_operator_running", "Reads that a cap holds places for.", labels)
    add(gauge: operation.waiting, "cache_operator_waiting", "Reads that wait for a place.", labels)
    add(gauge: operation.refreshing, "cache_operator_refreshing", "Values being reloaded in the background.", labels)
    if let circuit = operation.circuit {
      add(
        gauge: circuit == .closed ? 0 : 1, "cache_operator_circuit_open",
        "Whether a circuit is not closed: 1 while it is open or tries.", labels)
    }
  }

  private mutating func add(_ count: Int, _ name: String, _ help: String, _ labels: Labels) {
    let text = Self.text(of: labels)
    families[name, default: Family(kind: .counter, help: help)].series[text] = ["\(name){\(text)} \(max(0, count))"]
  }

  private mutating func add(gauge value: Int, _ name: String, _ help: String, _ labels: Labels) {
    let text = Self.text(of: labels)
    // A listener that begins in the middle of a call hears of its end only.
    families[name, default: Family(kind: .gauge, help: help)].series[text] = ["\(name){\(text)} \(max(0, value))"]
  }

  private mutating func add(_ histogram: LatencyHistogram, _ name: String, _ help: String, _ labels: Labels) {
    let text = Self.text(of: labels)
    var lines = zip(bounds, histogram.counts(upTo: bounds.map(\.duration))).map { bound, count in
      "\(name)_bucket{\(text),le=\"\(bound.text)\"} \(count)"
    }
    lines.append("\(name)_bucket{\(text),le=\"+Inf\"} \(histogram.count)")
    lines.append("\(name)_sum{\(text)} \(Self.seconds(histogram.sum))")
    lines.append("\(name)_count{\(text)} \(histogram.count)")
    families[name, default: Family(kind: .histogram, help: help)].series[text] = lines
  }

  private static func text(of labels: Labels) -> String {
    labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
  }

  /// A value as it stands between quotation marks; by scalars, since `\r\n` is one character.
  private static func escaped(_ value: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text.append(contentsOf: "\\\\".unicodeScalars)
      case "\"": text.append(contentsOf: "\\\"".unicodeScalars)
      case "\n": text.append(contentsOf: "\\n".unicodeScalars)
      default: text.append(scalar)
      }
    }
    return String(text)
  }

  private static func seconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return String(Double(seconds) + Double(attoseconds) * 1e-18)
  }
}
