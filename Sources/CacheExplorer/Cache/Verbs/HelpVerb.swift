package import ExplorerModel

package struct HelpVerb: Verb {
  package static let syntax = VerbSyntax("help [VERB]", "tell what the verbs do", [.verb], required: 0)

  package var verb: String?

  package init(verb: String?) { self.verb = verb }

  package init(_ words: ParsedWords) throws(CommandError) {
    verb = words.arguments.first?.text
    if let about = words.arguments.first { _ = try words.choice(about, among: Grammar.commandLine.names, "verb") }
  }

  package var request: ScreenRequest? { .tell(verb.map { .helpAbout(verb: $0) } ?? .help) }

  package func run(in session: Interpreter) async -> CommandResult { answer(Grammar.commandLine.help(verb)) }
}
