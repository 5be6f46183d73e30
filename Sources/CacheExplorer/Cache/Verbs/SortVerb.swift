package import ExplorerCommands
import ExplorerState

package struct SortVerb: Verb {
  private static let columns = EntryList.Column.allCases.map(\.word)

  package static let syntax = VerbSyntax(
    "sort COLUMN", "list the entries by hits, last, size, age, ttl or key", [.choice(columns)])

  package var column: String

  package init(column: String) { self.column = column }

  package init(_ words: ParsedWords) throws(CommandError) {
    // The screen has them in capitals.
    var word = words.arguments[0]
    word.text = word.text.lowercased()
    column = try words.choice(word, among: Self.columns, "column")
  }

  package var request: ScreenRequest? { .show(.sort(column)) }

  package func run(in session: Interpreter) async -> CommandResult { answer("listed by \(column)") }
}
