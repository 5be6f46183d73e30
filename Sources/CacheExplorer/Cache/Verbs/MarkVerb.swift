package import ExplorerCommands
import ExplorerState

package struct MarkVerb: Verb {
  package static let syntax = VerbSyntax("mark TEXT", "write a line of your own into the log", [.text], takesRest: true)

  package var text: String

  package init(text: String) { self.text = text }

  package init(_ words: ParsedWords) { self.init(text: words.arguments[0].text) }

  package var request: ScreenRequest? { .announce(text, .notice) }

  package func run(in session: Interpreter) async -> CommandResult { answer(text) }
}
