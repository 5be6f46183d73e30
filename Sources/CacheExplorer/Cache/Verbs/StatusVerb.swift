package import ExplorerCommands
import ExplorerState

/// As ``StatsVerb``, in sentences for a person.
package struct StatusVerb: Verb {
  package static let syntax = VerbSyntax("status", "describe every level in sentences")

  package init() {}

  package init(_ words: ParsedWords) {}

  package func run(in session: Interpreter) async -> CommandResult { answer(session.live.status) }
}
