/// A figure that an expectation can be about: one table for parsing, completion, help and manual.
package struct ExpectedFigure: Equatable, Sendable {
  package enum Unit: Sendable {
    /// From 0 to 1, written in percent.
    case share
    case count
    case bytes
    /// In nanoseconds.
    case time
  }

  /// What can have the figure.
  package enum Owner: Sendable {
    case cache, level, operation
    /// The proxy in front of the cache.
    case http
  }

  /// Which it is; its name is the word for it in an expectation.
  package enum Kind: String, CaseIterable, Sendable {
    case hit, miss, error, served, used
    case requests, lookups, hits, misses, errors, cancelled, stale, sets, fills, evictions, expirations
    case entries, bytes
    case p50, p90, p95, p99, p999, max
    case executions, joined, refused, queued, remembered, timeouts, retries, opened, fallbacks, refreshes
    case failedRefreshes
    case validated, collapsed, forwarded, sent, saved
  }

  package let kind: Kind
  package var name: String { kind.rawValue }
  package let unit: Unit
  /// What has it.
  package let owners: [Owner]
  /// What it is, without a full stop.
  package let line: String

  private init(_ kind: Kind, _ unit: Unit, _ owners: [Owner], _ line: String) {
    self.kind = kind
    self.unit = unit
    self.owners = owners
    self.line = line
  }

  package static let all: [ExpectedFigure] =
    [
      ExpectedFigure(
        .hit, .share, [.cache, .level, .http],
        "hits ÷ answered look-ups of a level; of the whole: reads served above the sources ÷ reads that ended, joined ones "
          + "left out; of http: requests answered without asking the server ÷ requests that cache or server answered"),
      ExpectedFigure(
        .miss, .share, [.cache, .level], "misses ÷ answered look-ups; of the whole: missed reads ÷ reads"),
      ExpectedFigure(
        .error, .share, [.cache, .level], "failures ÷ answered look-ups; of the whole: failed reads ÷ reads"),
      ExpectedFigure(.served, .share, [.level], "reads that this level answered ÷ reads that any level answered"),
      ExpectedFigure(.used, .share, [.level], "bytes ÷ capacity"),
      ExpectedFigure(
        .requests, .count, [.cache, .level, .http], "look-ups of a level; of the whole: reads; of http: all requests"),
      ExpectedFigure(.lookups, .count, [.level], "look-ups of a level"),
      ExpectedFigure(.hits, .count, [.cache, .level, .http], "hits; of the whole: reads served above the sources"),
      ExpectedFigure(.misses, .count, [.cache, .level], "misses of every reason but refused keys"),
      ExpectedFigure(.errors, .count, [.cache, .level], "look-ups that failed; of the whole: reads that failed"),
      ExpectedFigure(.cancelled, .count, [.cache, .level], "look-ups, or reads, that were cancelled"),
      ExpectedFigure(.stale, .count, [.level, .http], "expired values that were served as better than nothing"),
      ExpectedFigure(.sets, .count, [.level], "values that somebody stored"),
      ExpectedFigure(.fills, .count, [.level], "values that were copied up from a level below"),
      ExpectedFigure(.evictions, .count, [.level], "entries that left because room was needed"),
      ExpectedFigure(.expirations, .count, [.level], "entries that left because their time was over"),
      ExpectedFigure(.entries, .count, [.level], "entries that are held now"),
      ExpectedFigure(.bytes, .bytes, [.level], "what they weigh"),
    ] + percentiles
    + [
      ExpectedFigure(.max, .time, [.cache, .level], "the longest answer"),
      ExpectedFigure(.executions, .count, [.cache, .operation], "loads that pools began"),
      ExpectedFigure(.joined, .count, [.cache, .operation], "callers that joined a load under way"),
      ExpectedFigure(
        .refused, .count, [.level, .operation, .http],
        "keys that a condition kept out; of http: requests that neither cache nor server answered"),
      ExpectedFigure(.validated, .count, [.http], "requests for which the server confirmed what is stored"),
      ExpectedFigure(.collapsed, .count, [.http], "requests that took part in the request of another client"),
      ExpectedFigure(.forwarded, .count, [.http], "requests for which the server was asked for a new response"),
      ExpectedFigure(.sent, .bytes, [.http], "content sent to clients"),
      ExpectedFigure(.saved, .bytes, [.http], "content sent to clients that the server did not have to send"),
      ExpectedFigure(.queued, .count, [.operation], "reads that had to wait at a cap"),
      ExpectedFigure(.remembered, .count, [.operation], "misses answered from memory by negative caching"),
      ExpectedFigure(.timeouts, .count, [.operation], "reads that took longer than they may"),
      ExpectedFigure(.retries, .count, [.operation], "reads that were tried again"),
      ExpectedFigure(.opened, .count, [.operation], "times that a breaker opened"),
      ExpectedFigure(
        .fallbacks, .count, [.operation], "reads that were covered by a fallback, or by an expired value"),
      ExpectedFigure(.refreshes, .count, [.operation], "values that were reloaded in the background"),
      ExpectedFigure(.failedRefreshes, .count, [.operation], "those of them that failed"),
    ]

  private static let percentiles = shares.map { kind, share in
    ExpectedFigure(
      kind, .time, [.cache, .level], "the latency that \(Int(share * 1_000)) of 1000 answers do not exceed")
  }

  /// The percentiles, each with its share.
  private static let shares: [(Kind, Double)] = [(.p50, 0.5), (.p90, 0.9), (.p95, 0.95), (.p99, 0.99), (.p999, 0.999)]

  /// The share of a percentile.
  package var percentile: Double? { Self.shares.first { $0.0 == kind }?.1 }

  /// What a level holds now: nothing that was counted in some time.
  package var isHeld: Bool { [.used, .entries, .bytes].contains(kind) }

  package static func named(_ name: String) -> ExpectedFigure? { all.first { $0.name == name } }

  /// The names of the figures that something has.
  package static func names(of owners: [Owner]) -> [String] {
    all.filter { figure in owners.contains { figure.owners.contains($0) } }.map(\.name)
  }
}
