package import ExplorerCommands
import ExplorerState

package struct QuitVerb: Verb {
  package static let syntax = VerbSyntax("quit", "leave", otherNames: ["exit", "bye"])

  package init() {}

  package init(_ words: ParsedWords) {}

  package var request: ScreenRequest? { .leave }

  package func run(in session: Interpreter) async -> CommandResult { answer() }
}
