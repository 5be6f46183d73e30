import ExplorerText

/// A command that cannot be carried out, said for a person.
package struct CommandFailure: Error, CustomStringConvertible {
  package let message: String
  package var description: String { message }

  package init(message: String) {
    self.message = message.shortenedMessage
  }
}
