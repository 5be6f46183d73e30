/// The verbs of the command line: one table for parsing, help and completion.
struct Verb: Sendable {
  /// What an argument stands for, for completion.
  enum Argument: Sendable { case key, value, level, workload, logLevel, verb }

  struct Option: Sendable {
    let name: String
    /// What stands behind it, as in help; `nil` for an option that stands alone.
    let value: String?
    let argument: Argument?

    init(_ name: String, _ value: String? = nil, _ argument: Argument? = nil) {
      self.name = name
      self.value = value
      self.argument = argument
    }
  }

  let name: String
  /// How it is used, as in help: `get KEY [--level L]`.
  let usage: String
  /// What it does, in one line.
  let line: String
  let arguments: [Argument]
  /// How many arguments it needs at least.
  let required: Int
  let options: [Option]

  private init(
    _ usage: String, _ line: String, _ arguments: [Argument] = [], required: Int? = nil, _ options: [Option] = []
  ) {
    name = String(usage.prefix { $0 != " " })
    self.usage = usage
    self.line = line
    self.arguments = arguments
    self.required = required ?? arguments.count
    self.options = options
  }

  static let all = [
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
    Verb("warn", "send a memory warning through the levels"),
    Verb(
      "run WORKLOAD [--rate N] [--requests N] [--seed S] [--keys N] [--key K]", "run a workload", [.workload],
      [
        Option("--rate", "N"), Option("--requests", "N"), Option("--seed", "S"), Option("--keys", "N"),
        Option("--key", "K", .key),
      ]),
    Verb("stop", "stop the workload"),
    Verb("log LEVEL", "show log lines from this level on", [.logLevel]),
    Verb("stats", "tell the statistics of every level"),
    Verb("help [VERB]", "tell what the verbs do", [.verb], required: 0),
    Verb("quit", "leave"),
  ]

  static func named(_ name: String) -> Verb? { all.first { $0.name == name } }

  /// How the verb that a line begins with is used.
  static func usage(for line: String) -> String? {
    let name = line.drop { $0 == " " }.prefix { $0 != " " }
    return named(String(name)).map { "\($0.usage) — \($0.line)" }
  }

  /// What `help` answers.
  static func help(_ name: String?) -> String? {
    guard let name else { return all.map { "\($0.usage): \($0.line)" }.joined(separator: "\n") }
    guard let verb = named(name) else { return nil }
    var text = "\(verb.usage): \(verb.line)"
    if verb.name == "run" { text += Workload.lines.map { "\n  \($0.name): \($0.line)" }.joined() }
    return text
  }
}
