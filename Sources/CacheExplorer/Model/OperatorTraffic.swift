import CacheEngine

/// What an operator did.
///
/// Folded from events.
struct OperatorTraffic: Sendable, Equatable {
  /// Loads of a pool.
  var loads = 0
  /// Callers that joined one.
  var joined = 0
  var refused = 0
  /// Under a cap now.
  var running = 0
  /// Before a cap now.
  var waiting = 0
  /// How many had to wait before a cap.
  var queued = 0
  /// Refreshes under way.
  var refreshing = 0
  var refreshes = 0
  var failedRefreshes = 0
  var retries = 0
  /// `nil` for a breaker that was never open.
  var circuit: CircuitPhase?
  /// When it came into its phase.
  var circuitSince: CacheInstant?
  var timesOpened = 0
  var timeouts = 0
  var fallbacks = 0
  var rememberedMisses = 0

  mutating func fold(_ kind: CacheEvent.Kind, at time: CacheInstant) {
    switch kind {
    case .flightBegan: loads += 1
    case .flightJoined: joined += 1
    case .operated(let event): fold(event, at: time)
    default: break
    }
  }

  private mutating func fold(_ event: OperatorEvent, at time: CacheInstant) {
    switch event {
    case .refused: refused += 1
    case .queued(let running, let waiting):
      queued += 1
      count(running, waiting)
    case .admitted(let running, let waiting), .released(let running, let waiting): count(running, waiting)
    case .refreshBegan:
      refreshes += 1
      refreshing += 1
    case .refreshEnded(_, let error):
      refreshing = max(0, refreshing - 1)
      failedRefreshes += error == nil ? 0 : 1
    case .retried: retries += 1
    case .circuit(let phase):
      timesOpened += phase == .open ? 1 : 0
      (circuit, circuitSince) = (phase, time)
    case .timedOut: timeouts += 1
    case .fellBack: fallbacks += 1
    case .rememberedMiss: rememberedMisses += 1
    // Told by the level that held the entry, and counted there.
    case .servedStale: break
    }
  }

  private mutating func count(_ running: Int, _ waiting: Int) {
    self.running = max(0, running)
    self.waiting = max(0, waiting)
  }

  /// What is under way is no longer known: the events are lost.
  mutating func forgetPending() { (refreshing, running, waiting) = (0, 0, 0) }
}

extension OperatorTraffic {
  /// What a kind of operator counts: the name of the count in JSON, the words for it, and the count.
  func counters(of kind: String) -> [(name: String, words: String, count: Int)] {
    switch kind {
    case "pooled": [("executions", "loads", loads), ("joined", "joined", joined)]
    case "capped": [("running", "running", running), ("waiting", "waiting", waiting), ("queued", "queued", queued)]
    case "conditioned": [("refused", "refused", refused)]
    case "negative": [("remembered", "misses remembered", rememberedMisses)]
    case "timeout": [("timeouts", "timed out", timeouts)]
    case "retry": [("retries", "tried again", retries)]
    case "breaker": [("opened", "openings", timesOpened)]
    case "fallback": [("fallbacks", "fallen back", fallbacks)]
    case "stale":
      [
        ("refreshes", "refreshes", refreshes), ("refreshing", "under way", refreshing),
        ("failedRefreshes", "failed", failedRefreshes), ("fallbacks", "errors covered", fallbacks),
      ]
    default: []
    }
  }
}
