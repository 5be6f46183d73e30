package import ExplorerText

extension Command {
  /// Understands a line of the command line.
  ///
  /// - Returns: `nil` for an empty line or a comment.
  /// - Throws: ``CommandError`` with the place in the line.
  package static func parse(_ line: String) throws(CommandError) -> Command? {
    var words = try CommandLexer.words(of: line)
    guard let first = words.first else { return nil }
    words.removeFirst()
    guard let verb = Verb.named(first.text) else {
      throw CommandError(
        column: first.column, message: "there is no verb “\(first.text)”",
        remedy: NearestName.remedy(for: first.text, among: Verb.all.map(\.name)))
    }
    if verb.name == "expect", let word = words.first { return .expect(try expectation(word, words, in: line)) }
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
    case "warn":
      if let severity = words.arguments.first {
        _ = try words.choice(severity, among: ["low", "critical"], "severity")
      }
      return .warn
    case "advance": return .advance(try words.quantity(0, Quantity.timeLimit))
    case "speed": return .speed(try words.quantity(0, speed))
    case "fault": return try fault(words)
    case "load": return .load(file: words.arguments[0].text)
    case "reload": return .reload
    case "undo": return .undo
    case "config": return .config
    case "mark": return .mark(text: words.arguments[0].text)
    case "filter":
      let filter = words.arguments.first
      if let filter, let (word, error) = EntryFilter(filter.text).problem {
        let before = filter.text.firstRange(of: word).map {
          filter.text.distance(from: filter.text.startIndex, to: $0.lowerBound)
        }
        throw CommandError(
          column: filter.column + (filter.isQuoted ? 1 : 0) + (before ?? 0), message: error.message,
          remedy: error.remedy)
      }
      return .filter(text: filter?.text ?? "")
    case "sort": return .sort(column: try words.choice(words.arguments[0], among: sortColumns, "column"))
    case "export":
      let file = words.arguments[0]
      guard ExportFormat(file: file.text) != nil else {
        throw CommandError(
          column: file.column, message: "“\(file.text)” does not say in which format",
          remedy: "end it with .json, .csv, .txt or .cast")
      }
      return .export(file: file.text, isView: words.text("--view") != nil)
    case "record":
      let file = words.arguments[0]
      return .record(
        file: file.text == "off" && !file.isQuoted ? nil : file.text, limit: try words.read("--limit", recordingLimit))
    case "replay": return .replay(file: words.arguments[0].text, speed: try words.read("--speed", speed))
    case "jump": return .jump(try moment(words))
    case "run": return .run(try workload(words))
    case "stop": return .stop
    case "log":
      return .log(level: try words.choice(words.arguments[0], among: LogLevelName.all, "log level"))
    case "stats": return .stats
    case "status": return .status
    case "whatif": return .whatIf(level: words.arguments.first?.text, isReset: words.text("--reset") != nil)
    case "help":
      if let about = words.arguments.first { _ = try words.choice(about, among: Verb.all.map(\.name), "verb") }
      return .help(verb: words.arguments.first?.text)
    default: return .quit
    }
  }

  /// Quoted, or the rest of the line as it stands.
  private static func expectation(
    _ first: CommandWord, _ words: [CommandWord], in line: String
  ) throws(CommandError) -> Expectation {
    guard first.isQuoted else {
      let last = words.last ?? first
      return try Expectation(
        String(Array(line)[first.column..<min(line.count, last.column + last.text.count)]), column: first.column)
    }
    if words.count > 1 {
      throw CommandError(
        column: words[1].column, message: "“\(words[1].text)” is one word too many",
        remedy: "write one comparison; another one is another expect")
    }
    return try Expectation(first.text, column: first.column + 1)
  }

  /// How far a recording may grow.
  package static func recordingLimit(_ text: String) throws(QuantityError) -> Int {
    let limit = try Quantity.bytes(text)
    guard limit >= RecordingStatus.leastLimit else {
      throw QuantityError("\(text) is too little for a recording", "give at least 64 KiB")
    }
    return limit
  }

  private static func moment(_ words: ParsedWords) throws(CommandError) -> JumpTarget {
    let first = words.arguments[0]
    if ["next", "previous"].contains(first.text) {
      guard words.arguments.count > 1 else {
        throw words.missing("jump needs more", "write jump \(first.text) warning")
      }
      _ = try words.choice(words.arguments[1], among: ["warning"], "thing to jump to")
      return .warning(next: first.text == "next")
    }
    if words.arguments.count > 1 {
      throw CommandError(
        column: words.arguments[1].column, message: "“\(words.arguments[1].text)” is one word too many",
        remedy: "write jump 12.3s, or jump next warning")
    }
    let sign = first.text.first
    guard sign == "+" || sign == "-" else { return .time(try words.quantity(0, Quantity.duration)) }
    let distance = try words.quantity(0) { (text) throws(QuantityError) in
      try Quantity.duration(String(text.dropFirst()))
    }
    return .relative(sign == "-" ? .zero - distance : distance)
  }

  private static func workload(_ words: ParsedWords) throws(CommandError) -> WorkloadRequest {
    let name = try words.choice(words.arguments[0], among: WorkloadTable.names, "workload")
    let file = words.text("--file")
    if name == "trace", file == nil { throw words.missing("run trace needs a file", "write run trace --file FILE") }
    return WorkloadRequest(
      name: name, rate: try words.read("--rate", WorkloadTable.rate),
      requests: try words.number("--requests", in: 1...1_000_000_000),
      seed: try words.number("--seed", in: 0...Int.max).map { UInt64($0) },
      keys: try words.number("--keys", in: 1...10_000_000), key: words.text("--key"),
      skew: try words.read("--skew", WorkloadTable.skew), file: file)
  }

  /// What `sort` takes, in the order of the columns.
  static let sortColumns = EntryList.Column.allCases.map(\.word)

  private static func speed(_ text: String) throws(QuantityError) -> Double {
    let number = text.hasPrefix("×") || text.hasSuffix("x") ? text.filter { $0 != "×" && $0 != "x" } : text
    guard let speed = Double(number), Quantity.speeds.contains(speed) else {
      throw QuantityError("“\(text)” is not a speed", "write a number from 0.001 to 1000, such as 0.25")
    }
    return speed
  }

  private static func fault(_ words: ParsedWords) throws(CommandError) -> Command {
    let kind = try words.choice(words.arguments[1], among: ["error", "latency", "down", "off"], "fault")
    let change: FaultChange
    switch kind {
    case "error": change = .errors(try words.quantity(2, Quantity.probability, example: "error 5%"))
    case "latency":
      change = .latency(
        try words.quantity(
          2,
          { (text) throws(QuantityError) in
            try Quantity.range(text, of: Quantity.duration)
          }, example: "latency 200ms"))
    default:
      if words.arguments.count > 2 {
        throw CommandError(
          column: words.arguments[2].column, message: "“\(words.arguments[2].text)” is one word too many",
          remedy: "write fault \(words.arguments[0].text) \(kind)")
      }
      change = kind == "down" ? .down : .off
    }
    return .fault(
      level: words.arguments[0].text, change, seed: try words.number("--seed", in: 0...Int.max).map { UInt64($0) })
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

  func missing(_ message: String, _ remedy: String) -> CommandError {
    CommandError(column: end, message: message, remedy: remedy)
  }

  /// A word that must be one of some.
  func choice(_ word: CommandWord, among names: [String], _ what: String) throws(CommandError) -> String {
    guard names.contains(word.text) else {
      throw CommandError(
        column: word.column, message: "there is no \(what) “\(word.text)”",
        remedy: NearestName.remedy(for: word.text, among: names))
    }
    return word.text
  }

  /// An argument that is a quantity.
  func quantity<Value>(
    _ place: Int, _ read: (String) throws(QuantityError) -> Value, example: String = ""
  ) throws(CommandError) -> Value {
    guard arguments.indices.contains(place) else {
      throw missing("\(verb.name) needs more", "write \(example), as in \(verb.usage)")
    }
    do { return try read(arguments[place].text) } catch {
      throw CommandError(column: arguments[place].column, message: error.message, remedy: error.remedy)
    }
  }

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
