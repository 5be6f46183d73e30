#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
