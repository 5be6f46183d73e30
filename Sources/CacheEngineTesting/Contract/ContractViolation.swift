/// A promise of a ``LevelContract`` that a level broke.
public struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// The name of the level.
  public let level: String
  /// The name of the check.
  public let check: String
  /// What was expected.
  public let expected: String
  /// What was seen.
  public let seen: String

  /// The level, the check, what was expected and what was seen, in one line.
  public var description: String { "\(level), \(check): expected \(expected), saw \(seen)" }
}
