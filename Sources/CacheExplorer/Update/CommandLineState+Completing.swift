extension CommandLineState {
  private static let mostCandidates = 100

  /// Completes the word before the cursor; again goes to the next candidate.
  mutating func complete(with picture: Picture) {
    if var going = completion, !going.candidates.isEmpty {
      going.index = (going.index + 1) % going.candidates.count
      use(going)
      return
    }
    let before = editor.beforeCursor
    guard editor.cursor == editor.characters.count else { return }
    let word = String(before.reversed().prefix { $0 != " " }.reversed())
    let head = String(before.dropLast(word.count))
    let candidates = Self.candidates(for: word, after: head, in: picture)
    guard !candidates.isEmpty else { return }
    use(Completion(head: head, candidates: candidates, index: 0))
  }

  private mutating func use(_ completion: Completion) {
    editor.replace(with: completion.head + completion.candidates[completion.index])
    fault = nil
    self.completion = completion
  }

  private static func candidates(for word: String, after head: String, in picture: Picture) -> [String] {
    let words = head.split(separator: " ")
    guard let verb = words.first else {
      return Verb.all.map(\.name).filter { $0.hasPrefix(word) }
    }
    if word.hasPrefix("--") { return options(of: verb).filter { $0.hasPrefix(word) } }
    if words.last == "--level" || verb == "clear" {
      return picture.levels.map(\.name).filter { $0.hasPrefix(word) }
    }
    switch verb {
    case "run" where words.count == 1: return Workload.names.filter { $0.hasPrefix(word) }
    case "log" where words.count == 1: return LogLevel.allCases.map(\.name).filter { $0.hasPrefix(word) }
    case "help" where words.count == 1: return Verb.all.map(\.name).filter { $0.hasPrefix(word) }
    case "get", "set", "del", "expire":
      guard words.count == 1 else { return [] }
      let matches = picture.entries.rows.lazy.filter { $0.isPresent && $0.key.hasPrefix(word) && isOneWord($0.key) }
      return matches.prefix(mostCandidates).map(\.key).sorted()
    default: return []
    }
  }

  /// Other keys would need quotes.
  private static func isOneWord(_ key: String) -> Bool {
    key.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x27 && $0 != 0x5c && $0 != 0x7f } && !key.hasPrefix("-")
      && !key.isEmpty
  }

  private static func options(of verb: Substring) -> [String] {
    Verb.named(String(verb))?.options.map(\.name) ?? []
  }
}
