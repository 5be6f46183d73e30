package import CacheEngine
package import ExplorerCommands

/// Everything that is known of the cache at one moment.
///
/// Freezing the screen keeps a copy of it.
package struct Picture: Sendable {
  package var now: CacheInstant
  package var levels: [LevelRow]
  package var traffic: [LevelTraffic]
  package let operators: [OperatorRow]
  /// What each operator did.
  package var operations: [OperatorTraffic]
  /// From the top.
  package let chain: [ChainPart]
  package var requests = RequestTraffic()
  package var flights = FlightTable()
  package var entries: EntryTable
  package var log = LogRing()
  package var warning: WarningReport?
  /// The last calls, each with its way through the levels.
  package var calls = RequestLog()
  /// How entries left the levels.
  package var causes = CauseTable()
  /// What is on its way between levels.
  package var motion = Motion()
  /// Events that never came here.
  ///
  /// What is told of single requests and entries is a part then; the figures are whole.
  package var lost = 0
  /// Shares, errors and latencies are those of the last seconds, and not those since the start.
  ///
  /// Set for what is drawn.
  package var isRecent = false
  /// How many events there were, lost ones included; the number of the last one.
  package private(set) var eventCount = 0

  private let indices: [String: Int]
  private let operatorIndices: [String: Int]
  /// What the keys of a level below `transformKeys` are to those who ask the cache.
  private var aliases: [Int: [String: String]]
  /// More keys are not remembered: those after them show as the level has them.
  private static let mostAliases = 200_000

  private struct Place: Hashable {
    var key: String
    var level: Int
  }

  /// Values that are larger than the level, until the end of the write is told.
  private var unfit: Set<Place> = []
  private static let mostUnfit = 1_000

  /// Whether a value did not fit into a level at all.
  private func isUnfit(_ event: CacheEvent, at level: Int) -> Bool {
    guard case .removed(.evicted, _) = event.kind, let room = event.madeRoomFor else { return false }
    return displayed(room, level: level) == event.key
  }

  /// Whether what is told to be stored was larger than the level.
  package func isUnfit(_ key: String?, at level: Int) -> Bool {
    key.map { unfit.contains(Place(key: $0, level: level)) } ?? false
  }

  package init(levels: [LevelRow], operators: [OperatorRow] = [], chain: [ChainPart]? = nil, now: CacheInstant) {
    self.levels = levels
    self.operators = operators
    self.chain = chain ?? levels.indices.map { .level($0) }
    operations = operators.map { _ in OperatorTraffic() }
    self.now = now
    traffic = levels.map { _ in LevelTraffic() }
    entries = EntryTable(levelCount: levels.count)
    indices = Self.table(levels.map(\.name))
    operatorIndices = Self.table(operators.map(\.name))
    let renaming = self.chain.flatMap { $0.levels(inside: { operators[$0].kind == "transformKeys" }) }
    aliases = Dictionary(renaming.map { ($0, [:]) }) { first, _ in first }
  }

  private static func table(_ names: [String]) -> [String: Int] {
    Dictionary(zip(names, names.indices)) { first, _ in first }
  }

  package func index(ofLevel name: String) -> Int? { indices[name] }
  package func index(ofOperator name: String) -> Int? { operatorIndices[name] }

  /// The key of a level as those who ask the cache know it.
  package func displayed(_ key: String, level: Int) -> String { aliases[level]?[key] ?? key }

  /// The same for an event, from which the name of a new key is learnt.
  private mutating func displayedKey(_ event: CacheEvent) -> String? {
    guard let key = event.key, !aliases.isEmpty, let level = event.level.flatMap({ indices[$0] }),
      let known = aliases[level]
    else { return event.key }
    if case .removed = event.kind { return known[key] ?? key }
    guard let outer = event.request.flatMap({ requests.pending[$0]?.key }), outer != key else {
      return known[key] ?? key
    }
    if known[key] != outer, known.count < Self.mostAliases {
      aliases[level]?[key] = outer
      // Whatever was listed under the inner name, or under another outer one, is this entry.
      entries.renamed(known[key] ?? key, to: outer, level: level)
    }
    return outer
  }

  /// Folds events in.
  ///
  /// `counted`: What the engine counted since the last ones; `nil` to count these events, one by one.
  ///
  /// Returns whether the levels should be asked what they hold, since the events no longer tell.
  package mutating func fold(_ events: [CacheEvent], lost count: Int, counted: CacheStatistics.Snapshot? = nil) -> Bool
  {
    var isUncertain = false
    if let counted { add(counted, at: now) }
    if count > 0 {
      lost += min(count, .max - lost)
      eventCount += min(count, .max / 2 - eventCount)
      isUncertain = true
      forgetPending()
    }
    for var event in events {
      eventCount += 1
      event.key = displayedKey(event)
      if counted == nil { self.count(event) }
      follow(event)
      if fold(event) { isUncertain = true }
    }
    return isUncertain
  }

  private mutating func add(_ counted: CacheStatistics.Snapshot, at time: CacheInstant) {
    requests.add(counted, at: time)
    for (name, level) in counted.levels { if let index = indices[name] { traffic[index].add(level, at: time) } }
    for (name, operation) in counted.operators {
      if let index = operatorIndices[name] { operations[index] += operation }
    }
  }

  /// Counts an event, where the engine's counts are not at hand.
  private mutating func count(_ event: CacheEvent) {
    var one = CacheStatistics.Snapshot()
    one.fold(event, hasJoined: event.request.flatMap { requests.pending[$0]?.hasJoined } ?? false)
    one.operators = [:]
    add(one, at: event.time)
    // Not as a sum: it tells how many are running, and not how many more.
    if let index = event.level.flatMap({ operatorIndices[$0] }) { operations[index].fold(event.kind, at: event.time) }
  }

  private mutating func forgetPending() {
    requests.pending = [:]
    calls.forgetPending()
    flights.forgetAll()
  }

  /// What a level did, since the start or lately, as is chosen.
  package func figures(_ level: Int) -> CacheStatistics.Level {
    isRecent ? traffic[level].recent(at: now) : traffic[level].count
  }

  /// What became of calls, since the start or lately, as is chosen.
  package var figures: CacheStatistics.Snapshot { isRecent ? requests.recent(at: now) : requests.count }

  /// The time that the figures are about.
  package var window: String { isRecent ? "last \(SecondRing.rateWindow) s" : "since start" }

  private mutating func fold(_ event: CacheEvent) -> Bool {
    let time = event.time
    switch event.kind {
    case .requestBegan(let operation):
      if let id = event.request { requests.began(id, operation, key: event.key, at: time) }
    case .requestEnded: requests.ended(event.request)
    case .flightBegan, .flightJoined, .flightLeft, .flightEnded:
      foldFlight(event)
    case .operated(.servedStale(let deadline)): foldStale(event, deadline)
    case .operated(.shared(.forgot)): motion.note(.forgotten, from: nil, at: time)
    case .operated(let operation): foldOperation(event, operation)
    default:
      guard let level = event.level.flatMap({ indices[$0] }) else { return false }
      return fold(event, at: level)
    }
    return false
  }

  private mutating func foldOperation(_ event: CacheEvent, _ operation: OperatorEvent) {
    guard let index = event.level.flatMap({ operatorIndices[$0] }), let request = event.request else { return }
    switch operation {
    case .queued, .retried: hold(request, at: index)
    case .admitted: hold(request, at: nil)
    default: break
    }
  }

  private mutating func hold(_ request: RequestID, at operation: Int?) {
    requests.pending[request]?.heldBy = operation
    flights.held(by: operation, request: request)
  }

  private mutating func foldStale(_ event: CacheEvent, _ deadline: CacheInstant?) {
    guard let level = event.level.flatMap({ indices[$0] }) else { return }
    if let key = event.key { entries.servedStale(key, level: level, deadline: deadline, at: event.time) }
  }

  private mutating func foldFlight(_ event: CacheEvent) {
    guard let key = event.key else { return }
    let id = FlightTable.ID(pool: event.level ?? "", key: key)
    switch event.kind {
    case .flightBegan:
      flights.began(id, leader: event.request, at: event.time)
      if let leader = event.request { requests.pending[leader]?.isPooled = true }
    case .flightJoined(let callers):
      flights.changed(id, callers: callers)
      requests.joined(event.request)
    case .flightLeft(let callers): flights.changed(id, callers: callers)
    case .flightEnded: flights.ended(id)
    default: break
    }
  }

  private mutating func fold(_ event: CacheEvent, at level: Int) -> Bool {
    let time = event.time
    switch event.kind {
    case .lookupBegan:
      guard let request = event.request else { return false }
      requests.pending[request]?.level = level
      requests.pending[request]?.heldBy = nil
      flights.reached(level, request: request)
    case .hit(let cost, let deadline, let latency):
      traffic[level].answered(after: latency, at: time, event.request)
      guard let key = event.key, !levels[level].isOrigin else { return false }
      entries.hit(key, level: level, cost: cost, deadline: deadline, at: time)
    case .miss(let reason, let latency):
      if reason != .refused {
        traffic[level].answered(after: latency, at: time, event.request)
        motion.note(.passed, from: level, at: time)
      }
      let isKept = reason == .expired && levels[level].keepsExpired
      if reason != .refused, !isKept, let key = event.key { entries.gone(key, level: level) }
    case .failed(.get, _, let latency): traffic[level].answered(after: latency, at: time, event.request)
    // It was told just before that the value is larger than the level.
    case .stored where event.key.map { unfit.remove(Place(key: $0, level: level)) != nil } ?? false: return false
    case .stored(let purpose, let cost, let deadline, _):
      if purpose == .backFill { motion.note(.filled, from: level, at: time) }
      guard let key = event.key, !levels[level].isOrigin else { return false }
      entries.stored(key, level: level, cost: cost, deadline: deadline, at: time)
    case .removed(let cause, _):
      if isUnfit(event, at: level), let key = event.key {
        if unfit.count >= Self.mostUnfit { unfit = [] }
        unfit.insert(Place(key: key, level: level))
      }
      // The newer value that took its place is told of by an event of its own.
      guard cause != .replaced else { return false }
      if let key = event.key {
        entries.gone(key, level: level)
      } else if cause == .cleared {
        entries.cleared(level: level)
      } else {
        // An entry whose key the level cannot tell, as in an encrypted store: the next list shows which.
        return true
      }
    case .done(.remove, _): if let key = event.key { entries.gone(key, level: level) }
    case .done(.clear, _): entries.cleared(level: level)
    case .memoryWarning(let dropped, let cost, let duration):
      let part = WarningReport.Part(level: level, dropped: dropped, cost: cost, duration: duration)
      warn(part, at: time)
      return dropped > 0
    default: break
    }
    return false
  }

  private mutating func warn(_ part: WarningReport.Part, at time: CacheInstant) {
    traffic[part.level].warned(at: time)
    if warning?.belongs(time) == true {
      warning?.add(part)
    } else {
      warning = WarningReport(part, at: time, traffic: traffic[part.level])
    }
    if part.dropped >= entries.count(level: part.level) { entries.cleared(level: part.level) }
  }

  /// Takes over the numbers of events, which stand in the log.
  package mutating func continueCounting(from earlier: Picture) {
    (eventCount, lost) = (earlier.eventCount, earlier.lost)
  }

  /// Sets the figures back to zero; what is known of entries and calls stays, and so does what is under way.
  package mutating func resetFigures() {
    traffic = traffic.map { $0.begunAnew }
    requests.beginAnew()
    operations = operations.map { old in
      var new = OperatorTraffic()
      (new.running, new.waiting, new.refreshing, new.circuit) = (old.running, old.waiting, old.refreshing, old.circuit)
      return new
    }
    lost = 0
    warning = nil
  }

  /// Moves the clock.
  package mutating func advance(to instant: CacheInstant) {
    now = instant
    warning?.follow(traffic, at: now)
  }

  /// How many reads are under way, those that follow another's load not counted.
  package var inFlightCount: Int {
    requests.pending.values.reduce(flights.flights.count) {
      $0 + (!$1.isPooled && $1.operation == .get && $1.key != nil ? 1 : 0)
    }
  }

  /// The reads under way, the longest first: loads of pools, and calls that no pool knows.
  package var inFlight: [FlightTable.Flight] {
    let calls = requests.pending.compactMap { id, call -> FlightTable.Flight? in
      guard !call.isPooled, call.operation == .get, let key = call.key else { return nil }
      return FlightTable.Flight(key: key, since: call.since, leader: id, level: call.level, heldBy: call.heldBy)
    }
    return (Array(flights.flights.values) + calls).sorted { left, right in
      (left.since, left.leader?.number ?? 0, left.key) < (right.since, right.leader?.number ?? 0, right.key)
    }
  }
}
