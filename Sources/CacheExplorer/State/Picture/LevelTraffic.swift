package import CacheEngine

/// What was asked of a level, and what it answered: since the start, in the last seconds, and second by second.
@dynamicMemberLookup
package struct LevelTraffic: Sendable {
  /// Since the start.
  @usableFromInline package private(set) var count = CacheStatistics.Level()
  private var lately = RecentCounts<CacheStatistics.Level>()
  package private(set) var seconds = SecondRing()
  /// The answer that took longest, of those that were told.
  package private(set) var worst: Worst?

  package struct Worst: Sendable, Equatable {
    package var nanoseconds: Int64
    package var time: CacheInstant
    package var request: RequestID?
  }

  // Screens ask it for each figure: across modules, a key path costs far more than what it leads to.
  @inlinable
  package subscript<Value>(dynamicMember path: KeyPath<CacheStatistics.Level, Value>) -> Value { count[keyPath: path] }

  /// In the last seconds.
  package func recent(at now: CacheInstant) -> CacheStatistics.Level { lately.sum(at: now) }

  /// Adds what was counted.
  package mutating func add(_ counted: CacheStatistics.Level, at time: CacheInstant) {
    count += counted
    lately.add(counted, at: time)
    seconds.note(at: time) { second in
      second.asked.add(counted.lookups)
      second.hits.add(counted.hits)
      second.misses.add(counted.missed)
      second.fills.add(counted.backFills)
      second.evicted.add(counted.removals[.evicted] ?? 0)
      second.expired.add(counted.removals[.expired] ?? 0)
    }
  }

  package mutating func answered(after duration: Duration, at time: CacheInstant, _ request: RequestID?) {
    let nanoseconds = duration.clampedNanoseconds
    guard nanoseconds > worst?.nanoseconds ?? -1 else { return }
    worst = Worst(nanoseconds: nanoseconds, time: time, request: request)
  }

  package mutating func warned(at time: CacheInstant) { seconds.note(at: time) { $0.hasWarning = true } }

  /// Nothing counted but what is under way.
  var begunAnew: LevelTraffic {
    var new = LevelTraffic()
    (new.count.lookups, new.count.pending) = (count.pending, count.pending)
    return new
  }
}

extension UInt32 {
  /// Fewer than none were never counted.
  package mutating func add(_ number: Int) {
    self = UInt32(clamping: Int(self) + Swift.max(0, Swift.min(number, 1 << 32)))
  }
}
