import CacheEngine

/// What was asked of a level, and what it answered.
///
/// Folded from events.
struct LevelTraffic: Sendable {
  var lookups = 0
  var hits = 0
  /// Without the refused ones.
  var misses = 0
  var missReasons: [MissReason: Int] = [:]
  /// A condition kept the key out: the level was never in a position to answer.
  var refused = 0
  /// Look-ups that failed.
  var errors = 0
  var cancelled = 0
  /// Look-ups that were not answered yet.
  var pending = 0
  /// Look-ups whose answers were among lost events.
  var unanswered = 0

  /// Expired entries that were served as better than nothing.
  var stale = 0
  var sets = 0
  var fills = 0
  var writeErrors = 0
  var removals: [RemovalCause: Int] = [:]
  var latency = Histogram()
  var hitLatency = Histogram()
  var missLatency = Histogram()
  /// The answer that took longest.
  var worst: Worst?

  struct Worst: Sendable, Equatable {
    var nanoseconds: Int64
    var time: CacheInstant
    var request: RequestID?
  }
  var seconds = SecondRing()

  var answered: Int { hits + misses + refused + errors }
}

extension LevelTraffic {
  mutating func began(at time: CacheInstant) {
    lookups += 1
    pending += 1
    seconds.note(at: time) { $0.asked += 1 }
  }

  /// An answer; `wasNoted` tells whether its beginning was.
  private mutating func answer(at time: CacheInstant, wasNoted: Bool) {
    if wasNoted {
      pending -= 1
    } else {
      lookups += 1
      seconds.note(at: time) { $0.asked += 1 }
    }
  }

  mutating func hit(at time: CacheInstant, after latency: Duration, wasNoted: Bool, request: RequestID? = nil) {
    answer(at: time, wasNoted: wasNoted)
    hits += 1
    seconds.note(at: time) { $0.hits += 1 }
    hitLatency.add(nanoseconds: latency.clampedNanoseconds)
    measured(latency, at: time, request)
  }

  private mutating func measured(_ duration: Duration, at time: CacheInstant, _ request: RequestID?) {
    let nanoseconds = duration.clampedNanoseconds
    latency.add(nanoseconds: nanoseconds)
    guard nanoseconds > worst?.nanoseconds ?? -1 else { return }
    worst = Worst(nanoseconds: nanoseconds, time: time, request: request)
  }

  mutating func miss(
    _ reason: MissReason, at time: CacheInstant, after latency: Duration, wasNoted: Bool, request: RequestID? = nil
  ) {
    answer(at: time, wasNoted: wasNoted)
    guard reason != .refused else { return refused += 1 }
    misses += 1
    missReasons[reason, default: 0] += 1
    seconds.note(at: time) { $0.misses += 1 }
    missLatency.add(nanoseconds: latency.clampedNanoseconds)
    measured(latency, at: time, request)
  }

  mutating func failed(at time: CacheInstant, wasNoted: Bool) {
    answer(at: time, wasNoted: wasNoted)
    errors += 1
  }

  mutating func cancelled(at time: CacheInstant, wasNoted: Bool) {
    answer(at: time, wasNoted: wasNoted)
    cancelled += 1
  }

  mutating func stored(_ purpose: StoreTerms.Purpose, at time: CacheInstant) {
    switch purpose {
    case .set: sets += 1
    case .backFill:
      fills += 1
      seconds.note(at: time) { $0.fills += 1 }
    }
  }

  mutating func removed(_ cause: RemovalCause, at time: CacheInstant) {
    removals[cause, default: 0] += 1
    switch cause {
    case .evicted: seconds.note(at: time) { $0.evicted += 1 }
    case .expired: seconds.note(at: time) { $0.expired += 1 }
    default: break
    }
  }

  /// Nothing counted but what is under way.
  var begunAnew: LevelTraffic {
    var new = LevelTraffic()
    (new.lookups, new.pending) = (pending, pending)
    return new
  }

  /// The beginnings that are pending will never be answered: the events are lost.
  mutating func forgetPending() {
    unanswered += pending
    pending = 0
  }
}
