package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct ReplayVerb: Verb {
  package static let syntax = VerbSyntax(
    "replay FILE [--speed X]", "show a recorded session again", [.file], [VerbSyntax.Option("--speed", "X")])

  package var file: String
  package var speed: Double?

  package init(_ words: ParsedWords) throws(CommandError) {
    file = words.arguments[0].text
    speed = try words.read("--speed", Quantity.speed)
  }

  package var request: ScreenRequest? { .replay(file: file, speed: speed) }

  package func run(in session: Interpreter) async -> CommandResult {
    failure("there is no screen to replay on; use cache-explorer --replay FILE")
  }
}
