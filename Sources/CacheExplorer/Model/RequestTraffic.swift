import CacheEngine

/// The calls to the whole cache: how they ended, and which are under way.
struct RequestTraffic: Sendable {
  /// How calls ended.
  struct Tally: Sendable, Equatable {
    var requests = 0
    /// Reads answered by a level, without those that joined another's load.
    var served = 0
    /// Reads answered by a load that another caller had begun: neither a hit nor a miss of their own.
    var joined = 0
    var missed = 0
    /// Writes, removals and warnings that were carried out.
    var done = 0
    var failed = 0
    var cancelled = 0
    var pending = 0
    /// Calls whose end was among lost events.
    var unanswered = 0

    var ended: Int { served + joined + missed + done + failed + cancelled }
  }

  struct Pending: Sendable {
    var operation: CacheEvent.Operation
    var key: String?
    var since: CacheInstant
    /// The index of the level that was asked last.
    var level: Int?
    /// The index of the operator that holds it up.
    var heldBy: Int?
    /// It leads or follows a load of a pool, which is listed instead of it.
    var isPooled = false
    var hasJoined = false
  }

  var reads = Tally()
  var writes = Tally()
  /// Reads answered by each level.
  var servedBy: [String: Int] = [:]
  var pending: [RequestID: Pending] = [:]
  /// Callers that joined a load, whatever became of them.
  var joins = 0
  var seconds = SecondRing()
}

extension RequestTraffic {
  mutating func began(_ id: RequestID, _ operation: CacheEvent.Operation, key: String?, at time: CacheInstant) {
    seconds.note(at: time) { $0.asked += 1 }
    guard pending[id] == nil else { return }
    pending[id] = Pending(operation: operation, key: key, since: time)
    change(operation) {
      $0.requests += 1
      $0.pending += 1
    }
  }

  mutating func ended(
    _ id: RequestID?, _ operation: CacheEvent.Operation, _ outcome: CacheEvent.Outcome, at time: CacheInstant
  ) {
    let known = id.flatMap { pending.removeValue(forKey: $0) }
    if let known {
      change(known.operation) { $0.pending -= 1 }
    } else {
      change(operation) { $0.requests += 1 }
      seconds.note(at: time) { $0.asked += 1 }
    }
    let hasJoined = known?.hasJoined ?? false
    let operation = known?.operation ?? operation
    if case .hit(let level?) = outcome, !hasJoined { servedBy[level, default: 0] += 1 }
    change(operation) { tally in
      switch outcome {
      case .hit: hasJoined ? (tally.joined += 1) : (tally.served += 1)
      case .miss: tally.missed += 1
      case .done: tally.done += 1
      case .failed: tally.failed += 1
      case .cancelled: tally.cancelled += 1
      }
    }
  }

  mutating func joined(_ id: RequestID?, at time: CacheInstant) {
    joins += 1
    seconds.note(at: time) { $0.joined += 1 }
    guard let id else { return }
    pending[id]?.isPooled = true
    pending[id]?.hasJoined = true
  }

  /// Counts nothing but what is under way.
  mutating func beginAnew() {
    let (reads, writes, pending) = (reads.pending, writes.pending, pending)
    self = RequestTraffic()
    (self.reads.requests, self.reads.pending) = (reads, reads)
    (self.writes.requests, self.writes.pending) = (writes, writes)
    self.pending = pending
  }

  mutating func forgetPending() {
    for call in pending.values {
      change(call.operation) {
        $0.pending -= 1
        $0.unanswered += 1
      }
    }
    pending = [:]
  }

  private mutating func change(_ operation: CacheEvent.Operation, _ body: (inout Tally) -> Void) {
    operation == .get ? body(&reads) : body(&writes)
  }
}
