import CacheEngine
import ExplorerCommands
import ExplorerState

extension CommandLineState {
  private static let mostCandidates = 100

  /// Completes the word before the cursor; again goes to the next candidate.
  mutating func complete(with picture: Picture) -> [Effect] {
    if var going = completion, !going.candidates.isEmpty {
      going.index = (going.index + 1) % going.candidates.count
      use(going)
      return []
    }
    guard let (head, word) = lastWord else { return [] }
    if let path = self.path(in: word, after: head) { return [.listFiles(beginning: path)] }
    let candidates = self.candidates(for: word, after: head, in: picture)
    guard !candidates.isEmpty else { return [] }
    use(Completion(head: head, candidates: candidates))
    return []
  }

  /// Completes the name of a file, if nobody typed on since it was asked for.
  mutating func complete(_ path: String, among names: [String]) {
    guard let (head, word) = lastWord, self.path(in: word, after: head) == path, !names.isEmpty else { return }
    let whole = head + word.dropLast(path.count)
    use(Completion(head: whole, candidates: names.filter(Self.isOneWord)))
  }

  /// What the line would probably go on with: the newest line that begins like it, else the first completion.
  func ghost(in picture: Picture) -> String? {
    let text = editor.text
    guard !text.isEmpty, search == nil, completion == nil, fault == nil, editor.cursor == editor.characters.count else {
      return nil
    }
    if let line = history.last(where: { $0.hasPrefix(text) && $0.count > text.count }) {
      return String(line.dropFirst(text.count))
    }
    guard let (head, word) = lastWord, !word.isEmpty || !head.isEmpty else { return nil }
    let candidate = self.candidates(for: word, after: head, in: picture).first { $0.count > word.count }
    return candidate.map { String($0.dropFirst(word.count)) }
  }

  /// The word that ends at the cursor, and what stands before it; `nil` in the middle of a line.
  private var lastWord: (head: String, word: String)? {
    guard editor.cursor == editor.characters.count else { return nil }
    let before = editor.beforeCursor
    let word = String(before.reversed().prefix { $0 != " " }.reversed())
    return (String(before.dropLast(word.count)), word)
  }

  /// The path that a word is, or has behind an @; `nil` where no file is meant.
  private func path(in word: String, after head: String) -> String? {
    switch grammar.argument(at: word, after: head) {
    case .file: word
    case .value where word.hasPrefix("@"): String(word.dropFirst())
    default: nil
    }
  }

  private mutating func use(_ completion: Completion) {
    editor.replace(with: completion.head + completion.candidates[completion.index])
    fault = nil
    self.completion = completion
  }

  private func candidates(for word: String, after head: String, in picture: Picture) -> [String] {
    let words = head.split(separator: " ").map(String.init)
    guard let name = words.first else { return grammar.names.filter { $0.hasPrefix(word) } }
    guard let verb = grammar.named(name) else { return [] }
    if word.hasPrefix("--") { return verb.options.map(\.name).filter { $0.hasPrefix(word) } }
    return grammar.argument(at: word, after: head).map { candidates(for: word, as: $0, in: picture) } ?? []
  }

  private func candidates(
    for word: String, as argument: VerbSyntax.Argument, in picture: Picture
  ) -> [String] {
    switch argument {
    case .key:
      let matches = picture.entries.rows.lazy.filter {
        $0.isPresent && $0.key.hasPrefix(word) && Self.isOneWord($0.key)
      }
      return matches.prefix(Self.mostCandidates).map(\.key).sorted()
    case .value: return []
    case .level: return picture.levels.map(\.name).filter { $0.hasPrefix(word) }
    case .choice, .verb: return grammar.choices(for: argument)?.filter { $0.hasPrefix(word) } ?? []
    case .expectation: return Self.expectations(for: word, in: picture)
    case .file, .amount, .text: return []
    }
  }

  /// Figures of the whole, and of every level and operator.
  private static func expectations(for word: String, in picture: Picture) -> [String] {
    let quote = word.hasPrefix("\"") ? "\"" : ""
    let name = word.dropFirst(quote.count)
    let owned = picture.levels.flatMap { level in
      ExpectedFigure.names(of: [.level]).map { "\(level.name).\($0)" }
    }
    let operated = picture.operators.flatMap { row in
      OperatorTraffic().counters(of: row.kind).map { "\(row.name).\($0.name)" }
    }
    return (owned + operated + ExpectedFigure.names(of: [.cache]))
      .filter { $0.hasPrefix(name) && isOneWord($0) }.map { quote + $0 }
  }

  /// Other keys would need quotes.
  private static func isOneWord(_ key: String) -> Bool {
    key.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x27 && $0 != 0x5c && $0 != 0x7f } && !key.hasPrefix("-")
      && !key.isEmpty
  }
}
