import ExplorerText

/// How a verb of the command line is written, for its parser, for help and for completion.
package struct VerbSyntax: Sendable {
  /// What an argument stands for.
  package enum Argument: Sendable, Equatable {
    /// A key that a level holds.
    case key
    /// The name of a level.
    case level
    /// A value, or a file with an @ before its name.
    case value
    case file
    /// One of some words.
    case choice([String])
    /// The name of a verb.
    case verb
    /// A number, with its unit if it has one.
    case amount
    /// A figure of ``ExpectedFigure`` in a comparison.
    case expectation
    case text
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
  /// What it is called elsewhere: whoever writes that is told its name here.
  package let otherNames: [String]
  /// How it is used, as in help: `get KEY [--level L]`.
  package let usage: String
  /// What it does, in one line.
  package let line: String
  package let arguments: [Argument]
  /// How many arguments it needs at least.
  package let required: Int
  package let options: [Option]
  /// The last argument goes on to the end of the line.
  package let takesRest: Bool
  /// What `help` says below the line.
  package let details: String

  package init(
    _ usage: String, _ line: String, _ arguments: [Argument] = [], required: Int? = nil, _ options: [Option] = [],
    takesRest: Bool = false, details: String = "", otherNames: [String] = []
  ) {
    name = String(usage.prefix { $0 != " " })
    self.otherNames = otherNames
    self.usage = usage
    self.line = line
    self.arguments = arguments
    self.required = required ?? arguments.count
    self.options = options
    self.takesRest = takesRest
    self.details = details
  }
}

/// The verbs that there are, as far as a line that is typed shows them.
package struct Grammar: Sendable {
  package let verbs: [VerbSyntax]
  /// Finds what is wrong with a line.
  let check: @Sendable (String) throws(CommandError) -> Void
  /// What of a line is nobody's business: its key, and a value that stands in it.
  package let secrets: @Sendable (String) -> [String]

  package init(
    verbs: [VerbSyntax] = [], check: @escaping @Sendable (String) throws(CommandError) -> Void = { _ in },
    secrets: @escaping @Sendable (String) -> [String] = { _ in [] }
  ) {
    self.verbs = verbs
    self.check = check
    self.secrets = secrets
  }

  package var names: [String] { verbs.map(\.name) }

  package func named(_ name: String) -> VerbSyntax? { verbs.first { $0.name == name } }

  /// What to do about a word that is no verb.
  package func remedy(for word: String) -> String {
    if let verb = verbs.first(where: { $0.otherNames.contains(word.lowercased()) }) {
      return "did you mean “\(verb.name)”?"
    }
    return NearestName.remedy(for: word, among: names)
  }

  /// How the verb that a line begins with is used.
  package func usage(for line: String) -> String? {
    let name = line.drop { $0 == " " }.prefix { $0 != " " }
    return named(String(name)).map { "\($0.usage) — \($0.line)" }
  }

  /// What `help` answers.
  package func help(_ name: String?) -> String? {
    guard let name else { return verbs.map { "\($0.usage): \($0.line)" }.joined(separator: "\n") }
    return named(name).map { "\($0.usage): \($0.line)\($0.details)" }
  }

  /// The words that an argument is chosen among; `nil` where any word may stand.
  package func choices(for argument: VerbSyntax.Argument) -> [String]? {
    switch argument {
    case .choice(let words): words
    case .verb: names
    case .key, .level, .value, .file, .amount, .expectation, .text: nil
    }
  }

  /// What a word at the end of a line stands for.
  package func argument(at word: String, after head: String) -> VerbSyntax.Argument? {
    let words = head.split(separator: " ").map(String.init)
    guard let name = words.first, let verb = named(name) else { return nil }
    if let option = verb.options.first(where: { $0.name == words.last && $0.value != nil }) { return option.argument }
    guard !word.hasPrefix("--") else { return nil }
    let position = Self.argumentCount(words.dropFirst(), of: verb)
    return verb.arguments.indices.contains(position) ? verb.arguments[position] : nil
  }

  /// How many of the words are arguments, and not options or their values.
  private static func argumentCount(_ words: ArraySlice<String>, of verb: VerbSyntax) -> Int {
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
