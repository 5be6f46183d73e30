extension CacheStatistics.Snapshot {
  /// Counts one event.
  ///
  /// - Parameters:
  ///   - event: What happened.
  ///   - hasJoined: The read that ends with the event was answered by a load that another caller had begun.
  public mutating func fold(_ event: CacheEvent, hasJoined: Bool = false) {
    switch event.kind {
    case .requestBegan, .requestEnded: foldCall(event.kind, hasJoined: hasJoined)
    case .flightBegan:
      pool.executions += 1
      pool.inFlight += 1
      foldOperator(event)
    case .flightJoined:
      pool.joined += 1
      foldOperator(event)
    case .flightEnded: pool.inFlight -= 1
    case .flightLeft: break
    case .operated(.servedStale): levels[event.level ?? "unnamed", default: CacheStatistics.Level()].stale += 1
    // A composition tells this, which is no operator that anybody counts.
    case .operated(.shared): break
    case .operated: foldOperator(event)
    default:
      guard let name = event.level else { return }
      levels[name, default: CacheStatistics.Level()].fold(event.kind)
    }
  }

  /// Counts that a call began, or ended.
  mutating func foldCall(_ kind: CacheEvent.Kind, hasJoined: Bool) {
    switch kind {
    case .requestBegan(.get):
      requests += 1
      pending += 1
    case .requestEnded(.get, let outcome, let duration):
      pending -= 1
      switch outcome {
      case .hit where hasJoined: joined += 1
      case .hit(let level): served[level ?? "unnamed", default: 0] += 1
      case .miss: missed += 1
      case .failed: failed += 1
      case .cancelled: return cancelled += 1
      case .done: served["unnamed", default: 0] += 1
      }
      latency.record(duration)
    case .requestBegan:
      writes.requests += 1
      writes.pending += 1
    case .requestEnded(_, let outcome, _):
      writes.pending -= 1
      switch outcome {
      case .done, .hit, .miss: writes.done += 1
      case .failed: writes.failed += 1
      case .cancelled: writes.cancelled += 1
      }
    default: break
    }
  }

  private mutating func foldOperator(_ event: CacheEvent) {
    operators[event.level ?? "unnamed", default: CacheStatistics.Operator()].fold(event.kind, at: event.time)
  }
}

extension CacheStatistics.Level {
  /// Counts look-ups that hit and took the same time.
  mutating func countHits(_ counted: (hits: Int, nanoseconds: Int64)) {
    lookups += counted.hits
    hits += counted.hits
    hitLatency.record(nanoseconds: counted.nanoseconds, times: counted.hits)
  }

  mutating func fold(_ kind: CacheEvent.Kind) {
    switch kind {
    case .lookupBegan:
      lookups += 1
      pending += 1
    case .hit(_, _, let duration):
      hits += 1
      pending -= 1
      hitLatency.record(duration)
    case .miss(let reason, let duration):
      misses[reason, default: 0] += 1
      pending -= 1
      if reason != .refused { missLatency.record(duration) }
    case .failed(.get, _, let duration):
      errors += 1
      pending -= 1
      errorLatency.record(duration)
    case .cancelled(.get, _):
      cancelled += 1
      pending -= 1
    case .failed: writeErrors += 1
    case .stored(.set, _, _, _): sets += 1
    case .stored(.backFill, _, _, _): backFills += 1
    case .removed(let cause, _): removals[cause, default: 0] += 1
    default: break
    }
  }
}
