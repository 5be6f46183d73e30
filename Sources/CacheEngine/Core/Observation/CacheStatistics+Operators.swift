extension CacheStatistics {
  /// What one operator did.
  public struct Operator: Sendable, Equatable, Codable {
    /// How many loads a pool began.
    public var loads = 0
    /// How many callers joined one of them.
    public var joined = 0
    /// How many keys a condition refused.
    public var refused = 0
    /// How many reads a cap holds places for.
    public var running = 0
    /// How many reads wait for a place.
    public var waiting = 0
    /// How many reads have had to wait for a place.
    public var queued = 0
    /// How many values are being reloaded in the background.
    public var refreshing = 0
    /// How many values were reloaded in the background.
    public var refreshes = 0
    /// How many of these failed.
    public var failedRefreshes = 0
    /// How many reads were tried again.
    public var retries = 0
    /// The phase of a circuit breaker; `nil` if it never changed.
    public var circuit: CircuitPhase?
    /// When it came into this phase.
    public var circuitSince: CacheInstant?
    /// How often the circuit was opened.
    public var timesOpened = 0
    /// How many reads took longer than they may.
    public var timeouts = 0
    /// How many reads were given a value in place of a miss or an error.
    public var fallbacks = 0
    /// How many reads were answered from what is remembered of earlier misses and failures.
    public var rememberedMisses = 0

    /// Creates counts that are zero.
    public init() {}

    private static var sums: CountTable<Self> {
      [
        ("loads", \.loads), ("joined", \.joined), ("refused", \.refused), ("running", \.running),
        ("waiting", \.waiting), ("queued", \.queued), ("refreshing", \.refreshing), ("refreshes", \.refreshes),
        ("failedRefreshes", \.failedRefreshes), ("retries", \.retries), ("timesOpened", \.timesOpened),
        ("timeouts", \.timeouts), ("fallbacks", \.fallbacks), ("rememberedMisses", \.rememberedMisses),
      ]
    }

    /// Reads counts; those that are not there are zero.
    public init(from decoder: any Decoder) throws {
      let fields = try decoder.read(&self, by: Self.sums)
      circuit = try fields.decodeIfPresent(CircuitPhase.self, forKey: CountName("circuit"))
      circuitSince = try fields.decodeIfPresent(CacheInstant.self, forKey: CountName("circuitSince"))
    }

    /// Writes the counts that are not zero.
    public func encode(to encoder: any Encoder) throws {
      var fields = try encoder.write(self, by: Self.sums)
      try fields.encodeIfPresent(circuit, forKey: CountName("circuit"))
      try fields.encodeIfPresent(circuitSince, forKey: CountName("circuitSince"))
    }

    /// Adds other counts; the phase of a circuit is taken from them.
    public static func += (left: inout Self, right: Self) {
      for (_, sum) in sums { left[keyPath: sum] &+= right[keyPath: sum] }
      guard let circuit = right.circuit else { return }
      (left.circuit, left.circuitSince) = (circuit, right.circuitSince)
    }

    /// What was counted since an earlier moment: a circuit if it changed, and how many more or fewer run, wait or are
    /// reloaded.
    ///
    /// - Parameter earlier: The same counts at an earlier moment.
    /// - Returns: The differences.
    public func since(_ earlier: Self) -> Self {
      var new = self
      for (_, sum) in Self.sums { new[keyPath: sum] &-= earlier[keyPath: sum] }
      if (circuit, circuitSince) == (earlier.circuit, earlier.circuitSince) {
        (new.circuit, new.circuitSince) = (nil, nil)
      }
      return new
    }

    /// Counts one event of this operator.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - time: When.
    public mutating func fold(_ kind: CacheEvent.Kind, at time: CacheInstant) {
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
        (self.running, self.waiting) = (running, waiting)
      case .admitted(let running, let waiting), .released(let running, let waiting):
        (self.running, self.waiting) = (running, waiting)
      case .refreshBegan:
        refreshes += 1
        refreshing += 1
      case .refreshEnded(_, let error):
        refreshing -= 1
        failedRefreshes += error == nil ? 0 : 1
      case .retried: retries += 1
      case .circuit(let phase):
        timesOpened += phase == .open ? 1 : 0
        (circuit, circuitSince) = (phase, time)
      case .timedOut: timeouts += 1
      case .fellBack: fallbacks += 1
      case .rememberedMiss: rememberedMisses += 1
      // Told in the name of the level that held the entry, and counted there.
      case .servedStale, .shared: break
      }
    }
  }
}
