package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct LogVerb: Verb {
  package static let syntax = VerbSyntax(
    "log LEVEL", "show log lines from this level on", [.choice(LogLevelName.all)])

  /// The name of the least severe level to show.
  package var level: String

  package init(level: String) { self.level = level }

  package init(_ words: ParsedWords) throws(CommandError) {
    level = try words.choice(words.arguments[0], among: LogLevelName.all, "log level")
  }

  package var request: ScreenRequest? {
    LogLevel.allCases.first { $0.name == level }.map { .show(.showLog(from: $0)) }
  }

  package func run(in session: Interpreter) async -> CommandResult { answer("lines from \(level) on are shown") }
}
