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
    let words = head.split(separator: " ").map(String.init)
    guard let name = words.first else { return Verb.all.map(\.name).filter { $0.hasPrefix(word) } }
    guard let verb = Verb.named(name) else { return [] }
    if let option = verb.options.first(where: { $0.name == words.last && $0.value != nil }) {
      return option.argument.map { candidates(for: word, as: $0, in: picture) } ?? []
    }
    if word.hasPrefix("--") { return verb.options.map(\.name).filter { $0.hasPrefix(word) } }
    let position = argumentCount(words.dropFirst(), of: verb)
    guard position < verb.arguments.count else { return [] }
    return candidates(for: word, as: verb.arguments[position], in: picture)
  }

  /// How many of the words are arguments, and not options or their values.
  private static func argumentCount(_ words: ArraySlice<String>, of verb: Verb) -> Int {
    var count = 0
    var isValue = false
    for word in words {
      let option = verb.options.first { $0.name == word }
      if !isValue, option == nil { count += 1 }
      isValue = !isValue && option?.value != nil
    }
    return count
  }

  private static func candidates(
    for word: String, as argument: Verb.Argument, in picture: Picture
  ) -> [String] {
    switch argument {
    case .key:
      let matches = picture.entries.rows.lazy.filter { $0.isPresent && $0.key.hasPrefix(word) && isOneWord($0.key) }
      return matches.prefix(mostCandidates).map(\.key).sorted()
    case .value: return []
    case .level: return picture.levels.map(\.name).filter { $0.hasPrefix(word) }
    case .workload: return Workload.names.filter { $0.hasPrefix(word) }
    case .logLevel: return LogLevelName.all.filter { $0.hasPrefix(word) }
    case .verb: return Verb.all.map(\.name).filter { $0.hasPrefix(word) }
    case .severity: return ["critical", "low"].filter { $0.hasPrefix(word) }
    case .fault: return ["error", "latency", "down", "off"].filter { $0.hasPrefix(word) }
    case .column: return Command.sortColumns.filter { $0.hasPrefix(word) }
    case .file, .amount, .text: return []
    }
  }

  /// Other keys would need quotes.
  private static func isOneWord(_ key: String) -> Bool {
    key.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x27 && $0 != 0x5c && $0 != 0x7f } && !key.hasPrefix("-")
      && !key.isEmpty
  }
}
