package import ExplorerText

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The answer to a command.
package struct CommandResult: Sendable {
  package enum Outcome: String, Sendable, CaseIterable, Codable { case hit, miss, ok, error }

  /// The verb.
  package var command: String
  package var outcome: Outcome
  /// The level that answered.
  package var level: String?
  /// The value was expired, and served as better than nothing.
  package var isStale = false
  /// Why it was a miss.
  package var reason: String?
  package var value: Data?
  /// How many bytes the value has, where ``value`` is only its beginning.
  package var size: Int?
  package var microseconds: Double
  package var error: String?
  /// It could not be carried out: what failed is what was asked for, not the cache.
  package var isRefused = false
  /// It failed, and the cache in use is another one since, or starts over.
  package var hasStartedOver = false
  /// What an expectation was compared with.
  package var expectation: ExpectationReport?
  /// One sentence for a person, for what the other fields do not say (`back-filled memory`, help texts, counts).
  package var note: String?
  /// What there is to tell of each level, for programs.
  package var details: JSONText?

  package init(
    command: String, outcome: Outcome, level: String? = nil, isStale: Bool = false, reason: String? = nil,
    value: Data? = nil, microseconds: Double, error: String? = nil, isRefused: Bool = false, note: String? = nil
  ) {
    self.command = command
    self.outcome = outcome
    self.level = level
    self.isStale = isStale
    self.reason = reason
    self.value = value
    self.microseconds = microseconds
    self.error = error
    self.isRefused = isRefused
    self.note = note
  }
}
