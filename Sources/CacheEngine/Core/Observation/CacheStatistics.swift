import Synchronization

/// Counts what happens in a cache, level by level.
///
/// At every moment, for each level: lookups = hits + misses of every reason + errors + cancelled + pending. For the
/// whole: requests = sum over ``Snapshot/served`` + joined + missed + failed + cancelled + pending.
///
/// Every thread counts in a place of its own, and the places are added up when the counts are read: threads do not wait for each
/// other, and nothing is lost, however much happens.
public final class CacheStatistics: CacheObserver {
  /// What one level did.
  public struct Level: Sendable, Equatable {
    /// How often the level was asked for a key.
    public var lookups = 0
    /// How often it had the value.
    public var hits = 0
    /// How often it had no value, by reason.
    public var misses: [MissReason: Int] = [:]
    /// How many look-ups failed.
    public var errors = 0
    /// How many look-ups were cancelled.
    public var cancelled = 0
    /// How many look-ups have not been answered yet.
    public var pending = 0
    /// How many values were set by callers.
    public var sets = 0
    /// How many values were copied up from a level below.
    public var backFills = 0
    /// How many expired values it returned to callers that asked for stale ones.
    ///
    /// Not counted as look-ups.
    public var stale = 0
    /// How many writes and removals failed.
    public var writeErrors = 0
    /// How many entries left, by cause.
    public var removals: [RemovalCause: Int] = [:]
    /// How long hits took.
    ///
    /// Of those that are answered at once each thread times one in sixty-four, which stands for the others.
    public var hitLatency = LatencyHistogram()
    /// How long misses took, except for keys that a condition refused.
    public var missLatency = LatencyHistogram()
    /// How long failed look-ups took.
    public var errorLatency = LatencyHistogram()

    /// Creates counts that are zero.
    public init() {}

    /// How many keys a condition refused: the level was never in a position to answer.
    public var refused: Int { misses[.refused] ?? 0 }
    /// How many look-ups missed, except for keys that a condition refused.
    public var missed: Int { misses.values.reduce(0, +) - refused }
    /// How many look-ups were answered: hits, misses of every reason and errors.
    public var answered: Int { hits + missed + refused + errors }
    /// How long look-ups took: hits, misses and errors.
    public var latency: LatencyHistogram {
      var all = hitLatency
      all += missLatency
      all += errorLatency
      return all
    }
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

  /// The calls that are not reads: writes, removals and warnings.
  public struct Writes: Sendable, Equatable {
    /// How many were begun.
    public var requests = 0
    /// How many were carried out.
    public var done = 0
    /// How many failed.
    public var failed = 0
    /// How many were cancelled.
    public var cancelled = 0
    /// How many are under way.
    public var pending = 0

    /// Creates counts that are zero.
    public init() {}
  }

  /// All counts at one moment.
  public struct Snapshot: Sendable, Equatable {
    /// The counts of each level, by name.
    public var levels: [String: Level] = [:]
    /// The counts of each operator that has something to tell, by name.
    public var operators: [String: Operator] = [:]
    /// The counts of all pools.
    public var pool = Pool()
    /// How many reads each level answered, without those that ``joined``.
    public var served: [String: Int] = [:]
    /// How many reads were begun.
    public var requests = 0
    /// How many reads were answered by a load that another caller had begun: neither hits nor misses of their own.
    public var joined = 0
    /// How many reads found nothing anywhere.
    public var missed = 0
    /// How many reads failed.
    public var failed = 0
    /// How many reads were cancelled.
    public var cancelled = 0
    /// How many reads are under way.
    public var pending = 0
    /// How long reads took, except cancelled ones.
    public var latency = LatencyHistogram()
    /// The calls that are not reads.
    public var writes = Writes()

    /// Creates counts that are zero.
    public init() {}
  }

  private struct Counts {
    var sum = Snapshot()
    /// Those of levels that have a number.
    var levels: [Level] = []
    /// How many reads each level answered; names are few, and to look through them costs less than to hash one.
    var served: [(level: String, count: Int)] = []

    /// The counts of a level.
    subscript(level: Int) -> Level {
      get { levels[level] }
      _modify {
        while levels.count <= level { levels.append(Level()) }
        yield &levels[level]
      }
    }
  }

  /// The counts of one thread, or of few.
  private final class Stripe: Sendable {
    let counts = Mutex(Counts())
    // Two lines of the processor's cache, so that no stripe shares one with another.
    private let padding:
      (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
        UInt64, UInt64
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  private let stripes = (0..<ThreadStripe.count).map { _ in Stripe() }
  /// The levels that count here without events, by number.
  private let levels = Mutex<[(name: String, untimed: UntimedHits)]>([])
  /// Where only the last word counts: who waits at a cap, the phase of a breaker.
  private let told = Mutex(Snapshot())
  /// Reads that joined a load and have not ended.
  private let joining = Mutex<Set<RequestID>>([])
  private let joiningCount = Atomic(0)
  private static var mostJoining: Int { 1 << 16 }

  var joiningReads: Int { joining.withLock { $0.count } }

  /// Creates statistics in which everything is zero.
  public init() {}

  /// All counts now.
  ///
  /// - Complexity: O(levels), with all buckets of their latencies.
  public var snapshot: Snapshot {
    var sum = told.withLock { $0 }
    for (number, stripe) in stripes.enumerated() {
      let counts = stripe.counts.withLock { counts in
        for (level, (_, untimed)) in zip(counts.levels.indices, levels.withLock({ $0 })) {
          counts[level].countHits(untimed.take(number))
        }
        return counts
      }
      sum += counts.sum
      for (level, count) in counts.served { sum.served[level, default: 0] += count }
      for (level, count) in zip(levels.withLock({ $0 }), counts.levels) where count != Level() {
        sum.levels[level.name, default: Level()] += count
      }
    }
    return sum
  }

  /// Records an event.
  public func record(_ event: CacheEvent) {
    guard !event.kind.isLastWord else { return told.withLock { $0.fold(event) } }
    let hasJoined = follow(event.kind, of: event.request)
    stripes[ThreadStripe.current].counts.withLock { $0.sum.fold(event, hasJoined: hasJoined) }
  }

  /// A place to count what happens at a level, or in calls of a cache, without making events.
  func counter(of level: String?) -> EventCounter {
    guard let level else { return EventCounter(statistics: self) }
    return levels.withLock { levels in
      if let number = levels.firstIndex(where: { $0.name == level }) {
        return EventCounter(statistics: self, level: number, untimed: levels[number].untimed)
      }
      levels.append((level, UntimedHits()))
      return EventCounter(statistics: self, level: levels.count - 1, untimed: levels.last?.untimed)
    }
  }

  fileprivate func count(_ kind: CacheEvent.Kind, atLevel level: Int) {
    stripes[ThreadStripe.current].counts.withLock { $0[level].fold(kind) }
  }

  fileprivate func countHit(atLevel level: Int, nanoseconds: Int64, _ stripe: Int, _ untimed: UntimedHits) {
    stripes[stripe].counts.withLock { counts in
      counts[level].countHits(untimed.take(stripe))
      untimed.count(stripe, nanoseconds: nanoseconds)
      counts[level].countHits(untimed.take(stripe))
    }
  }

  fileprivate func count(_ kind: CacheEvent.Kind, of request: RequestID?) {
    let hasJoined = follow(kind, of: request)
    stripes[ThreadStripe.current].counts.withLock { $0.sum.foldCall(kind, hasJoined: hasJoined) }
  }

  fileprivate func countRead(from level: String?, nanoseconds: Int64) {
    stripes[ThreadStripe.current].counts.withLock { counts in
      counts.sum.requests += 1
      let level = level ?? "unnamed"
      let place = counts.served.firstIndex { $0.level == level } ?? counts.served.count
      if place == counts.served.count { counts.served.append((level, 0)) }
      counts.served[place].count += 1
      counts.sum.latency.record(nanoseconds: nanoseconds)
    }
  }

  /// Adds what was counted elsewhere: by another process, or before.
  package func add(_ counts: Snapshot) { stripes[0].counts.withLock { $0.sum += counts } }

  /// Forgets how caps and breakers stand, for a listener that stops and will not hear of changes.
  package func forgetStates() { told.withLock { $0 = $0.withoutStates } }

  /// Notes who joins; says whether a read that ends had joined.
  private func follow(_ kind: CacheEvent.Kind, of request: RequestID?) -> Bool {
    guard let request else { return false }
    switch kind {
    case .flightJoined:
      joining.withLock { joining in
        guard joining.insert(request).inserted else { return }
        // The end of some reads is only told to others: the older half is forgotten.
        if joining.count > Self.mostJoining {
          let middle = joining.sorted()[joining.count / 2]
          joining = joining.filter { $0 >= middle }
        }
        joiningCount.store(joining.count, ordering: .relaxed)
      }
      return false
    case .requestEnded: return forget(request)
    // A refresh has a number, too, and no other end.
    case .operated(.refreshEnded): _ = forget(request)
    default: break
    }
    return false
  }

  /// Whether the read had joined a load.
  private func forget(_ request: RequestID) -> Bool {
    // Whoever has joined sees at least its own count.
    guard joiningCount.load(ordering: .relaxed) > 0 else { return false }
    return joining.withLock { joining in
      defer { joiningCount.store(joining.count, ordering: .relaxed) }
      return joining.remove(request) != nil
    }
  }
}

/// Counts what would be told as events.
@usableFromInline
struct EventCounter: Sendable {
  let statistics: CacheStatistics
  /// The number of the level that it happens at.
  var level: Int?
  /// The hits of the level that are not timed.
  var untimed: UntimedHits?

  /// Counts what happened at the level.
  func count(_ kind: CacheEvent.Kind) {
    if let level { statistics.count(kind, atLevel: level) }
  }

  /// Counts what happened to a call.
  func count(_ kind: CacheEvent.Kind, of request: RequestID) { statistics.count(kind, of: request) }

  /// Counts a read that a level has answered.
  func countRead(from level: String?, _ began: CacheInstant, _ ended: CacheInstant) {
    statistics.countRead(from: level, nanoseconds: nanoseconds(began, ended))
  }

  /// Counts a look-up that the level has answered.
  func countHit(_ began: CacheInstant, _ ended: CacheInstant, _ stripe: Int) {
    guard let level, let untimed else { return }
    statistics.countHit(atLevel: level, nanoseconds: nanoseconds(began, ended), stripe, untimed)
  }

  private func nanoseconds(_ began: CacheInstant, _ ended: CacheInstant) -> Int64 {
    ended.nanoseconds.subtractingReportingOverflow(began.nanoseconds).partialValue
  }
}

extension CacheEvent.Kind {
  /// It tells how something stands, and not that there is one more.
  fileprivate var isLastWord: Bool {
    switch self {
    case .operated(.queued), .operated(.admitted), .operated(.released), .operated(.circuit): true
    default: false
    }
  }
}
