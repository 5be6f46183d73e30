import CacheEngine
import ExplorerModel
import ExplorerText

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Message: Recorded {
  /// `["tick",now,wall]`: the word for it, and what it holds.
  var recorded: JSONText {
    switch self {
    case .input(let event): .fields("input", event)
    case .tick(let now, let wall): .fields("tick", now, wall)
    case .events(let events, let lost, let counted): .fields("events", events, lost, counted)
    case .log(let lines, let lost): .fields("log", lines, lost)
    case .showLog(let level): .fields("showLog", level.rawValue)
    case .caption(let text): .fields("caption", text)
    case .filter(let text): .fields("filter", text)
    case .sort(let column): .fields("sort", column)
    case .undoable(let what): .fields("undoable", what)
    case .speed(let speed): .fields("speed", speed)
    case .showConfig: .fields("showConfig")
    case .unlisted(let counts): .fields("unlisted", counts)
    case .found(let level, let contents): .fields("found", level, contents)
    case .faults(let faults): .fields("faults", faults)
    case .usage(let usages): .fields("usage", usages)
    case .snapshot(let level, let contents): .fields("snapshot", level, contents)
    case .finished(let result, let line): .fields("finished", result, line)
    case .files(let word, let names): .fields("files", word, names)
    case .rejected(let line, let reason, let column): .fields("rejected", line, reason, column)
    case .help: .fields("help")
    case .value(let sight): .fields("value", sight)
    case .planned(let plan): .fields("planned", plan)
    case .replaced(let replacement): .fields("replaced", replacement)
    case .attachment(let attachment): .fields("attachment", attachment)
    case .attachedAgain(let attachment, let replacement): .fields("attachedAgain", attachment, replacement)
    case .settings(let settings): .fields("settings", settings)
    case .whatIf(let reports, let unseen): .fields("whatIf", reports, unseen)
    case .showWhatIf: .fields("showWhatIf")
    case .models(let content): .fields("models", content)
    case .workload(let name): .fields("workload", name)
    case .recording(let status): .fields("recording", status)
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "input": self = .input(try fields.next())
    case "tick": self = .tick(try fields.next(), wall: try fields.next())
    case "events":
      self = .events(try fields.next(), lost: try fields.next(), counted: try fields.nextIfThere() ?? nil)
    case "log": self = .log(try fields.next(), lost: try fields.next())
    case "showLog": self = .showLog(from: try .init(recordedValue: try fields.next()))
    case "caption": self = .caption(try fields.next())
    case "filter": self = .filter(try fields.next())
    case "sort": self = .sort(try fields.next())
    case "undoable": self = .undoable(try fields.next())
    case "speed": self = .speed(try fields.next())
    case "showConfig": self = .showConfig
    case "unlisted": self = .unlisted(try fields.next())
    case "found": self = .found(level: try fields.next(), try fields.next())
    case "faults": self = .faults(try fields.next())
    case "usage": self = .usage(try fields.next())
    case "snapshot": self = .snapshot(level: try fields.next(), try fields.next())
    case "finished": self = .finished(try fields.next(), line: try fields.next())
    case "files": self = .files(beginning: try fields.next(), try fields.next())
    case "rejected":
      self = .rejected(line: try fields.next(), reason: try fields.next(), column: try fields.next())
    case "help": self = .help
    case "value": self = .value(try fields.next())
    case "planned": self = .planned(try fields.next())
    case "replaced": self = .replaced(try fields.next())
    case "attachment": self = .attachment(try fields.next())
    case "attachedAgain": self = .attachedAgain(try fields.next(), try fields.next())
    case "settings": self = .settings(try fields.next())
    case "whatIf": self = .whatIf(try fields.next(), unseen: try fields.nextIfThere() ?? 0)
    case "showWhatIf": self = .showWhatIf
    case "models": self = .models(try fields.next())
    case "workload": self = .workload(try fields.next())
    case "recording": self = .recording(try fields.next())
    default: throw RecordedFault("there is no message “\(word)”")
    }
  }
}

extension JSONText: Recorded {
  var recorded: JSONText { self }
  init(recorded json: JSONText) throws(RecordedFault) { self = json }
}

extension InputEvent: Recorded {
  var recorded: JSONText {
    switch self {
    case .key(let key): .fields("key", key)
    case .paste(let text): .fields("paste", text)
    case .resized(let size): .fields("resized", size)
    case .mouse(let mouse): .fields("mouse", mouse.kind.rawValue, mouse.at.x, mouse.at.y, mouse.clicks)
    case .focus(let isGained): .fields("focus", isGained)
    case .terminate(let signal): .fields("terminate", Int(signal))
    case .suspend: .fields("suspend")
    case .resumed: .fields("resumed")
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "key": self = .key(try fields.next())
    case "paste": self = .paste(try fields.next())
    case "resized": self = .resized(try fields.next())
    case "mouse":
      self = .mouse(
        Mouse(
          kind: try .init(recordedValue: try fields.next()), at: Point(x: try fields.next(), y: try fields.next()),
          clicks: try fields.next()))
    case "focus": self = .focus(try fields.next())
    case "terminate": self = .terminate(signal: Int32(truncatingIfNeeded: try fields.next(Int.self)))
    case "suspend": self = .suspend
    case "resumed": self = .resumed
    default: throw RecordedFault("there is no input “\(word)”")
    }
  }
}

extension InputEvent.Key: Recorded {
  private static let named: [(String, InputEvent.Key)] = [
    ("enter", .enter), ("escape", .escape), ("tab", .tab), ("backTab", .backTab), ("backspace", .backspace),
    ("delete", .delete), ("up", .up), ("down", .down), ("left", .left), ("right", .right), ("home", .home),
    ("end", .end), ("pageUp", .pageUp), ("pageDown", .pageDown),
  ]

  /// A name, or an array of what kind of key it is and which.
  var recorded: JSONText {
    switch self {
    case .character(let character): .fields("character", String(character))
    case .control(let character): .fields("control", String(character))
    case .function(let number): .fields("function", number)
    default: .text(Self.named.first { $0.1 == self }?.0 ?? "escape")
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    if case .text(let name) = json {
      guard let key = Self.named.first(where: { $0.0 == name })?.1 else {
        throw RecordedFault("there is no key “\(name)”")
      }
      self = key
      return
    }
    var fields = try RecordedFields(json)
    let kind = try fields.next(String.self)
    switch kind {
    case "character": self = .character(try Self.character(try fields.next()))
    case "control": self = .control(try Self.character(try fields.next()))
    case "function": self = .function(try fields.next())
    default: throw RecordedFault("there is no kind of key “\(kind)”")
    }
  }

  private static func character(_ text: String) throws(RecordedFault) -> Character {
    guard text.count == 1, let character = text.first else { throw RecordedFault("“\(text)” is no character") }
    return character
  }
}

extension CommandResult: Recorded {
  /// A value may be large, and nobody's business: only how long it is goes on the screen.
  private static let longest = 1 << 30

  var recorded: JSONText {
    .fields(
      command, outcome.rawValue, level, isStale, reason, size ?? value?.count, microseconds, error, note)
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let (command, outcome) = (try fields.next(String.self), try Outcome(recordedValue: try fields.next()))
    let (level, isStale, reason) = (
      try fields.next(String?.self), try fields.next(Bool.self), try fields.next(String?.self)
    )
    let length = try fields.next(Int?.self)
    guard (0...Self.longest).contains(length ?? 0) else { throw RecordedFault("no value is that long") }
    self.init(
      command: command, outcome: outcome, level: level, isStale: isStale, reason: reason,
      value: length.map { Data(count: $0) }, microseconds: try fields.next(), error: try fields.next(),
      note: nil)
    note = try fields.next()
  }
}

extension RecordingStatus: Recorded {
  var recorded: JSONText { .fields(phase.rawValue, bytes, lost) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(phase: try .init(recordedValue: try fields.next()), bytes: try fields.next(), lost: try fields.next())
  }
}
