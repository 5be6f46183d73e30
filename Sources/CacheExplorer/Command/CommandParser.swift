extension Command {
  /// Understands a line of the command line.
  ///
  /// - Returns: `nil` for an empty line or a comment.
  /// - Throws: ``CommandError`` with the place in the line.
  static func parse(_ line: String) throws(CommandError) -> Command? {
    var words = try CommandLexer.words(of: line)
    guard let first = words.first else { return nil }
    words.removeFirst()
    guard let verb = Verb.named(first.text) else {
      throw CommandError(
        column: first.column, message: "there is no verb “\(first.text)”",
        remedy: NearestName.remedy(for: first.text, among: Verb.all.map(\.name)))
    }
    let parsed = try ParsedWords(words, of: verb, end: line.count)
    return try command(verb.name, parsed)
  }

  private static func command(_ verb: String, _ words: ParsedWords) throws(CommandError) -> Command {
    switch verb {
    case "get": return .get(key: words.arguments[0].text, level: words.text("--level"))
    case "set":
      let value = words.arguments[1]
      let isFile = value.text.hasPrefix("@") && !value.isQuoted
      return .set(
        key: words.arguments[0].text, value: isFile ? .file(String(value.text.dropFirst())) : .text(value.text),
        timeToLive: try words.read("--ttl", Quantity.duration), level: words.text("--level"))
    case "del": return .delete(key: words.arguments[0].text)
    case "clear": return .clear(level: try words.oneOrAll(isAllDefault: true))
    case "expire": return .expire(key: try words.oneOrAll(isAllDefault: false))
    case "warn": return .warn
    case "run": return .run(try workload(words))
    case "stop": return .stop
    case "log":
      let level = words.arguments[0]
      guard LogLevelName.all.contains(level.text) else {
        throw CommandError(
          column: level.column, message: "there is no log level “\(level.text)”",
          remedy: NearestName.remedy(for: level.text, among: LogLevelName.all))
      }
      return .log(level: level.text)
    case "stats": return .stats
    case "help":
      if let about = words.arguments.first, Verb.named(about.text) == nil {
        throw CommandError(
          column: about.column, message: "there is no verb “\(about.text)”",
          remedy: NearestName.remedy(for: about.text, among: Verb.all.map(\.name)))
      }
      return .help(verb: words.arguments.first?.text)
    default: return .quit
    }
  }

  private static func workload(_ words: ParsedWords) throws(CommandError) -> WorkloadRequest {
    let name = words.arguments[0]
    guard Workload.names.contains(name.text) else {
      throw CommandError(
        column: name.column, message: "there is no workload “\(name.text)”",
        remedy: NearestName.remedy(for: name.text, among: Workload.names))
    }
    return WorkloadRequest(
      name: name.text,
      rate: try words.read("--rate") { (text) throws(QuantityError) in
        guard let rate = Double(text), Workload.rates.contains(rate) else {
          throw QuantityError("“\(text)” is not a rate", "write requests a second, such as 100")
        }
        return rate
      },
      requests: try words.number("--requests", in: 1...1_000_000_000),
      seed: try words.number("--seed", in: 0...Int.max).map { UInt64($0) },
      keys: try words.number("--keys", in: 1...10_000_000), key: words.text("--key"))
  }
}

/// The words behind a verb, sorted into arguments and options.
private struct ParsedWords {
  private(set) var arguments: [CommandWord] = []
  private var options: [String: CommandWord] = [:]
  private let verb: Verb
  private let end: Int

  init(_ words: [CommandWord], of verb: Verb, end: Int) throws(CommandError) {
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
      } else if arguments.count == verb.arguments.count {
        throw CommandError(
          column: word.column, message: "“\(word.text)” is one word too many",
          remedy: "write \(verb.usage), with quotes round what holds spaces")
      } else {
        arguments.append(word)
      }
    }
    guard arguments.count >= verb.required else {
      throw CommandError(column: end, message: "\(verb.name) needs more", remedy: "write \(verb.usage)")
    }
  }

  private static func option(_ word: CommandWord, of verb: Verb) throws(CommandError) -> Verb.Option {
    if let option = verb.options.first(where: { $0.name == word.text }) { return option }
    let names = verb.options.map(\.name)
    throw CommandError(
      column: word.column, message: "\(verb.name) has no option \(word.text)",
      remedy: names.isEmpty
        ? "write -- before a word that begins with --" : NearestName.remedy(for: word.text, among: names))
  }

  func text(_ option: String) -> String? { options[option]?.text }

  func read<Value>(
    _ option: String, _ read: (String) throws(QuantityError) -> Value
  ) throws(CommandError) -> Value? {
    guard let word = options[option] else { return nil }
    do {
      return try read(word.text)
    } catch {
      throw CommandError(column: word.column, message: "\(option): \(error.message)", remedy: error.remedy)
    }
  }

  func number(_ option: String, in bounds: ClosedRange<Int>) throws(CommandError) -> Int? {
    try read(option) { (text) throws(QuantityError) in
      guard let number = Int(text), bounds.contains(number) else {
        throw QuantityError(
          "“\(text)” is not a whole number from \(bounds.lowerBound) to \(bounds.upperBound)", "write \(option) 100")
      }
      return number
    }
  }

  /// `L`, `--all`, or nothing where that means all.
  func oneOrAll(isAllDefault: Bool) throws(CommandError) -> String? {
    if let all = options["--all"] {
      guard arguments.isEmpty else {
        throw CommandError(
          column: all.column, message: "--all stands alone", remedy: "leave out “\(arguments[0].text)”")
      }
      return nil
    }
    if let argument = arguments.first { return argument.text }
    guard isAllDefault else {
      throw CommandError(column: end, message: "\(verb.name) needs more", remedy: "write \(verb.usage)")
    }
    return nil
  }
}
