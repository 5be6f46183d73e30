package import ExplorerCommands
package import ExplorerState
import ExplorerText

/// A verb of the command line: how it is written, what a line with it means, who may refuse it, and what it does.
///
/// Each has a file of its own; ``Verbs/all`` lists them.
package protocol Verb: Equatable, Sendable {
  static var syntax: VerbSyntax { get }

  /// Understands the words behind the verb.
  init(_ words: ParsedWords) throws(CommandError)

  /// As ``init(_:)``, where the words alone do not say it.
  static func parse(_ words: [CommandWord], in line: String) throws(CommandError) -> Self

  /// What it concerns, so that whoever owns that may refuse it.
  var touched: Touched { get }
  /// The key that it is about.
  var key: String? { get set }
  /// The file that it writes.
  var output: String? { get }
  /// What of its line is nobody's business.
  var secrets: [String] { get }
  /// What it did to its key can be taken back, if nobody has touched that since.
  var canBeUndone: Bool { get }
  /// The screen shows the rest of what it tells: the first line is enough there.
  var isShownOnScreen: Bool { get }

  func run(in session: Interpreter) async -> CommandResult

  /// What it asks of the screen on which it is typed.
  var request: ScreenRequest? { get }
  /// What the screen should know of it once it has succeeded, beside what events tell.
  func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest]
}

/// What only a session with a screen can do.
package enum ScreenRequest: Sendable {
  case show(Message)
  /// A message that is the whole answer.
  case tell(Message)
  /// A line of the program's own in the log.
  case announce(String, LogLevel)
  case start(WorkloadRequest)
  case leave
  // Each of these is carried out by the screen, which answers in place of the cache.
  case record(file: String?, limit: Int?)
  case replay(file: String, speed: Double?)
  case exportRecording(file: String)
  case exportView(file: String)
}

extension Verb {
  package static func parse(_ words: [CommandWord], in line: String) throws(CommandError) -> Self {
    try Self(ParsedWords(words, of: syntax, end: line.count))
  }

  package var name: String { Self.syntax.name }
  package var touched: Touched { .nothing }
  package var key: String? {
    get { nil }
    set {}
  }
  package var output: String? { nil }
  package var secrets: [String] { [key].compactMap(\.self) }
  package var canBeUndone: Bool { false }
  package var isShownOnScreen: Bool { false }
  package var request: ScreenRequest? { nil }
  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] { [] }

  package func isEqual(to other: any Verb) -> Bool { self == other as? Self }

  func answer(_ note: String? = nil) -> CommandResult {
    CommandResult(command: name, outcome: .ok, microseconds: 0, note: note)
  }

  func failure(_ message: String) -> CommandResult { failure(CommandFailure(message: message)) }

  func failure(_ error: any Error) -> CommandResult {
    CommandResult(command: name, outcome: .error, microseconds: 0, error: String(describing: error), isRefused: true)
  }
}

/// The verbs of the command line, as help lists them.
package enum Verbs {
  package static let all: [any Verb.Type] = [
    GetVerb.self, SetVerb.self, DeleteVerb.self, ClearVerb.self, ExpireVerb.self, UndoVerb.self, WarnVerb.self,
    AdvanceVerb.self, RunVerb.self, StopVerb.self, SpeedVerb.self, FaultVerb.self, LoadVerb.self, ReloadVerb.self,
    ConfigVerb.self, MarkVerb.self, FilterVerb.self, SortVerb.self, ExportVerb.self, RecordVerb.self, ReplayVerb.self,
    JumpVerb.self, LogVerb.self, ExpectVerb.self, StatsVerb.self, StatusVerb.self, WhatIfVerb.self, MonitorVerb.self,
    HelpVerb.self,
    QuitVerb.self,
  ]

  /// Understands a line of the command line.
  ///
  /// - Returns: `nil` for an empty line or a comment.
  /// - Throws: ``CommandError`` with the place in the line.
  package static func parse(_ line: String) throws(CommandError) -> (any Verb)? {
    let words = try CommandLexer.words(of: line)
    guard let first = words.first else { return nil }
    guard let verb = all.first(where: { $0.syntax.name == first.text }) else {
      throw CommandError(
        column: first.column, message: "there is no verb “\(first.text)”",
        remedy: Grammar.commandLine.remedy(for: first.text))
    }
    return try verb.parse(Array(words.dropFirst()), in: line)
  }

  /// The verb that a key stands for.
  package static func verb(for asked: KeyCommand) -> any Verb {
    switch asked {
    case .delete(let key): DeleteVerb(key: key)
    case .expire(let key): ExpireVerb(key: key)
    case .clear: ClearVerb(level: nil)
    case .warn: WarnVerb()
    case .undo: UndoVerb()
    case .speed(let speed): SpeedVerb(speed)
    case .quit: QuitVerb()
    }
  }
}

extension Grammar {
  /// That of the command line.
  package static let commandLine = Grammar(
    verbs: Verbs.all.map { $0.syntax },
    check: { (line) throws(CommandError) in _ = try Verbs.parse(line) },
    secrets: { line in (try? Verbs.parse(line))?.secrets ?? [] })
}
