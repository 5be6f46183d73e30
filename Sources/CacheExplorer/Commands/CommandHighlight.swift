/// The looks of a line while it is typed: what each word is, and where it is wrong.
package enum CommandHighlight {
  /// What a character belongs to.
  package enum Part: Equatable, Sendable { case plain, verb, option, level, quantity, quoted, wrong }

  /// A part for every character of a line.
  ///
  /// What is merely not finished is not wrong.
  package static func parts(of line: String, in grammar: Grammar, levels: [String]) -> [Part] {
    let characters = Array(line)
    var parts = [Part](repeating: .plain, count: characters.count)
    var words: [CommandWord] = []
    do throws(CommandError) {
      words = try CommandLexer.words(of: line)
      try grammar.check(line)
    } catch {
      // A quote that is still open is on its way to being closed.
      if words.isEmpty { return parts }
      let isLast = error.column >= (words.last?.column ?? 0)
      let isUnfinished = error.column >= characters.count || (isLast && canGoOn(line, words, grammar))
      if !isUnfinished { mark(.wrong, from: error.column, in: characters, &parts) }
    }
    guard let first = words.first, let verb = grammar.named(first.text) else { return parts }
    set(.verb, first, until: words.dropFirst().first, in: characters, &parts)
    var position = 0
    var option: VerbSyntax.Option?
    for (index, word) in words.enumerated().dropFirst() {
      let next = words.indices.contains(index + 1) ? words[index + 1] : nil
      if let pending = option {
        option = nil
        set(part(pending.argument, word, levels, isLast: next == nil), word, until: next, in: characters, &parts)
      } else if word.isOption, let known = verb.options.first(where: { $0.name == word.text }) {
        set(.option, word, until: next, in: characters, &parts)
        option = known.value == nil ? nil : known
      } else if verb.arguments.indices.contains(position) {
        let argument = verb.arguments[position]
        set(part(argument, word, levels, isLast: next == nil), word, until: next, in: characters, &parts)
        position += 1
      }
    }
    return parts
  }

  /// Whether the last word may still become what is asked for.
  private static func canGoOn(_ line: String, _ words: [CommandWord], _ grammar: Grammar) -> Bool {
    guard let last = words.last, line.last != " " else { return false }
    if words.count == 1 { return grammar.verbs.contains { $0.name.hasPrefix(last.text) } }
    guard let verb = grammar.named(words[0].text) else { return false }
    if last.text.hasPrefix("-") { return verb.options.contains { $0.name.hasPrefix(last.text) } || last.text == "-" }
    let head = String(Array(line)[..<last.column])
    guard let argument = grammar.argument(at: last.text, after: head) else {
      // A free value of an option may be anything; a word too many is one whatever is added to it.
      return words.dropLast().last?.isOption == true
    }
    // Where any word may stand, whatever follows may make it whole.
    return grammar.choices(for: argument)?.contains { $0.hasPrefix(last.text) } ?? true
  }

  private static func part(_ argument: VerbSyntax.Argument?, _ word: CommandWord, _ levels: [String], isLast: Bool)
    -> Part
  {
    switch argument {
    case .level:
      if levels.contains(word.text) {
        .level
      } else {
        isLast && levels.contains { $0.hasPrefix(word.text) } ? .plain : .wrong
      }
    case .amount, nil: .quantity
    default: word.isQuoted ? .quoted : .plain
    }
  }

  private static func set(
    _ part: Part, _ word: CommandWord, until next: CommandWord?, in characters: [Character], _ parts: inout [Part]
  ) {
    var end = next?.column ?? characters.count
    while end > word.column, characters[end - 1].isWhitespace { end -= 1 }
    for place in word.column..<end where parts[place] != .wrong { parts[place] = part }
  }

  private static func mark(_ part: Part, from column: Int, in characters: [Character], _ parts: inout [Part]) {
    var place = column
    while characters.indices.contains(place), place == column || !characters[place].isWhitespace {
      parts[place] = part
      place += 1
    }
  }
}
