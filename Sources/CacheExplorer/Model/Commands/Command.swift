/// One line of the command line or of a script, understood.
package enum Command: Equatable, Sendable {
  case get(key: String, level: String?)
  case set(key: String, value: ValueSource, timeToLive: Duration?, level: String?)
  case delete(key: String)
  /// `level` nil clears every level.
  case clear(level: String?)
  /// `key` nil expires every entry.
  case expire(key: String?)
  case warn
  case run(WorkloadRequest)
  case stop
  /// How much of the cache's time passes in a second.
  case speed(Double)
  /// Moves the cache's time forwards.
  case advance(Duration)
  case fault(level: String, FaultChange, seed: UInt64?)
  case load(file: String)
  case reload
  /// A line of the person's own in the log.
  case mark(text: String)
  /// Which entries to list; empty for all.
  case filter(text: String)
  /// The column to list entries by.
  case sort(column: String)
  /// `isView`: What the screen shows, and not what the levels hold.
  case export(file: String, isView: Bool = false)
  /// Records the session; `file` nil ends that. The limit is in bytes.
  case record(file: String?, limit: Int?)
  /// Replays a recorded session.
  case replay(file: String, speed: Double?)
  /// Goes to another moment of a replay.
  case jump(JumpTarget)
  /// Takes back the last set, del or expire.
  case undo
  /// What is configured, and where it comes from.
  case config
  /// The least severe log level to show.
  case log(level: String)
  /// Compares a figure with a value; a script fails by it.
  case expect(Expectation)
  case stats
  /// As `stats`, in sentences for a person.
  case status
  /// What other capacities and policies would bring; `level` nil for all levels.
  case whatIf(level: String?, isReset: Bool)
  case help(verb: String?)
  case quit

  /// Whether it changes what the levels hold or how they work, beside what every read may fill.
  package var changesCache: Bool {
    switch self {
    case .set, .delete, .clear, .expire, .warn, .fault, .undo: true
    case .run(let request): request.name == "mixed"
    default: false
    }
  }

  /// The word that it is written with.
  package var verb: String {
    switch self {
    case .get: "get"
    case .set: "set"
    case .delete: "del"
    case .clear: "clear"
    case .expire: "expire"
    case .warn: "warn"
    case .run: "run"
    case .stop: "stop"
    case .speed: "speed"
    case .advance: "advance"
    case .fault: "fault"
    case .load: "load"
    case .reload: "reload"
    case .mark: "mark"
    case .filter: "filter"
    case .sort: "sort"
    case .export: "export"
    case .record: "record"
    case .replay: "replay"
    case .jump: "jump"
    case .undo: "undo"
    case .config: "config"
    case .log: "log"
    case .expect: "expect"
    case .stats: "stats"
    case .status: "status"
    case .whatIf: "whatif"
    case .help: "help"
    case .quit: "quit"
    }
  }

  package enum ValueSource: Equatable, Sendable {
    case text(String)
    case file(String)
  }
}

/// Where `jump` goes.
package enum JumpTarget: Equatable, Sendable {
  /// Since the recording began.
  case time(Duration)
  case relative(Duration)
  case warning(next: Bool)
}

/// What `fault` is asked to change.
package enum FaultChange: Equatable, Sendable {
  /// A probability from 0 to 1.
  case errors(Double)
  case latency(ClosedRange<Duration>)
  case down
  /// Everything is well again.
  case off
}

extension Command {
  /// The key that it is about.
  package var key: String? {
    switch self {
    case .get(let key, _), .set(let key, _, _, _), .delete(let key): key
    case .expire(let key): key
    default: nil
    }
  }

  /// What of a line is nobody's business: its key, and a value that stands in it.
  package static func secrets(of line: String) -> [String] {
    guard let command = try? Command.parse(line) else { return [] }
    if case .set(let key, .text(let value), _, _) = command { return [key, value] }
    return [command.key].compactMap(\.self)
  }
}

extension Command {
  package init(_ asked: KeyCommand) {
    self =
      switch asked {
      case .delete(let key): .delete(key: key)
      case .expire(let key): .expire(key: key)
      case .clear: .clear(level: nil)
      case .warn: .warn
      case .undo: .undo
      case .speed(let speed): .speed(speed)
      case .quit: .quit
      }
  }
}
