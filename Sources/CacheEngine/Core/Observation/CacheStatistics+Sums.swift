// Counts of several places or of several stretches of time together, what came between two moments, and how they are written.

extension CacheStatistics.Level: Codable {
  private static var sums: CountTable<Self> {
    [
      ("lookups", \.lookups), ("hits", \.hits), ("errors", \.errors), ("cancelled", \.cancelled),
      ("pending", \.pending), ("sets", \.sets), ("backFills", \.backFills), ("stale", \.stale),
      ("writeErrors", \.writeErrors),
    ]
  }

  private static var histograms: [(name: String, path: WritableKeyPath<Self, LatencyHistogram>)] {
    [("hitLatency", \.hitLatency), ("missLatency", \.missLatency), ("errorLatency", \.errorLatency)]
  }

  /// Reads counts; those that are not there are zero.
  public init(from decoder: any Decoder) throws {
    self.init()
    let fields = try decoder.read(&self, by: Self.sums)
    misses = try fields.counts("misses", by: MissReason.self)
    removals = try fields.counts("removals", by: RemovalCause.self)
    for (name, path) in Self.histograms {
      self[keyPath: path] = try fields.decodeIfPresent(LatencyHistogram.self, forKey: CountName(name)) ?? .init()
    }
  }

  /// Writes the counts that are not zero.
  public func encode(to encoder: any Encoder) throws {
    var fields = try encoder.write(self, by: Self.sums)
    try fields.encode(misses, as: "misses")
    try fields.encode(removals, as: "removals")
    for (name, path) in Self.histograms where self[keyPath: path].count > 0 {
      try fields.encode(self[keyPath: path], forKey: CountName(name))
    }
  }

  /// Adds other counts.
  public static func += (left: inout Self, right: Self) {
    for (_, sum) in sums { left[keyPath: sum] &+= right[keyPath: sum] }
    for (_, histogram) in histograms { left[keyPath: histogram] += right[keyPath: histogram] }
    left.misses.merge(right.misses, uniquingKeysWith: &+)
    left.removals.merge(right.removals, uniquingKeysWith: &+)
  }

  /// What was counted since an earlier moment; ``pending`` is by how many more it has become.
  ///
  /// - Parameter earlier: The same counts at an earlier moment.
  /// - Returns: The differences.
  public func since(_ earlier: Self) -> Self {
    var new = self
    for (_, sum) in Self.sums { new[keyPath: sum] &-= earlier[keyPath: sum] }
    for (_, histogram) in Self.histograms {
      new[keyPath: histogram] = self[keyPath: histogram].since(earlier[keyPath: histogram])
    }
    new.misses = misses.since(earlier.misses)
    new.removals = removals.since(earlier.removals)
    return new
  }
}

extension CacheStatistics.Snapshot: Codable {
  private static var sums: CountTable<Self> {
    [
      ("loads", \.pool.executions), ("loadsJoined", \.pool.joined), ("loadsInFlight", \.pool.inFlight),
      ("requests", \.requests), ("joined", \.joined), ("missed", \.missed), ("failed", \.failed),
      ("cancelled", \.cancelled), ("pending", \.pending), ("writes", \.writes.requests),
      ("writesDone", \.writes.done), ("writesFailed", \.writes.failed), ("writesCancelled", \.writes.cancelled),
      ("writesPending", \.writes.pending),
    ]
  }

  /// Reads counts; those that are not there are zero.
  public init(from decoder: any Decoder) throws {
    self.init()
    let fields = try decoder.read(&self, by: Self.sums)
    served = try fields.counts("served")
    latency = try fields.decodeIfPresent(LatencyHistogram.self, forKey: CountName("latency")) ?? .init()
    levels = try fields.decodeIfPresent([String: CacheStatistics.Level].self, forKey: CountName("levels")) ?? [:]
    operators =
      try fields.decodeIfPresent([String: CacheStatistics.Operator].self, forKey: CountName("operators")) ?? [:]
  }

  /// Writes the counts that are not zero.
  public func encode(to encoder: any Encoder) throws {
    var fields = try encoder.write(self, by: Self.sums)
    try fields.encode(served, as: "served")
    if latency.count > 0 { try fields.encode(latency, forKey: CountName("latency")) }
    try fields.encode(levels, as: "levels")
    try fields.encode(operators, as: "operators")
  }

  /// Adds other counts.
  public static func += (left: inout Self, right: Self) {
    for (_, sum) in sums { left[keyPath: sum] &+= right[keyPath: sum] }
    left.latency += right.latency
    left.served.merge(right.served, uniquingKeysWith: &+)
    for (name, level) in right.levels { left.levels[name, default: .init()] += level }
    for (name, operation) in right.operators { left.operators[name, default: .init()] += operation }
  }

  /// The same without what is no count: how many run and wait at caps, and the phases of breakers.
  package var withoutStates: Self {
    var new = self
    new.operators = operators.mapValues { operation in
      var operation = operation
      (operation.running, operation.waiting) = (0, 0)
      (operation.circuit, operation.circuitSince) = (nil, nil)
      return operation
    }
    return new
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
    for (_, sum) in Self.sums { new[keyPath: sum] &-= earlier[keyPath: sum] }
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
