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
  /// The least severe log level to show.
  case log(level: String)
  case stats
  case help(verb: String?)
  case quit

  enum ValueSource: Equatable, Sendable {
    case text(String)
    case file(String)
  }
}

/// What `run` is asked to do.
struct WorkloadRequest: Equatable, Sendable {
  var name: String
  /// Requests a second; `nil` for the workload's own.
  var rate: Double?
  /// How many requests; `nil` for until stopped.
  var requests: Int?
  var seed: UInt64?
  /// How many different keys; `nil` for the workload's own number.
  var keys: Int?
  /// The key that everybody asks for, in workloads with one key.
  var key: String?
}

/// The answer to a command.
struct CommandResult: Sendable {
  enum Outcome: String, Sendable { case hit, miss, ok, error }

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
  var microseconds: Int
  var error: String?
  /// One sentence for a person, for what the other fields do not say (`back-filled memory`, help texts, counts).
  var note: String?
}
