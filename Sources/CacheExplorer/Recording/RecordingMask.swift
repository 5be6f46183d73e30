import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerText

/// Keeps keys and values out of the recording of a masked session.
///
/// Every key has another name, always the same one; what is typed, what is answered and what an error says is left out, since
/// a key or a value may stand in it.
struct RecordingMask {
  static let hidden = KeyMask.hidden
  /// Keys after so many share one name.
  private static let mostNames = 1_000_000

  private var names: [String: String] = [:]

  mutating func name(of key: String) -> String {
    if let name = names[key] { return name }
    guard names.count < Self.mostNames else { return "key" }
    let name = "key-\(names.count + 1)"
    names[key] = name
    return name
  }

  /// What is written of a message, as far as keyboard and mouse are concerned; `nil` if nothing is.
  ///
  /// Nobody types in a replay. What begins that, goes on with it and ends it is left out, and the replay comes to where the
  /// session is then.
  ///
  /// `before`: What it met. `mode`: What keys are for since.
  static func kept(_ message: Message, from before: InputState, to mode: Model.Mode) -> Message? {
    switch message {
    case .input(.paste): return nil
    case .input(.key(let key)):
      if before.mode == .palette, !mode.isTyping, KeyTable.action(for: key, in: .typing) == .accept,
        let chosen = before.chosen
      {
        // As if its own key had been pressed.
        return InputEvent.Key.key(for: chosen).map { .input(.key($0)) }
      }
    case .input(.mouse): break
    // The line is there to be mended, and Esc leads from it to where there is no help any more.
    case .rejected where before.mode == .help: return .input(.key(.escape))
    default: return message
    }
    guard before.mode.isTyping || mode.isTyping else { return message }
    // A click that is not meant lets the next one through, as the key did.
    return before.ignoresClick ? .input(.mouse(InputEvent.Mouse(kind: .press, at: Point(x: 0, y: 0)))) : nil
  }

  /// The message without keys and values; `nil` if nothing is left of it.
  mutating func masked(_ message: Message) -> Message? {
    switch message {
    case .input, .tick, .showLog, .showConfig, .caption, .sort, .speed, .faults, .usage, .shared, .owners, .unlisted,
      .help,
      .helpAbout,
      .planned,
      .replaced, .attachment, .attachedAgain, .settings, .whatIf, .showWhatIf, .workload, .recording:
      message
    case .events(let events, let lost, let counted):
      .events(events.map { masked($0) }, lost: lost, counted: counted)
    case .log(let lines, let lost): .log(lines.map { masked($0) }, lost: lost)
    case .snapshot(let level, let contents): .snapshot(level: level, masked(contents))
    case .found(let level, let contents): .found(level: level, masked(contents))
    case .finished(let result, let line): finished(result, line: line)
    case .value(let sight): masked(sight)
    case .served(let exchanges, let counts, let lost): .served(exchanges.map { masked($0) }, counts, lost: lost)
    case .keyspace(let sheet): .keyspace(sheet.renamed { name(of: $0) })
    case .fleet(let sheet): .fleet(sheet.renamed { name(of: $0) })
    case .variants(let key, let variants): .variants(key: name(of: key), variants.map { Self.masked($0) })
    case .filter, .undoable, .files, .rejected, .models: nil
    }
  }

  private mutating func masked(_ contents: [ListedEntry]) -> [ListedEntry] {
    contents.map { entry in
      var entry = entry
      entry.key = name(of: entry.key)
      return entry
    }
  }

  private mutating func masked(_ exchange: ServedExchange) -> ServedExchange {
    var exchange = exchange
    exchange.path = name(of: exchange.key ?? exchange.path)
    exchange.key = exchange.key.map { name(of: $0) }
    return exchange
  }

  /// What selects a response may name a person, and so may an entity tag.
  private static func masked(_ variant: ServedVariant) -> ServedVariant {
    var variant = variant
    variant.selecting = variant.selecting.map { _ in hidden }
    variant.validator = variant.validator.map { _ in hidden }
    return variant
  }

  private mutating func masked(_ event: CacheEvent) -> CacheEvent {
    var event = event
    event.key = event.key.map { name(of: $0) }
    event.madeRoomFor = event.madeRoomFor.map { name(of: $0) }
    switch event.kind {
    case .failed(let operation, _, let duration): event.kind = .failed(operation, Self.hidden, duration)
    case .requestEnded(let operation, .failed, let duration):
      event.kind = .requestEnded(operation, .failed(Self.hidden), duration)
    case .operated(.refreshEnded(let duration, .some)):
      event.kind = .operated(.refreshEnded(duration, error: Self.hidden))
    case .operated(.retried(let attempt, let delay, _)):
      event.kind = .operated(.retried(attempt: attempt, after: delay, error: Self.hidden))
    case .operated(.fellBack(.some)): event.kind = .operated(.fellBack(error: Self.hidden))
    default: break
    }
    return event
  }

  /// The first word of a line that tells of an event says what happened; all else may hold a key.
  private func masked(_ line: LogLine) -> LogLine {
    var line = line
    let word = line.event == nil ? "" : line.text.prefix { $0 != " " }
    line.text = "\(word) (\(Self.hidden))"
    line.keys = []
    return line
  }

  /// A command that a key stood for is known by its line, which is made here as the replay makes it.
  private mutating func finished(_ result: CommandResult, line: String?) -> Message {
    var result = result
    (result.value, result.note, result.expectation) = (nil, nil, nil)
    if result.error != nil { result.error = Self.hidden }
    let words = (line ?? "").split(separator: " ", maxSplits: 1).map(String.init)
    guard let verb = words.first, ["del", "expire", "clear", "warn"].contains(verb) else {
      return .finished(result, line: line == "" ? "" : nil)
    }
    guard words.count > 1 else { return .finished(result, line: verb) }
    let rest = words[1] == "--all" ? words[1] : name(of: words[1])
    return .finished(result, line: "\(verb) \(rest)")
  }

  private mutating func masked(_ sight: ValueSight) -> Message {
    var sight = sight
    sight.key = name(of: sight.key)
    switch sight.content {
    case .bytes(let bytes, let count): sight.content = .bytes(bytes.map { _ in 0x2e }, of: count)
    case .failed: sight.content = .failed(Self.hidden)
    case .asked, .absent: break
    }
    return .value(sight)
  }
}

/// What keys and clicks meet in a model.
struct InputState: Sendable {
  let mode: Model.Mode
  /// What Enter does in the palette, if there is a key for it.
  let chosen: Action?
  let ignoresClick: Bool

  init(_ model: Model) {
    mode = model.mode
    ignoresClick = model.ignoresClick
    guard mode == .palette, case .action(let action)? = model.palette.chosen?.deed else {
      chosen = nil
      return
    }
    chosen = action
  }
}

extension Model.Mode {
  fileprivate var isTyping: Bool {
    switch self {
    case .command, .filter, .helpSearch, .palette: true
    case .normal, .help, .explaining, .confirming: false
    }
  }
}

extension InputEvent.Key {
  /// A key that does something while nothing is typed.
  fileprivate static func key(for action: Action) -> InputEvent.Key? {
    KeyTable.bindings.lazy.flatMap(\.keys).first { KeyTable.action(for: $0, in: .normal) == action }
  }
}
