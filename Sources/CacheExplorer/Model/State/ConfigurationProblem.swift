/// A place in a configuration file; lines and columns count from 1.
struct Place: Equatable, Sendable {
  var line: Int
  var column: Int
}

/// Something that is wrong with a configuration, and what to do about it.
struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible {
  enum Severity: String, Sendable { case error, warning }

  var severity = Severity.error
  var file: String
  var place: Place?
  var message: String
  var remedy: String

  var description: String {
    let position = place.map { ":\($0.line):\($0.column)" } ?? ""
    return "\(file)\(position): \(severity.rawValue): \(message); \(remedy)"
  }
}

/// A configuration that cannot be used: every error that was found, not only the first.
struct ConfigurationFailure: Error, Equatable, CustomStringConvertible {
  var problems: [ConfigurationProblem]

  var description: String { problems.map(\.description).joined(separator: "\n") }
}
