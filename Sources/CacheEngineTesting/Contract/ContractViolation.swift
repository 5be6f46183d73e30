/// A promise of a ``LevelContract`` that a level broke.
public struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// What the level is called.
  public let level: String
  /// The name of the check.
  public let check: String
  /// What should have been.
  public let expected: String
  /// What was.
  public let seen: String

  /// The level, the check, what should have been and what was, in a line.
  public var description: String { "\(level), \(check): expected \(expected), saw \(seen)" }
}
