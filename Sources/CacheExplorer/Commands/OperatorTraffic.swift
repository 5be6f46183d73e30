package import CacheEngine

/// What an operator did.
package typealias OperatorTraffic = CacheStatistics.Operator

extension OperatorTraffic {
  /// What a kind of operator counts: the name of the count in JSON, the words for it, and the count.
  package func counters(of kind: String) -> [(name: String, words: String, count: Int)] {
    switch kind {
    case "pooled": [("executions", loads == 1 ? "load" : "loads", loads), ("joined", "joined", joined)]
    case "capped":
      [
        ("running", "running", max(0, running)), ("waiting", "waiting", max(0, waiting)), ("queued", "queued", queued),
      ]
    case "conditioned": [("refused", "refused", refused)]
    case "negative": [("remembered", rememberedMisses == 1 ? "miss remembered" : "misses remembered", rememberedMisses)]
    case "timeout": [("timeouts", "timed out", timeouts)]
    case "retry": [("retries", "tried again", retries)]
    case "breaker": [("opened", timesOpened == 1 ? "opening" : "openings", timesOpened)]
    case "fallback": [("fallbacks", "fallen back", fallbacks)]
    case "stale":
      [
        ("refreshes", refreshes == 1 ? "refresh" : "refreshes", refreshes),
        ("refreshing", "under way", max(0, refreshing)),
        ("failedRefreshes", "failed", failedRefreshes),
        ("fallbacks", fallbacks == 1 ? "error covered" : "errors covered", fallbacks),
      ]
    default: []
    }
  }
}
