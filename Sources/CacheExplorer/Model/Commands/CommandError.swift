/// Why a line is not a command.
struct CommandError: Error, Equatable, CustomStringConvertible {
  /// Where in the line, in characters from 0.
  var column: Int
  var message: String
  var remedy: String

  var description: String { "\(message); \(remedy)" }

  /// The line with a caret below the fault, to stand below the message; nothing if the line has no room for it.
  func pointed(in line: String) -> String {
    let shown = harmless(line)
    guard shown == line, column <= 100, line.count <= 200 else { return "" }
    return "\n  \(line)\n  \(String(repeating: " ", count: column))^"
  }
}
