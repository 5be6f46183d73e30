package import CacheEngine

/// One call to the cache and its way through the levels.
package struct RequestRecord: Sendable {
  /// What a level or an operator did for the call.
  package struct Step: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
      /// The index of a level.
      case level(Int)
      /// The index of an operator.
      case operation(Int)
    }

    package enum Outcome: Sendable, Equatable {
      /// Not answered yet.
      case asked
      case hit
      case stale
      case miss(MissReason)
      /// A value was stored: by a write, or copied upwards.
      case set, fill
      case done(CacheEvent.Operation)
      case failed(String)
      case cancelled
      /// What an operator did, in a word.
      case did(String)

      /// Somebody asked; not stored, filled or done.
      var isLookup: Bool {
        switch self {
        case .asked, .hit, .stale, .miss, .failed, .cancelled: true
        case .set, .fill, .done, .did: false
        }
      }
    }

    package var place: Place
    package var outcome: Outcome
    package var began: CacheInstant
    /// `nil` as long as it is under way.
    package var duration: Duration?
    /// Why it was a miss, as was known at that moment.
    package var cause: Cause?
  }

  package struct Joiner: Sendable, Equatable {
    package var id: RequestID
    package var time: CacheInstant
    /// When it was answered, or left.
    package var ended: CacheInstant?
  }

  static let mostSteps = 48
  static let mostJoiners = 24

  package let id: RequestID
  package let operation: CacheEvent.Operation
  package let key: String?
  package let began: CacheInstant
  /// How long it took; `nil` as long as it is under way.
  package var duration: Duration?
  package var outcome: CacheEvent.Outcome?
  /// The number of the event that it ended with.
  package var endEvent: Int?
  /// Its end was among lost events.
  package var isLost = false
  package private(set) var steps: [Step] = []
  package private(set) var hiddenSteps = 0
  /// What it cost, if a level told.
  package var cost: Int?
  package var deadline: CacheInstant?
  package var leader: RequestID?
  package var joinedAt: CacheInstant?
  package var joiners: [Joiner] = []
  package var hiddenJoiners = 0

  package init(id: RequestID, operation: CacheEvent.Operation, key: String?, began: CacheInstant) {
    self.id = id
    self.operation = operation
    self.key = key
    self.began = began
  }

  package var isUnderWay: Bool { outcome == nil && !isLost }
  /// With this one.
  package var callers: Int { 1 + joiners.count + hiddenJoiners }

  package mutating func add(_ step: Step) {
    guard steps.count < Self.mostSteps else { return hiddenSteps += 1 }
    steps.append(step)
  }

  /// Ends the step of a place that is still under way, or notes one of which only the end was seen.
  package mutating func end(
    _ place: Step.Place, _ outcome: Step.Outcome, at time: CacheInstant, after duration: Duration, cause: Cause? = nil
  ) {
    guard let index = steps.lastIndex(where: { $0.place == place && $0.outcome == .asked }) else {
      return add(
        Step(
          place: place, outcome: outcome, began: time.advanced(by: .zero - duration), duration: duration, cause: cause))
    }
    steps[index].outcome = outcome
    steps[index].duration = duration
    steps[index].cause = cause
  }
}

/// The last calls to the cache.
package struct RequestLog: Sendable {
  package static let capacity = 4_096

  private var records: [RequestRecord] = []
  private var slots: [RequestID: Int] = [:]
  /// Where the next one goes once the ring is full.
  private var next = 0
  /// How many calls there were.
  package private(set) var total = 0

  package init() {}

  package var count: Int { records.count }

  package subscript(id: RequestID) -> RequestRecord? { slots[id].map { records[$0] } }

  package mutating func change(_ id: RequestID?, _ body: (inout RequestRecord) -> Void) {
    guard let id, let slot = slots[id] else { return }
    body(&records[slot])
  }

  package mutating func began(
    _ id: RequestID, _ operation: CacheEvent.Operation, key: String?, at time: CacheInstant
  ) {
    guard slots[id] == nil else { return }
    total += 1
    let record = RequestRecord(id: id, operation: operation, key: key, began: time)
    if records.count < Self.capacity {
      slots[id] = records.count
      records.append(record)
    } else {
      slots[records[next].id] = nil
      records[next] = record
      slots[id] = next
      next = (next + 1) % Self.capacity
    }
  }

  /// Calls whose end never came, since events were lost.
  mutating func forgetPending() {
    for slot in records.indices where records[slot].isUnderWay { records[slot].isLost = true }
  }

  /// From the newest to the oldest.
  func newest(_ body: (RequestRecord) -> Bool) {
    for back in 1...max(1, records.count) where back <= records.count {
      let slot = (next + records.count - back) % records.count
      if !body(records[slot]) { return }
    }
  }

  /// The identifiers to list: those under way, the longest first, then the others from the newest on.
  package func listed(_ matches: (RequestRecord) -> Bool) -> [RequestID] {
    var underWay: [RequestID] = []
    var ended: [RequestID] = []
    newest { record in
      guard matches(record) else { return true }
      if record.isUnderWay { underWay.append(record.id) } else { ended.append(record.id) }
      return true
    }
    return underWay.reversed() + ended
  }

  /// The newest call about a key.
  package func latest(of key: String) -> RequestID? {
    var found: RequestID?
    newest { record in
      if record.key == key { found = record.id }
      return found == nil
    }
    return found
  }
}

extension RequestRecord {
  /// How it ended, in a few words.
  package var outcomeText: String {
    let joined = leader.map { " joined \($0)" } ?? ""
    switch outcome {
    case nil: return isLost ? "its end was lost" : "under way\(joined)"
    case .hit(let level): return "hit \(level?.uppercased() ?? "")\(joined)"
    case .miss(let reason): return "miss (\(reason))\(joined)"
    case .done: return "done"
    case .failed(let message): return "failed: \(message)"
    case .cancelled: return "cancelled"
    }
  }
}
