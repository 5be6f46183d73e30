/// One of the responses that are stored for an address.
package struct ServedVariant: Equatable, Sendable, Codable {
  /// The fields of requests that it answers, and their values.
  package var selecting: [String]
  package var status: Int
  package var bytes: Int
  /// How the server can be asked whether it is still right.
  package var validator: String?
  /// In seconds; `nil` if nobody can tell.
  package var age: Int?
  /// Seconds of freshness that are left.
  package var left: Int?

  package init(selecting: [String], status: Int, bytes: Int, validator: String?, age: Int?, left: Int?) {
    self.selecting = selecting
    self.status = status
    self.bytes = bytes
    self.validator = validator
    self.age = age
    self.left = left
  }
}
