#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One line of the command line or of a script, understood.
enum Command: Equatable, Sendable {
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
  var changesCache: Bool {
    switch self {
    case .set, .delete, .clear, .expire, .warn, .fault, .undo: true
    case .run(let request): request.name == "mixed"
    default: false
    }
  }

  /// The word that it is written with.
  var verb: String {
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

  enum ValueSource: Equatable, Sendable {
    case text(String)
    case file(String)
  }
}

/// Where `jump` goes.
enum JumpTarget: Equatable, Sendable {
  /// Since the recording began.
  case time(Duration)
  case relative(Duration)
  case warning(next: Bool)
}

/// What `fault` is asked to change.
enum FaultChange: Equatable, Sendable {
  /// A probability from 0 to 1.
  case errors(Double)
  case latency(ClosedRange<Duration>)
  case down
  /// Everything is well again.
  case off
}

/// What `run` is asked to do.
struct WorkloadRequest: Equatable, Sendable {
  var name: String
  /// Requests a second, infinite for as fast as the cache answers; `nil` for the workload's own.
  var rate: Double?
  /// How many requests; `nil` for until stopped.
  var requests: Int?
  var seed: UInt64?
  /// How many different keys; `nil` for the workload's own number.
  var keys: Int?
  /// The key that everybody asks for, in workloads with one key.
  var key: String?
  /// How uneven a Zipf distribution is; `nil` for the usual.
  var skew: Double?
  /// The trace, in workloads that are read from a file.
  var file: String?
}

/// The answer to a command.
struct CommandResult: Sendable {
  enum Outcome: String, Sendable, Codable { case hit, miss, ok, error }

  /// The verb.
  var command: String
  var outcome: Outcome
  /// The level that answered.
  var level: String?
  /// The value was expired, and served as better than nothing.
  var isStale = false
  /// Why it was a miss.
  var reason: String?
  var value: Data?
  /// How many bytes the value has, where ``value`` is only its beginning.
  var size: Int?
  var microseconds: Int
  var error: String?
  /// It could not be carried out: what failed is what was asked for, not the cache.
  var isRefused = false
  /// What an expectation was compared with.
  var expectation: ExpectationReport?
  /// One sentence for a person, for what the other fields do not say (`back-filled memory`, help texts, counts).
  var note: String?
  /// What there is to tell of each level, for programs.
  var details: JSONText?
}
