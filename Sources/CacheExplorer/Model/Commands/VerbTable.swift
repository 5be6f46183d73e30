/// The verbs of the command line: one table for parsing, help and completion.
package struct Verb: Sendable {
  /// What an argument stands for, for completion.
  package enum Argument: Sendable {
    case key, value, level, workload, logLevel, verb, severity, fault, amount, column, text, file, expectation,
      recording, moment
  }

  package struct Option: Sendable {
    package let name: String
    /// What stands behind it, as in help; `nil` for an option that stands alone.
    package let value: String?
    package let argument: Argument?

    package init(_ name: String, _ value: String? = nil, _ argument: Argument? = nil) {
      self.name = name
      self.value = value
      self.argument = argument
    }
  }

  package let name: String
  /// How it is used, as in help: `get KEY [--level L]`.
  package let usage: String
  /// What it does, in one line.
  package let line: String
  package let arguments: [Argument]
  /// How many arguments it needs at least.
  let required: Int
  package let options: [Option]
  /// The last argument goes on to the end of the line.
  let takesRest: Bool

  private init(
    _ usage: String, _ line: String, _ arguments: [Argument] = [], required: Int? = nil, _ options: [Option] = [],
    takesRest: Bool = false
  ) {
    name = String(usage.prefix { $0 != " " })
    self.usage = usage
    self.line = line
    self.arguments = arguments
    self.required = required ?? arguments.count
    self.options = options
    self.takesRest = takesRest
  }

  package static let all = [
    Verb(
      "get KEY [--level L]", "read through the levels", [.key],
      [Option("--level", "L", .level)]),
    Verb(
      "set KEY VALUE|@FILE [--ttl 30s] [--level L]", "store a value in every level, or in one", [.key, .value],
      [Option("--ttl", "30s"), Option("--level", "L", .level)]),
    Verb("del KEY", "remove a key from every level", [.key]),
    Verb(
      "clear [L|--all]", "remove everything from every level, or from one", [.level], required: 0, [Option("--all")]),
    Verb(
      "expire KEY|--all", "end the lifetime of a key, or of everything, now", [.key], required: 0, [Option("--all")]),
    Verb("undo", "take back the last set, del or expire of a key, if that can be done exactly"),
    Verb(
      "warn [low|critical]", "send a memory warning through the levels; both kinds are treated alike", [.severity],
      required: 0),
    Verb("advance 60s", "move the cache's time forwards: what is due by then expires", [.amount]),
    Verb(
      "run WORKLOAD [--rate N|max] [--requests N] [--seed S] [--keys N] [--key K] [--skew X] [--file F]",
      "run a workload", [.workload],
      [
        Option("--rate", "N|max"), Option("--requests", "N"), Option("--seed", "S"), Option("--keys", "N"),
        Option("--key", "K", .key), Option("--skew", "X"), Option("--file", "F", .file),
      ]),
    Verb("stop", "stop the workload"),
    Verb("speed X", "let the cache's time pass X times as fast, as in speed 0.25", [.amount]),
    Verb(
      "fault L error 5%|latency 200ms|down|off [--seed S]", "let a level fail, be slow or be down, or be well again",
      [.level, .fault, .amount], required: 2, [Option("--seed", "S")]),
    Verb("load CONFIG", "open another configuration in place of this one", [.file]),
    Verb("reload", "read the configuration again and begin anew with it"),
    Verb("config", "tell the values in force, and where each comes from"),
    Verb("mark TEXT", "write a line of your own into the log", [.text], takesRest: true),
    Verb(
      "filter [EXPR]", "list only the keys that contain this; !EXPR those that do not", [.text], required: 0,
      takesRest: true),
    Verb("sort COLUMN", "list the entries by hits, last, size, age, ttl or key", [.column]),
    Verb(
      "export FILE.(json|csv|txt|cast) [--view]",
      "write what the levels hold, and their statistics, into a file; or what the screen shows; as .cast what was recorded",
      [.file], [Option("--view")]),
    Verb(
      "record FILE|off [--limit 256MiB]",
      "record the session into a file, which grows to the limit at most; it counts from here on", [.recording],
      [Option("--limit", "256MiB")]),
    Verb("replay FILE [--speed X]", "show a recorded session again", [.file], [Option("--speed", "X")]),
    Verb(
      "jump 12.3s|+5s|-5s|next warning|previous warning", "in a replay: go to another moment", [.moment, .text],
      required: 1),
    Verb("log LEVEL", "show log lines from this level on", [.logLevel]),
    Verb(
      "expect \"FIGURE >= VALUE\"",
      "compare a figure: memory.hit >= 80%, origin.requests <= 120, p99 < 5ms; fails a script",
      [.expectation], takesRest: true),
    Verb("stats", "tell the statistics of every level"),
    Verb("status", "tell in sentences how every level does"),
    Verb(
      "whatif [L] [--reset]", "tell what other capacities and policies would hit; --reset counts anew", [.level],
      required: 0, [Option("--reset")]),
    Verb("help [VERB]", "tell what the verbs do", [.verb], required: 0),
    Verb("quit", "leave"),
  ]

  package static func named(_ name: String) -> Verb? { all.first { $0.name == name } }

  /// How the verb that a line begins with is used.
  package static func usage(for line: String) -> String? {
    let name = line.drop { $0 == " " }.prefix { $0 != " " }
    return named(String(name)).map { "\($0.usage) — \($0.line)" }
  }

  /// What `help` answers.
  package static func help(_ name: String?) -> String? {
    guard let name else { return all.map { "\($0.usage): \($0.line)" }.joined(separator: "\n") }
    guard let verb = named(name) else { return nil }
    var text = "\(verb.usage): \(verb.line)"
    if verb.name == "expect" {
      text += "\n  LEVEL.FIGURE, OPERATOR.FIGURE or FIGURE for the whole cache; then >= <= > < == or !=; then a value"
      text += "\n  “lately” behind the value compares what was counted in the last 5 seconds"
      text += ExpectedFigure.all.map { "\n  \($0.name): \($0.line)" }.joined()
    }
    if verb.name == "run" { text += WorkloadTable.all.map { "\n  \($0.name): \($0.line)" }.joined() }
    return text
  }
}

extension Verb {
  /// What a word at the end of a line stands for.
  package static func argument(at word: String, after head: String) -> Verb.Argument? {
    let words = head.split(separator: " ").map(String.init)
    guard let name = words.first, let verb = named(name) else { return nil }
    if let option = verb.options.first(where: { $0.name == words.last && $0.value != nil }) { return option.argument }
    guard !word.hasPrefix("--") else { return nil }
    let position = argumentCount(words.dropFirst(), of: verb)
    return verb.arguments.indices.contains(position) ? verb.arguments[position] : nil
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
}
