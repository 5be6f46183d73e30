/// One value that is in force, and where it comes from.
package struct ConfigurationSetting: Equatable, Sendable, Codable {
  /// How deep the level stands within operators.
  package var depth: Int
  /// The name of the level or operator.
  package var owner: String
  /// The field; `nil` for the line of the level itself.
  package var field: String?
  package var value: String
  /// Where it is written; `nil` for a default.
  package var place: Place?

  /// Two columns for each operator around it, as far as a screen has them: a recording may give any depth.
  package var indentation: Int { 2 * min(max(0, depth), 12) }

  package var title: String { field.map { "\(owner).\($0)" } ?? owner }

  package init(depth: Int, owner: String, field: String? = nil, value: String, place: Place? = nil) {
    self.depth = depth
    self.owner = owner
    self.field = field
    self.value = value
    self.place = place
  }
}
