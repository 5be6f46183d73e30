package import ExplorerText

/// The words behind a verb, sorted into arguments and options.
package struct ParsedWords {
  package private(set) var arguments: [CommandWord] = []
  private var options: [String: CommandWord] = [:]
  private let verb: VerbSyntax
  private let end: Int

  /// - Throws: ``CommandError`` if a word fits nowhere, or some are missing.
  package init(_ words: [CommandWord], of verb: VerbSyntax, end: Int) throws(CommandError) {
    self.verb = verb
    self.end = end
    var rest = words[...]
    var isOptionsEnded = false
    while let word = rest.popFirst() {
      if word.text == "--", !word.isQuoted, !isOptionsEnded {
        isOptionsEnded = true
      } else if word.isOption, !isOptionsEnded {
        let option = try Self.option(word, of: verb)
        guard options[option.name] == nil else {
          throw CommandError(column: word.column, message: "\(option.name) is given twice", remedy: "give it once")
        }
        guard let value = option.value else {
          options[option.name] = word
          continue
        }
        guard let given = rest.popFirst() else {
          throw CommandError(
            column: end, message: "\(option.name) needs a value", remedy: "write \(option.name) \(value)")
        }
        options[option.name] = given
      } else if verb.takesRest, arguments.count == verb.arguments.count, let last = arguments.popLast() {
        arguments.append(
          CommandWord(text: "\(last.text) \(word.text)", column: last.column, isQuoted: last.isQuoted))
      } else if arguments.count == verb.arguments.count {
        throw CommandError(
          column: word.column, message: "“\(word.text)” is one word too many",
          remedy: "write \(verb.usage), with quotes round what holds spaces")
      } else {
        arguments.append(word)
      }
    }
    guard arguments.count >= verb.required else {
      throw needsMore()
    }
    let files =
      zip(verb.arguments, arguments).filter { $0.0 == .file }.map(\.1)
      + verb.options.filter { $0.argument == .file }.compactMap { options[$0.name] }
    if let unnamed = files.first(where: \.text.isEmpty) {
      throw CommandError(
        column: unnamed.column, message: "the name of the file is empty", remedy: "write \(verb.usage)")
    }
  }

  private static func option(_ word: CommandWord, of verb: VerbSyntax) throws(CommandError) -> VerbSyntax.Option {
    if let option = verb.options.first(where: { $0.name == word.text }) { return option }
    let names = verb.options.map(\.name)
    throw CommandError(
      column: word.column, message: "\(verb.name) has no option \(word.text)",
      remedy: names.isEmpty
        ? "write -- before a word that begins with --" : NearestName.remedy(for: word.text, among: names))
  }

  package func text(_ option: String) -> String? { options[option]?.text }

  package func missing(_ message: String, _ remedy: String) -> CommandError {
    CommandError(column: end, message: message, remedy: remedy)
  }

  /// A word that must be one of some.
  package func choice(_ word: CommandWord, among names: [String], _ what: String) throws(CommandError) -> String {
    guard names.contains(word.text) else {
      throw CommandError(
        column: word.column, message: "there is no \(what) “\(word.text)”",
        remedy: NearestName.remedy(for: word.text, among: names))
    }
    return word.text
  }

  /// An argument that is a quantity.
  package func quantity<Value>(
    _ place: Int, _ read: QuantityReader<Value>, example: String = ""
  ) throws(CommandError) -> Value {
    guard arguments.indices.contains(place) else {
      throw missing("\(verb.name) needs more", "write \(example), as in \(verb.usage)")
    }
    do { return try read(arguments[place].text) } catch {
      throw CommandError(column: arguments[place].column, message: error.message, remedy: error.remedy)
    }
  }

  package func read<Value>(
    _ option: String, _ read: QuantityReader<Value>
  ) throws(CommandError) -> Value? {
    guard let word = options[option] else { return nil }
    do {
      return try read(word.text)
    } catch {
      throw CommandError(column: word.column, message: "\(option): \(error.message)", remedy: error.remedy)
    }
  }

  package func number(_ option: String, in bounds: ClosedRange<Int>) throws(CommandError) -> Int? {
    try read(option) { (text) throws(QuantityError) in
      guard let number = Quantity.whole(text), bounds.contains(number) else {
        throw QuantityError(
          "“\(text)” is not a whole number from \(bounds.lowerBound) to \(bounds.upperBound)", "write \(option) 100")
      }
      return number
    }
  }

  /// `--seed`.
  package func seed() throws(CommandError) -> UInt64? { try number("--seed", in: 0...Int.max).map { UInt64($0) } }

  /// `L`, `--all`, or nothing; `nil` but for the first.
  package func oneOrAll() throws(CommandError) -> String? {
    guard let all = options["--all"] else { return arguments.first?.text }
    guard arguments.isEmpty else {
      throw CommandError(
        column: all.column, message: "--all stands alone", remedy: "leave out “\(arguments[0].text)”")
    }
    return nil
  }

  package func needsMore() -> CommandError { missing("\(verb.name) needs more", "write \(verb.usage)") }

  package func tooMany(_ place: Int, _ remedy: String) -> CommandError {
    CommandError(
      column: arguments[place].column, message: "“\(arguments[place].text)” is one word too many", remedy: remedy)
  }
}
