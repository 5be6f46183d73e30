// Counts of several places or of several stretches of time together, and what came between two moments.

extension CacheStatistics.Level {
  package static var sums: [WritableKeyPath<Self, Int>] {
    [
      \.lookups, \.hits, \.errors, \.cancelled, \.pending, \.sets, \.backFills, \.stale, \.writeErrors,
    ]
  }

  package static var histograms: [WritableKeyPath<Self, LatencyHistogram>] {
    [\.hitLatency, \.missLatency, \.errorLatency]
  }

  /// Adds other counts.
  public static func += (left: inout Self, right: Self) {
    for sum in sums { left[keyPath: sum] &+= right[keyPath: sum] }
    for histogram in histograms { left[keyPath: histogram] += right[keyPath: histogram] }
    left.misses.merge(right.misses, uniquingKeysWith: &+)
    left.removals.merge(right.removals, uniquingKeysWith: &+)
  }

  /// What was counted since an earlier moment; ``pending`` is by how many more it has become.
  ///
  /// - Parameter earlier: The same counts at an earlier moment.
  /// - Returns: The differences.
  public func since(_ earlier: Self) -> Self {
    var new = self
    for sum in Self.sums { new[keyPath: sum] &-= earlier[keyPath: sum] }
    for histogram in Self.histograms {
      new[keyPath: histogram] = self[keyPath: histogram].since(earlier[keyPath: histogram])
    }
    new.misses = misses.since(earlier.misses)
    new.removals = removals.since(earlier.removals)
    return new
  }
}

extension CacheStatistics.Snapshot {
  package static var sums: [WritableKeyPath<Self, Int>] {
    [
      \.pool.executions, \.pool.joined, \.pool.inFlight, \.requests, \.joined, \.missed, \.failed, \.cancelled,
      \.pending,
      \.writes.requests, \.writes.done, \.writes.failed, \.writes.cancelled, \.writes.pending,
    ]
  }

  /// Adds other counts.
  public static func += (left: inout Self, right: Self) {
    for sum in sums { left[keyPath: sum] &+= right[keyPath: sum] }
    left.latency += right.latency
    left.served.merge(right.served, uniquingKeysWith: &+)
    for (name, level) in right.levels { left.levels[name, default: .init()] += level }
    for (name, operation) in right.operators { left.operators[name, default: .init()] += operation }
  }

  /// What was counted since an earlier moment, of what has changed; where something is under way, by how many more it has
  /// become.
  ///
  /// ```swift
  /// let before = statistics.snapshot
  /// // A minute later:
  /// let minute = statistics.snapshot.since(before)
  /// ```
  ///
  /// - Parameter earlier: The same counts at an earlier moment.
  /// - Returns: The differences.
  public func since(_ earlier: Self) -> Self {
    var new = self
    for sum in Self.sums { new[keyPath: sum] &-= earlier[keyPath: sum] }
    new.latency = latency.since(earlier.latency)
    new.served = served.since(earlier.served)
    new.levels = levels.reduce(into: [:]) { levels, level in
      let difference = earlier.levels[level.key].map { level.value.since($0) } ?? level.value
      if difference != CacheStatistics.Level() { levels[level.key] = difference }
    }
    new.operators = operators.reduce(into: [:]) { operators, operation in
      let difference = earlier.operators[operation.key].map { operation.value.since($0) } ?? operation.value
      if difference != CacheStatistics.Operator() { operators[operation.key] = difference }
    }
    return new
  }
}

extension Dictionary where Value == Int {
  /// What has changed.
  fileprivate func since(_ earlier: Self) -> Self {
    reduce(into: [:]) { new, count in
      let difference = count.value &- (earlier[count.key] ?? 0)
      if difference != 0 { new[count.key] = difference }
    }
  }
}
