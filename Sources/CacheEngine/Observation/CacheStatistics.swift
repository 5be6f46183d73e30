import Synchronization

/// Counts what happens in a cache, level by level.
///
/// At every moment, for each level: lookups = hits + misses of every reason + errors + cancelled + pending. For the
/// whole: requests = sum over ``Snapshot/served`` + missed + failed + cancelled + pending.
public final class CacheStatistics: CacheObserver {
  /// What one level did.
  public struct Level: Sendable, Equatable {
    /// How often the level was asked for a key.
    public var lookups = 0
    /// How often it had the value.
    public var hits = 0
    /// How often it had not, by reason.
    public var misses: [MissReason: Int] = [:]
    /// How many look-ups failed.
    public var errors = 0
    /// How many look-ups were cancelled.
    public var cancelled = 0
    /// How many look-ups have not been answered yet.
    public var pending = 0
    /// How many values somebody set.
    public var sets = 0
    /// How many values were copied up from a level below.
    public var backFills = 0
    /// How many expired values it gave to those who asked for stale ones.
    ///
    /// Not counted as look-ups.
    public var stale = 0
    /// How many writes and removals failed.
    public var writeErrors = 0
    /// How many entries left, by cause.
    public var removals: [RemovalCause: Int] = [:]
    /// How long look-ups took.
    public var latency = LatencyHistogram()

    /// Creates counts that are zero.
    public init() {}
  }

  /// What the pools did.
  public struct Pool: Sendable, Equatable {
    /// How many loads were begun.
    public var executions = 0
    /// How many callers joined a load under way.
    public var joined = 0
    /// How many loads are under way.
    public var inFlight = 0

    /// Creates counts.
    ///
    /// - Parameters:
    ///   - executions: How many loads were begun.
    ///   - joined: How many callers joined a load under way.
    ///   - inFlight: How many loads are under way.
    public init(executions: Int = 0, joined: Int = 0, inFlight: Int = 0) {
      self.executions = executions
      self.joined = joined
      self.inFlight = inFlight
    }
  }

  /// All counts at one moment.
  public struct Snapshot: Sendable, Equatable {
    /// The counts of each level, by name.
    public var levels: [String: Level] = [:]
    /// The counts of each operator that has something to tell, by name.
    public var operators: [String: Operator] = [:]
    /// The counts of all pools.
    public var pool = Pool()
    /// How many reads each level answered.
    public var served: [String: Int] = [:]
    /// How many reads were begun.
    public var requests = 0
    /// How many reads found nothing anywhere.
    public var missed = 0
    /// How many reads failed.
    public var failed = 0
    /// How many reads were cancelled.
    public var cancelled = 0
    /// How many reads are under way.
    public var pending = 0
  }

  private let state = Mutex(Snapshot())

  /// Creates statistics in which everything is zero.
  public init() {}

  /// All counts now.
  public var snapshot: Snapshot { state.withLock { $0 } }

  /// Takes note of an event.
  ///
  /// - Parameter event: What happened.
  public func record(_ event: CacheEvent) { state.withLock { $0.fold(event) } }
}

extension CacheStatistics.Snapshot {
  /// Counts one event.
  ///
  /// - Parameter event: What happened.
  public mutating func fold(_ event: CacheEvent) {
    switch event.kind {
    case .requestBegan(.get):
      requests += 1
      pending += 1
    case .requestEnded(.get, let outcome, _):
      pending -= 1
      switch outcome {
      case .hit(let level): served[level ?? "unnamed", default: 0] += 1
      case .miss: missed += 1
      case .failed: failed += 1
      case .cancelled: cancelled += 1
      case .done: break
      }
    case .flightBegan:
      pool.executions += 1
      pool.inFlight += 1
      foldOperator(event)
    case .flightJoined:
      pool.joined += 1
      foldOperator(event)
    case .flightEnded: pool.inFlight -= 1
    case .requestBegan, .requestEnded, .flightLeft: break
    case .operated(.servedStale): levels[event.level ?? "unnamed", default: CacheStatistics.Level()].stale += 1
    case .operated: foldOperator(event)
    default:
      guard let name = event.level else { return }
      levels[name, default: CacheStatistics.Level()].fold(event.kind)
    }
  }
}

extension CacheStatistics.Snapshot {
  private mutating func foldOperator(_ event: CacheEvent) {
    operators[event.level ?? "unnamed", default: CacheStatistics.Operator()].fold(event.kind, at: event.time)
  }
}

extension CacheStatistics.Level {
  mutating func fold(_ kind: CacheEvent.Kind) {
    switch kind {
    case .lookupBegan:
      lookups += 1
      pending += 1
    case .hit(_, _, let duration):
      hits += 1
      answered(duration)
    case .miss(let reason, let duration):
      misses[reason, default: 0] += 1
      answered(duration)
    case .failed(.get, _, let duration):
      errors += 1
      answered(duration)
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

  private mutating func answered(_ duration: Duration) {
    pending -= 1
    latency.record(duration)
  }
}
