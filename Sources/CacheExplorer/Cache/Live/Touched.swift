/// What a verb concerns, beside what every read may fill.
package enum Touched: Sendable {
  case nothing
  /// What levels hold.
  case contents
  /// How levels work.
  case faults
  /// Requests in large numbers.
  case requests
  case configuration
  case clock

  /// Those who may only read may not do it.
  package var isChange: Bool { self == .contents || self == .faults }
}
