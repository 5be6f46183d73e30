package import ExplorerCommands
import ExplorerState

package struct StopVerb: Verb {
  package static let syntax = VerbSyntax("stop", "stop the workload")

  package init() {}

  package init(_ words: ParsedWords) {}

  package func run(in session: Interpreter) async -> CommandResult {
    answer(await session.stopWorkload() ? "the workload is stopped" : "no workload was running")
  }
}
