package import CacheEngine

/// The calls to the whole cache: how they ended, and which are under way.
package struct RequestTraffic: Sendable {
  package struct Pending: Sendable {
    package var operation: CacheEvent.Operation
    package var key: String?
    package var since: CacheInstant
    /// The index of the level that was asked last.
    package var level: Int?
    /// The index of the operator that holds it up.
    var heldBy: Int?
    /// It leads or follows a load of a pool, which is listed instead of it.
    package var isPooled = false
    var hasJoined = false
  }

  /// No more calls are noted as under way: an app may begin calls and end none.
  static let mostPending = 100_000

  /// Since the start, without what levels and operators did.
  package private(set) var count = CacheStatistics.Snapshot()
  private var lately = RecentCounts<CacheStatistics.Snapshot>()
  package private(set) var seconds = SecondRing()
  /// Those that were told of.
  package var pending: [RequestID: Pending] = [:]

  /// In the last seconds.
  package func recent(at now: CacheInstant) -> CacheStatistics.Snapshot { lately.sum(at: now) }

  /// Adds what was counted.
  package mutating func add(_ counted: CacheStatistics.Snapshot, at time: CacheInstant) {
    var whole = counted
    (whole.levels, whole.operators) = ([:], [:])
    count += whole
    lately.add(whole, at: time)
    seconds.note(at: time) { second in
      second.asked.add(whole.requests + whole.writes.requests)
      second.joined.add(whole.pool.joined)
    }
  }

  package mutating func began(_ id: RequestID, _ operation: CacheEvent.Operation, key: String?, at time: CacheInstant) {
    guard pending[id] == nil, pending.count < Self.mostPending else { return }
    pending[id] = Pending(operation: operation, key: key, since: time)
  }

  package mutating func ended(_ id: RequestID?) { if let id { pending[id] = nil } }

  package mutating func joined(_ id: RequestID?) {
    guard let id else { return }
    pending[id]?.isPooled = true
    pending[id]?.hasJoined = true
  }

  /// Counts nothing but what is under way.
  mutating func beginAnew() {
    var new = RequestTraffic()
    (new.count.requests, new.count.pending) = (count.pending, count.pending)
    (new.count.writes.requests, new.count.writes.pending) = (count.writes.pending, count.writes.pending)
    new.count.pool.inFlight = count.pool.inFlight
    new.pending = pending
    self = new
  }
}

extension CacheStatistics.Snapshot {
  /// Reads that a level or an operator answered, without those that joined.
  package var answered: Int { served.values.reduce(0, +) }
  /// Reads that ended for themselves: they were neither joined nor cancelled.
  package var ended: Int { answered + missed + failed }
}
