package import ExplorerCommands
import ExplorerState

package struct StatsVerb: Verb {
  package static let syntax = VerbSyntax("stats", "show the statistics of every level")

  package init() {}

  package init(_ words: ParsedWords) {}

  package func run(in session: Interpreter) async -> CommandResult { answer(session.live.summary) }
}
