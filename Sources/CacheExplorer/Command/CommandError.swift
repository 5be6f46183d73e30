/// Why a line is not a command.
struct CommandError: Error, Equatable, CustomStringConvertible {
  /// Where in the line, in characters from 0.
  var column: Int
  var message: String
  var remedy: String

  var description: String { "\(message); \(remedy)" }
}
