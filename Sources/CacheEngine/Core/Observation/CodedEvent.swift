/// An event as it is written, in recordings and on the way to another process alike.
///
/// `what` says what happened. Times and durations are nanoseconds, and what an event has not is left out.
extension CacheEvent: Codable {
  /// Reads an event.
  ///
  /// - Throws: `DecodingError` if it is of a kind that is not known here, or lacks what its kind has.
  public init(from decoder: any Decoder) throws {
    let coded = try CodedEvent(from: decoder)
    guard let event = coded.event else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: coded.fault))
    }
    self = event
  }

  /// Writes the event.
  public func encode(to encoder: any Encoder) throws { try CodedEvent(self).encode(to: encoder) }
}

/// The fields of an event, for those who cut or bound them, and for events of kinds that are not known here.
package struct CodedEvent: Codable, Sendable, Equatable {
  package var what: String
  package var time: Int64
  package var call: UInt64?
  package var level: String?
  package var key: String?
  package var madeRoomFor: String?
  /// How long it took.
  package var took: Int64?
  package var operation: String?
  package var outcome: String?
  package var servedBy: String?
  package var reason: String?
  package var cause: String?
  package var error: String?
  package var cost: Int?
  package var deadline: Int64?
  package var callers: Int?
  package var dropped: Int?
  package var running: Int?
  package var waiting: Int?
  package var attempt: Int?
  package var phase: String?
  package var lease: String?
  package var since: Int64?

  private init(_ what: String) {
    self.what = what
    time = 0
  }
}

extension CodedEvent {
  package init(_ event: CacheEvent) {
    self.init(event.kind)
    time = event.time.nanoseconds
    call = event.request?.number
    level = event.level
    (key, madeRoomFor) = (event.key, event.madeRoomFor)
  }

  private init(_ kind: CacheEvent.Kind) {
    switch kind {
    case .requestBegan(let operation):
      self.init("began")
      self.operation = operation.rawValue
    case .requestEnded(let operation, let outcome, let duration):
      self.init("ended")
      self.operation = operation.rawValue
      took = duration.clampedNanoseconds
      note(outcome)
    case .lookupBegan: self.init("asked")
    case .hit(let cost, let deadline, let duration):
      self.init("hit")
      (self.cost, self.deadline, took) = (cost, deadline?.nanoseconds, duration.clampedNanoseconds)
    case .miss(let reason, let duration):
      self.init("miss")
      (self.reason, took) = (reason.rawValue, duration.clampedNanoseconds)
    case .stored(let purpose, let cost, let deadline, let duration):
      self.init(purpose == .set ? "stored" : "filled")
      (self.cost, self.deadline, took) = (cost, deadline?.nanoseconds, duration.clampedNanoseconds)
    case .removed(let cause, let cost):
      self.init("removed")
      (self.cause, self.cost) = (cause.rawValue, cost)
    case .done(let operation, let duration):
      self.init("done")
      (self.operation, took) = (operation.rawValue, duration.clampedNanoseconds)
    case .failed(let operation, let error, let duration):
      self.init("failed")
      (self.operation, self.error, took) = (operation.rawValue, error, duration.clampedNanoseconds)
    case .cancelled(let operation, let duration):
      self.init("cancelled")
      (self.operation, took) = (operation.rawValue, duration.clampedNanoseconds)
    case .memoryWarning(let dropped, let cost, let duration):
      self.init("warning")
      (self.dropped, self.cost, took) = (dropped, cost, duration.clampedNanoseconds)
    case .flightBegan: self.init("flightBegan")
    case .flightJoined(let callers):
      self.init("flightJoined")
      self.callers = callers
    case .flightLeft(let callers):
      self.init("flightLeft")
      self.callers = callers
    case .flightEnded(let callers, let duration):
      self.init("flightEnded")
      (self.callers, took) = (callers, duration.clampedNanoseconds)
    case .operated(let event): self.init(event)
    }
  }

  private mutating func note(_ outcome: CacheEvent.Outcome) {
    switch outcome {
    case .hit(let level): (self.outcome, servedBy) = ("hit", level)
    case .miss(let reason): (self.outcome, self.reason) = ("miss", reason.rawValue)
    case .done: self.outcome = "done"
    case .failed(let error): (self.outcome, self.error) = ("failed", error)
    case .cancelled: self.outcome = "cancelled"
    }
  }

  private init(_ event: OperatorEvent) {
    switch event {
    case .refused: self.init("refused")
    case .servedStale(let deadline):
      self.init("servedStale")
      self.deadline = deadline?.nanoseconds
    case .refreshBegan: self.init("refreshBegan")
    case .refreshEnded(let duration, let error):
      self.init("refreshEnded")
      (took, self.error) = (duration.clampedNanoseconds, error)
    case .queued(let running, let waiting):
      self.init("queued")
      (self.running, self.waiting) = (running, waiting)
    case .admitted(let running, let waiting):
      self.init("admitted")
      (self.running, self.waiting) = (running, waiting)
    case .released(let running, let waiting):
      self.init("released")
      (self.running, self.waiting) = (running, waiting)
    case .retried(let attempt, let delay, let error):
      self.init("retried")
      (self.attempt, took, self.error) = (attempt, delay.clampedNanoseconds, error)
    case .circuit(let phase):
      self.init("circuit")
      self.phase = phase.rawValue
    case .timedOut(let limit):
      self.init("timedOut")
      took = limit.clampedNanoseconds
    case .fellBack(let error):
      self.init("fellBack")
      self.error = error
    case .rememberedMiss: self.init("rememberedMiss")
    case .shared(let event): self.init(event)
    }
  }

  private init(_ event: SharedEvent) {
    self.init(event.word)
    switch event {
    case .forgot(let cause): self.cause = cause?.rawValue
    case .deaf(let since): self.since = since.nanoseconds
    case .heard: break
    case .leads(let lease), .follows(let lease): self.lease = lease
    case .led(let lease, let duration), .followed(let lease, let duration):
      (self.lease, took) = (lease, duration.clampedNanoseconds)
    }
  }
}

extension CodedEvent {
  /// The event; `nil` for one of a kind that is not known here, as a newer program may write.
  package var event: CacheEvent? {
    guard let kind else { return nil }
    return CacheEvent(
      time: CacheInstant(nanoseconds: time), request: call.map { RequestID($0) }, level: level, key: key, kind: kind,
      madeRoomFor: madeRoomFor)
  }

  /// Why it is no event, if it is none.
  fileprivate var fault: String {
    func wrong(_ field: String, _ value: String?, among words: [String] = []) -> String {
      guard let value else { return "an event “\(what)” needs “\(field)”" }
      return "there is no \(field) “\(value)”" + (words.isEmpty ? "" : ", only \(words.joined(separator: ", "))")
    }
    switch what {
    case "began", "ended", "done", "failed", "cancelled":
      guard operation.flatMap(CacheEvent.Operation.init(rawValue:)) != nil else {
        return wrong("operation", operation, among: CacheEvent.Operation.allCases.map(\.rawValue))
      }
      return outcome == "miss" ? wrong("reason", reason) : wrong("outcome", outcome)
    case "miss": return wrong("reason", reason)
    case "removed": return wrong("cause", cause, among: RemovalCause.allCases.map(\.rawValue))
    case "circuit": return wrong("phase", phase)
    case "leads", "led", "follows", "followed": return wrong("lease", lease)
    default: return "there is no event “\(what)”"
    }
  }

  private var duration: Duration { .nanoseconds(took ?? 0) }
  private var end: CacheInstant? { deadline.map { CacheInstant(nanoseconds: $0) } }

  private var kind: CacheEvent.Kind? {
    switch what {
    case "asked": .lookupBegan
    case "hit": .hit(cost: cost, deadline: end, duration)
    case "miss": reason.map { .miss(MissReason(rawValue: $0), duration) }
    case "stored": .stored(.set, cost: cost, deadline: end, duration)
    case "filled": .stored(.backFill, cost: cost, deadline: end, duration)
    case "removed": cause.flatMap(RemovalCause.init(rawValue:)).map { .removed($0, cost: cost ?? 0) }
    case "warning": .memoryWarning(dropped: dropped ?? 0, cost: cost ?? 0, duration)
    case "flightBegan": .flightBegan
    case "flightJoined": .flightJoined(callers: callers ?? 1)
    case "flightLeft": .flightLeft(callers: callers ?? 1)
    case "flightEnded": .flightEnded(callers: callers ?? 0, duration)
    case "began", "ended", "done", "failed", "cancelled": callKind
    default: operatorEvent.map { .operated($0) }
    }
  }

  private var callKind: CacheEvent.Kind? {
    guard let operation = operation.flatMap(CacheEvent.Operation.init(rawValue:)) else { return nil }
    switch what {
    case "began": return .requestBegan(operation)
    case "done": return .done(operation, duration)
    case "failed": return .failed(operation, error ?? "", duration)
    case "cancelled": return .cancelled(operation, duration)
    default: return ending.map { .requestEnded(operation, $0, duration) }
    }
  }

  private var ending: CacheEvent.Outcome? {
    switch outcome {
    case "hit": .hit(level: servedBy)
    case "miss": reason.map { .miss(MissReason(rawValue: $0)) }
    case "done": .done
    case "failed": .failed(error ?? "")
    case "cancelled": .cancelled
    default: nil
    }
  }

  private var operatorEvent: OperatorEvent? {
    let (running, waiting) = (running ?? 0, waiting ?? 0)
    return switch what {
    case "refused": .refused
    case "servedStale": .servedStale(deadline: end)
    case "refreshBegan": .refreshBegan
    case "refreshEnded": .refreshEnded(duration, error: error)
    case "queued": .queued(running: running, waiting: waiting)
    case "admitted": .admitted(running: running, waiting: waiting)
    case "released": .released(running: running, waiting: waiting)
    case "retried": .retried(attempt: attempt ?? 0, after: duration, error: error ?? "")
    case "circuit": phase.flatMap(CircuitPhase.init(rawValue:)).map { .circuit($0) }
    case "timedOut": .timedOut(duration)
    case "fellBack": .fellBack(error: error)
    case "rememberedMiss": .rememberedMiss
    default: sharedEvent.map { .shared($0) }
    }
  }

  private var sharedEvent: SharedEvent? {
    switch what {
    // Which of the reasons that a newer program knows does not matter: everything was forgotten.
    case "forgot": .forgot(cause.map { InvalidationCause(rawValue: $0) ?? .requested })
    case "deaf": .deaf(since: CacheInstant(nanoseconds: since ?? time))
    case "heard": .heard
    case "leads": lease.map { .leads(lease: $0) }
    case "led": lease.map { .led(lease: $0, duration) }
    case "follows": lease.map { .follows(lease: $0) }
    case "followed": lease.map { .followed(lease: $0, duration) }
    default: nil
    }
  }
}
