package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct FilterVerb: Verb {
  package static let syntax = VerbSyntax(
    "filter [EXPR]", "list only the keys that contain this; !EXPR those that do not", [.text], required: 0,
    takesRest: true)

  /// Empty for all.
  package var text: String

  package init(text: String) { self.text = text }

  package init(_ words: ParsedWords) throws(CommandError) {
    let filter = words.arguments.first
    if let filter, let (word, error) = EntryFilter(filter.text).problem {
      let before = filter.text.firstRange(of: word).map {
        filter.text.distance(from: filter.text.startIndex, to: $0.lowerBound)
      }
      throw CommandError(
        column: filter.column + (filter.isQuoted ? 1 : 0) + (before ?? 0), message: error.message, remedy: error.remedy)
    }
    text = filter?.text ?? ""
  }

  package var request: ScreenRequest? { .show(.filter(text)) }

  package func run(in session: Interpreter) async -> CommandResult {
    answer(text.isEmpty ? "every key is listed" : "keys with \(text) are listed")
  }
}
