import ExplorerText

/// Why a line is not a command.
package struct CommandError: Error, Equatable, CustomStringConvertible {
  /// Where in the line, in characters from 0.
  package var column: Int
  package var message: String
  package var remedy: String

  package var description: String { "\(message); \(remedy)" }

  package init(column: Int, message: String, remedy: String) {
    self.column = column
    self.message = message.shortenedMessage
    self.remedy = remedy
  }

  /// The line with a caret below the fault, to stand below the message; nothing if the line has no room for it.
  package func pointed(in line: String) -> String {
    let shown = harmless(line)
    guard shown == line, column <= 100, line.count <= 200 else { return "" }
    return "\n  \(line)\n  \(String(repeating: " ", count: column))^"
  }
}
