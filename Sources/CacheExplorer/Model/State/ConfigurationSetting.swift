/// One value that is in force, and where it comes from.
struct ConfigurationSetting: Equatable, Sendable {
  /// How deep the level stands within operators.
  var depth: Int
  /// The name of the level or operator.
  var owner: String
  /// The field; `nil` for the line of the level itself.
  var field: String?
  var value: String
  /// Where it is written; `nil` for a default.
  var place: Place?

  var title: String { field.map { "\(owner).\($0)" } ?? owner }
}
