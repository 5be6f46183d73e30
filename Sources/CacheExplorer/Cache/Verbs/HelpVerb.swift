package import ExplorerCommands
import ExplorerState

package struct HelpVerb: Verb {
  package static let syntax = VerbSyntax("help [VERB]", "tell what the verbs do", [.verb], required: 0)

  package var verb: String?

  package init(verb: String?) { self.verb = verb }

  package init(_ words: ParsedWords) throws(CommandError) {
    verb = words.arguments.first?.text
    guard let about = words.arguments.first, Grammar.commandLine.named(about.text) == nil else { return }
    throw CommandError(
      column: about.column, message: "there is no verb “\(about.text)”",
      remedy: Grammar.commandLine.remedy(for: about.text))
  }

  package var request: ScreenRequest? { .tell(verb.map { .helpAbout(verb: $0) } ?? .help) }

  package func run(in session: Interpreter) async -> CommandResult { answer(Grammar.commandLine.help(verb)) }
}
