import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

extension CacheEvent: Recorded {
  /// `["hit",time,request,level,key,room,…]`: what happened, the fields of every event, and its own.
  var recorded: JSONText {
    let (word, more) = kind.recordedParts
    return .array(
      [.text(word), time.recorded, request.recorded, level.recorded, key.recorded, madeRoomFor.recorded] + more)
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    let (time, request) = (try fields.next(CacheInstant.self), try fields.next(RequestID?.self))
    let (level, key) = (try fields.next(String?.self), try fields.next(String?.self))
    let room = try fields.next(String?.self)
    self.init(
      time: time, request: request, level: level, key: key, kind: try Kind(word, &fields), madeRoomFor: room)
  }
}

extension CacheEvent.Kind {
  fileprivate var recordedParts: (String, [JSONText]) {
    switch self {
    case .requestBegan(let operation): ("began", [operation.recordedValue])
    case .requestEnded(let operation, let outcome, let duration):
      ("ended", [operation.recordedValue, outcome.recorded, duration.recorded])
    case .lookupBegan: ("lookup", [])
    case .hit(let cost, let deadline, let duration): ("hit", [cost.recorded, deadline.recorded, duration.recorded])
    case .miss(let reason, let duration): ("miss", [reason.recordedValue, duration.recorded])
    case .stored(let purpose, let cost, let deadline, let duration):
      ("stored", [purpose.recordedValue, cost.recorded, deadline.recorded, duration.recorded])
    case .removed(let cause, let cost): ("removed", [cause.recordedValue, cost.recorded])
    case .done(let operation, let duration): ("done", [operation.recordedValue, duration.recorded])
    case .failed(let operation, let text, let duration):
      ("failed", [operation.recordedValue, text.recorded, duration.recorded])
    case .cancelled(let operation, let duration): ("cancelled", [operation.recordedValue, duration.recorded])
    case .memoryWarning(let dropped, let cost, let duration):
      ("warned", [dropped.recorded, cost.recorded, duration.recorded])
    case .flightBegan: ("flight", [])
    case .flightJoined(let callers): ("joined", [callers.recorded])
    case .flightLeft(let callers): ("left", [callers.recorded])
    case .flightEnded(let callers, let duration): ("landed", [callers.recorded, duration.recorded])
    case .operated(let event): ("operated", [event.recorded])
    }
  }

  fileprivate init(_ word: String, _ fields: inout RecordedFields) throws(RecordedFault) {
    func operation() throws(RecordedFault) -> CacheEvent.Operation { try .init(recordedValue: try fields.next()) }
    switch word {
    case "began": self = .requestBegan(try operation())
    case "ended": self = .requestEnded(try operation(), try fields.next(), try fields.next())
    case "lookup": self = .lookupBegan
    case "hit": self = .hit(cost: try fields.next(), deadline: try fields.next(), try fields.next())
    case "miss": self = .miss(try .init(recordedValue: try fields.next()), try fields.next())
    case "stored":
      self = .stored(
        try .init(recordedValue: try fields.next()), cost: try fields.next(), deadline: try fields.next(),
        try fields.next())
    case "removed": self = .removed(try .init(recordedValue: try fields.next()), cost: try fields.next())
    case "done": self = .done(try operation(), try fields.next())
    case "failed": self = .failed(try operation(), try fields.next(), try fields.next())
    case "cancelled": self = .cancelled(try operation(), try fields.next())
    case "warned": self = .memoryWarning(dropped: try fields.next(), cost: try fields.next(), try fields.next())
    case "flight": self = .flightBegan
    case "joined": self = .flightJoined(callers: try fields.next())
    case "left": self = .flightLeft(callers: try fields.next())
    case "landed": self = .flightEnded(callers: try fields.next(), try fields.next())
    case "operated": self = .operated(try fields.next())
    default: throw RecordedFault("there is no event “\(word)”")
    }
  }
}

extension CacheEvent.Outcome: Recorded {
  var recorded: JSONText {
    switch self {
    case .hit(let level): .fields("hit", level)
    case .miss(let reason): .fields("miss", reason.rawValue)
    case .done: .fields("done")
    case .failed(let text): .fields("failed", text)
    case .cancelled: .fields("cancelled")
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "hit": self = .hit(level: try fields.next())
    case "miss": self = .miss(MissReason(rawValue: try fields.next()))
    case "done": self = .done
    case "failed": self = .failed(try fields.next())
    case "cancelled": self = .cancelled
    default: throw RecordedFault("there is no outcome “\(word)”")
    }
  }
}

extension OperatorEvent: Recorded {
  var recorded: JSONText {
    switch self {
    case .refused: .fields("refused")
    case .servedStale(let deadline): .fields("stale", deadline)
    case .refreshBegan: .fields("refresh")
    case .refreshEnded(let duration, let error): .fields("refreshed", duration, error)
    case .queued(let running, let waiting): .fields("queued", running, waiting)
    case .admitted(let running, let waiting): .fields("admitted", running, waiting)
    case .released(let running, let waiting): .fields("released", running, waiting)
    case .retried(let attempt, let delay, let error): .fields("retried", attempt, delay, error)
    case .circuit(let phase): .fields("circuit", phase.rawValue)
    case .timedOut(let limit): .fields("timeout", limit)
    case .fellBack(let error): .fields("fallback", error)
    case .rememberedMiss: .fields("remembered")
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "refused": self = .refused
    case "stale": self = .servedStale(deadline: try fields.next())
    case "refresh": self = .refreshBegan
    case "refreshed": self = .refreshEnded(try fields.next(), error: try fields.next())
    case "queued": self = .queued(running: try fields.next(), waiting: try fields.next())
    case "admitted": self = .admitted(running: try fields.next(), waiting: try fields.next())
    case "released": self = .released(running: try fields.next(), waiting: try fields.next())
    case "retried": self = .retried(attempt: try fields.next(), after: try fields.next(), error: try fields.next())
    case "circuit": self = .circuit(try .init(recordedValue: try fields.next()))
    case "timeout": self = .timedOut(try fields.next())
    case "fallback": self = .fellBack(error: try fields.next())
    case "remembered": self = .rememberedMiss
    default: throw RecordedFault("no operator does “\(word)”")
    }
  }
}
