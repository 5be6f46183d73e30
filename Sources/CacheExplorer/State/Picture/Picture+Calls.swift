package import CacheEngine
import ExplorerText

/// The way of every call, and why its misses were misses.
extension Picture {
  /// Notes an event in the way of its call, before anything else changes: what the entries were like tells the cause.
  package mutating func follow(_ event: CacheEvent) {
    let time = event.time
    switch event.kind {
    case .requestBegan(let operation):
      if let id = event.request { calls.began(id, operation, key: event.key, at: time) }
    case .requestEnded(_, let outcome, let duration): ended(event.request, outcome, duration, at: time)
    case .flightBegan, .flightJoined, .flightLeft, .flightEnded: followFlight(event)
    case .operated(let operation): follow(operation, event)
    default:
      guard let level = event.level.flatMap({ index(ofLevel: $0) }) else { return }
      follow(event, at: level)
    }
  }

  private mutating func ended(
    _ id: RequestID?, _ outcome: CacheEvent.Outcome, _ duration: Duration, at time: CacheInstant
  ) {
    var leader: RequestID?
    let number = eventCount
    calls.change(id) { call in
      call.outcome = outcome
      call.duration = duration
      call.endEvent = number
      leader = call.leader
    }
    calls.change(leader) { call in
      for index in call.joiners.indices where call.joiners[index].id == id && call.joiners[index].ended == nil {
        call.joiners[index].ended = time
      }
    }
  }

  private mutating func followFlight(_ event: CacheEvent) {
    guard let key = event.key else { return }
    let leader = flights.flights[FlightTable.ID(pool: event.level ?? "", key: key)]?.leader
    switch event.kind {
    case .flightJoined:
      guard let follower = event.request, follower != leader else { return }
      calls.change(follower) { call in
        call.leader = leader
        call.joinedAt = event.time
      }
      calls.change(leader) { call in
        guard call.joiners.count < RequestRecord.mostJoiners else { return call.hiddenJoiners += 1 }
        call.joiners.append(RequestRecord.Joiner(id: follower, time: event.time))
      }
    case .flightEnded:
      calls.change(leader) { call in
        for index in call.joiners.indices where call.joiners[index].ended == nil {
          call.joiners[index].ended = event.time
        }
      }
    default: break
    }
  }

  private mutating func follow(_ event: CacheEvent, at level: Int) {
    let (key, time, number) = (event.key, event.time, eventCount)
    func end(_ outcome: RequestRecord.Step.Outcome, _ duration: Duration, cause: Cause? = nil) {
      calls.change(event.request) { $0.end(.level(level), outcome, at: time, after: duration, cause: cause) }
    }
    func add(_ outcome: RequestRecord.Step.Outcome, _ duration: Duration?) {
      let began = duration.map { time.advanced(by: .zero - $0) } ?? time
      let step = RequestRecord.Step(place: .level(level), outcome: outcome, began: began, duration: duration)
      calls.change(event.request) { $0.add(step) }
    }
    switch event.kind {
    case .lookupBegan: add(.asked, nil)
    case .hit(let cost, let deadline, let latency):
      end(.hit, latency)
      calls.change(event.request) { call in
        call.cost = cost ?? call.cost
        call.deadline = deadline
      }
    case .miss(let reason, let latency):
      end(.miss(reason), latency, cause: key.map { cause(of: reason, $0, level, event) })
    case .stored(let purpose, _, _, let duration):
      guard !isUnfit(key, at: level) else { return add(.did("larger than the level"), duration) }
      add(purpose == .set ? .set : .fill, duration)
      if let key { causes.stored(key, level: level) }
    case .done(let operation, let duration):
      add(.done(operation), duration)
      if operation == .clear { departAll(from: level, .cleared, event) }
      if operation == .remove, let key, entries.row(key)?.presence[level] != nil {
        causes.note(Cause(.removed, time: time, event: number, request: event.request), of: key, level: level)
      }
    case .failed(.get, let message, let latency):
      end(.failed(message), latency, cause: Cause(.down(message), time: time, event: number))
    case .failed(_, let message, let duration): add(.failed(message), duration)
    case .cancelled(.get, let latency): end(.cancelled, latency)
    case .cancelled(_, let duration): add(.cancelled, duration)
    case .memoryWarning(let dropped, _, let duration):
      add(.did("dropped \(Format.count(dropped))"), duration)
      if dropped > 0, dropped >= entries.count(level: level) { departAll(from: level, .warning, event) }
    case .removed(let removal, _):
      if let key {
        departed(key, level, removal, event)
      } else {
        causes.noteNameless(removal, at: time, event: number, level: level)
      }
    default: break
    }
  }

  /// An entry left by itself or was made to.
  private mutating func departed(_ key: String, _ level: Int, _ removal: RemovalCause, _ event: CacheEvent) {
    let kind: Cause.Kind
    switch removal {
    case .replaced: return
    case .expired: kind = expiry(of: key, level, at: event.time)
    case .evicted: kind = .evicted(by: event.madeRoomFor.map { displayed($0, level: level) } ?? insertedKey(event, key))
    case .memoryWarning: kind = .warning
    case .cleared: kind = .cleared
    case .removed: kind = .removed
    case .damaged: kind = .damaged
    }
    causes.note(
      Cause(kind, time: event.time, event: eventCount, request: event.request), of: key, level: level)
  }

  /// The key of the call during which an entry was evicted, where the level itself does not say for whom.
  private func insertedKey(_ event: CacheEvent, _ key: String) -> String? {
    event.request.flatMap { requests.pending[$0]?.key }.flatMap { $0 == key ? nil : $0 }
  }

  private mutating func departAll(from level: Int, _ kind: Cause.Kind, _ event: CacheEvent) {
    let cause = Cause(kind, time: event.time, event: eventCount, request: event.request)
    for row in entries.rows where row.presence[level] != nil { causes.note(cause, of: row.key, level: level) }
  }

  private func expiry(of key: String, _ level: Int, at time: CacheInstant) -> Cause.Kind {
    guard let presence = entries.row(key)?.presence[level] else { return .expired(deadline: nil, lifetime: nil) }
    guard let deadline = presence.deadline, deadline <= time else {
      // Somebody ended it before its time.
      return .expired(deadline: nil, lifetime: nil)
    }
    return .expired(deadline: deadline, lifetime: presence.created.map { $0.duration(to: deadline) })
  }

  /// Why a level has missed.
  private mutating func cause(of reason: MissReason, _ key: String, _ level: Int, _ event: CacheEvent) -> Cause {
    let known = causes.cause(of: key, level: level)
    switch reason {
    case .expired:
      if let known, case .expired = known.kind { return known }
      let cause = Cause(
        expiry(of: key, level, at: event.time), time: event.time, event: eventCount, request: event.request)
      causes.note(cause, of: key, level: level)
      return cause
    case .absent:
      if let known { return known }
      if let nameless = causes.nameless[level] {
        return Cause(.nameless(nameless.cause, count: nameless.count), time: nameless.last, event: nameless.event)
      }
      if entries.row(key)?.presence[level] != nil { return Cause(.leftUnseen, time: event.time, event: eventCount) }
      return Cause(causes.hasForgotten || lost > 0 ? .forgotten : .neverStored, event: eventCount)
    case .damaged: return known ?? Cause(.damaged, time: event.time, event: eventCount)
    default: return Cause(.other(reason.rawValue), time: event.time, event: eventCount)
    }
  }

  private mutating func follow(_ operation: OperatorEvent, _ event: CacheEvent) {
    if case .servedStale = operation, let level = event.level.flatMap({ index(ofLevel: $0) }) {
      let step = RequestRecord.Step(
        place: .level(level), outcome: .stale, began: event.time, duration: .zero)
      return calls.change(event.request) { $0.add(step) }
    }
    guard let index = event.level.flatMap({ index(ofOperator: $0) }) else { return }
    let number = eventCount
    func did(_ words: String, _ duration: Duration = .zero, cause: Cause.Kind? = nil) {
      let step = RequestRecord.Step(
        place: .operation(index), outcome: .did(words), began: event.time.advanced(by: .zero - duration),
        duration: duration, cause: cause.map { Cause($0, time: event.time, event: number) })
      calls.change(event.request) { $0.add(step) }
    }
    switch operation {
    case .refused: did("refused", cause: .refused(index))
    case .rememberedMiss: did("remembered", cause: .remembered(index))
    case .queued:
      let step = RequestRecord.Step(place: .operation(index), outcome: .asked, began: event.time)
      calls.change(event.request) { $0.add(step) }
    case .admitted:
      calls.change(event.request) { call in
        let began = call.steps.last { $0.place == .operation(index) && $0.outcome == .asked }?.began
        guard let began else { return }
        call.end(.operation(index), .did("waited"), at: event.time, after: began.duration(to: event.time))
      }
    case .retried(let attempt, _, let error): did("attempt \(attempt) failed: \(error)")
    case .timedOut(let limit): did("gave up", limit)
    case .fellBack: did("stepped in")
    case .refreshBegan: did("refresh began")
    case .refreshEnded(let duration, let error): did(error.map { "refresh failed: \($0)" } ?? "refreshed", duration)
    case .circuit(let phase): did("circuit \(phase.rawValue)")
    case .released, .servedStale, .shared: break
    }
  }
}
