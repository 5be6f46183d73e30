import ExplorerText

/// A place in a configuration file; lines and columns count from 1.
package struct Place: Equatable, Sendable, Codable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// Something that is wrong with a configuration, and what to do about it.
package struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible, Codable {
  package enum Severity: String, Sendable, CaseIterable, Codable { case error, warning }

  package var severity = Severity.error
  package var file: String
  package var place: Place?
  package var message: String
  package var remedy: String

  package init(
    severity: Severity = Severity.error, file: String, place: Place? = nil, message: String, remedy: String
  ) {
    self.severity = severity
    self.file = file
    self.place = place
    self.message = message.shortenedMessage
    self.remedy = remedy
  }

  package var description: String {
    let position = place.map { ":\($0.line):\($0.column)" } ?? ""
    // What is quoted of the file may have ends of lines in it.
    return harmless("\(file)\(position): \(severity.rawValue): \(message); \(remedy)")
  }
}

/// A configuration that cannot be used: every error that was found, not only the first.
package struct ConfigurationFailure: Error, Equatable, CustomStringConvertible {
  package var problems: [ConfigurationProblem]

  package var description: String { problems.map(\.description).joined(separator: "\n") }

  package init(problems: [ConfigurationProblem]) {
    self.problems = problems
  }
}
