package import ExplorerCommands
package import ExplorerState
package import ExplorerText

/// Everything that can be done, found by its name: keys of all screens, verbs, themes.
package struct ActionPalette: Sendable {
  /// Something that can be done.
  package struct Item: Sendable {
    package enum Deed: Sendable {
      /// What a key does.
      case action(Action)
      /// A verb of the command line.
      case verb(VerbSyntax)
      case theme(Theme)
    }

    package let deed: Deed
    /// What it does.
    package let text: String
    /// How it is done without the palette: a key, or what is typed.
    package let key: String
    /// It changes the cache, and is refused where nothing may be changed.
    let isChange: Bool
    /// By what it is found.
    fileprivate let names: [String]

    fileprivate func match(_ query: String) -> FuzzyMatch? { names.compactMap { FuzzyMatch(query, in: $0) }.min() }
  }

  /// All that there is, in the order of the help.
  package let items: [Item]
  package private(set) var editor = LineEditor()
  /// What fits what was typed, the best first.
  package private(set) var found: [Item]
  package private(set) var cursor = 0
  /// The first row that is shown.
  private(set) var top = 0

  /// `scopes`: Of which keys are in force.
  package init(_ grammar: Grammar = Grammar(), scopes: [KeyTable.Scope]) {
    let bindings = scopes.flatMap { scope in KeyTable.bindings.filter { $0.scope == scope && $0.action != .palette } }
    let keys = bindings.map { Item($0) }
    let verbs = grammar.verbs.map { Item($0) }
    let themes = scopes.contains(.program) ? Theme.allCases.map { Item($0) } : []
    items = keys + verbs + themes
    found = items
  }

  /// What Enter does.
  package var chosen: Item? { found.indices.contains(cursor) ? found[cursor] : nil }

  /// Changes what is typed, and finds what fits it; more than the longest name could have is not taken.
  package mutating func edit(_ change: (inout LineEditor) -> Void) {
    let before = editor.text
    change(&editor)
    if editor.characters.count > FuzzyMatch.longest {
      editor.replace(with: String(editor.characters.prefix(FuzzyMatch.longest)))
    }
    guard editor.text != before else { return }
    let query = editor.text
    let matches = items.enumerated().compactMap { place, item in item.match(query).map { (match: $0, place: place) } }
    found =
      query.allSatisfy { $0 == " " }
      ? items : matches.sorted { ($0.match, $0.place) < ($1.match, $1.place) }.map { items[$0.place] }
    (cursor, top) = (0, 0)
  }

  /// Moves the cursor within what was found, of which so many rows are seen.
  package mutating func move(by distance: Int, rows: Int) {
    cursor = min(max(0, cursor.addingReportingOverflow(distance).partialValue), max(0, found.count - 1))
    top = min(max(top, cursor - max(1, rows) + 1), cursor)
  }
}

extension ActionPalette.Item {
  fileprivate init(_ binding: KeyTable.Binding) {
    deed = .action(binding.action)
    text = binding.does
    key = binding.name
    isChange = binding.scope == .change
    names = [binding.does, binding.label].compactMap(\.self) + binding.name.split(separator: " ").map(String.init)
  }

  fileprivate init(_ verb: VerbSyntax) {
    deed = .verb(verb)
    text = verb.line
    key = ":" + verb.name
    isChange = false
    names = [verb.name, verb.line, ":" + verb.name]
  }

  fileprivate init(_ theme: Theme) {
    deed = .theme(theme)
    text = "theme \(theme.rawValue)"
    key = "--theme \(theme.rawValue)"
    isChange = false
    names = [text, theme.rawValue]
  }
}

extension VerbSyntax {
  /// There is nothing to be said beside its name.
  package var standsAlone: Bool { arguments.isEmpty && options.isEmpty }
}
