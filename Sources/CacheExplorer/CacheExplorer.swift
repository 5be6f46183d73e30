import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the program begins.
@main
enum Program {
  @MainActor
  static func main() {
    Task { await CacheExplorer.main() }
    MainLoop.run()
  }
}

struct CacheExplorer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache-explorer", abstract: "Shows what a composed cache is doing, and lets you poke it.",
    discussion: """
      Without a command the demonstration opens.

      `cache-explorer --paths` tells where files are kept. Exit status: \(ExitStatus.sentence)
      """, version: "0.1.0",
    subcommands: [
      OpenCommand.self, AttachCommand.self, CheckCommand.self, RunCommand.self, ReplayCommand.self, CompareCommand.self,
      DemoCommand.self, ManualCommand.self,
    ],
    defaultSubcommand: DemoCommand.self)

  static func main() async -> Never {
    if CommandLine.arguments.dropFirst() == ["--paths"] {
      StandardStreams.say(ProgramPaths(environment: ProcessInfo.processInfo.environment).text)
      StandardStreams.exit(0)
    }
    do {
      try refuseUnknownCommand()
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      StandardStreams.exit(0)
    } catch {
      exit(with: error)
    }
  }

  /// The demonstration is the default command, and would take a misspelt command for its name.
  private static func refuseUnknownCommand() throws(ProgramFailure) {
    guard let first = CommandLine.arguments.dropFirst().first, !first.hasPrefix("-") else { return }
    let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    guard !names.contains(first) else { return }
    throw ProgramFailure(
      .usage, "error: there is no command “\(first)”; \(NearestName.remedy(for: first, among: names))")
  }

  /// Says what is wrong, and leaves with the status that is documented for it.
  private static func exit(with error: any Error) -> Never {
    if let failure = error as? ProgramFailure {
      StandardStreams.complain(failure.description)
      StandardStreams.exit(failure.status)
    }
    if let code = error as? ExitCode { StandardStreams.exit(code.rawValue) }
    let message = fullMessage(for: error)
    guard exitCode(for: error) == .success else {
      StandardStreams.complain(message)
      StandardStreams.exit(ProgramFailure.Status.usage.rawValue)
    }
    StandardStreams.say(message)
    StandardStreams.exit(0)
  }
}

/// `cache-explorer open CONFIG`.
struct OpenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Opens a configuration on the screen.")

  @Argument(help: "The configuration: YAML or JSON.", completion: .file(extensions: ["yaml", "yml", "json"]))
  var config: String?
  @Option(
    name: .customLong("run"),
    help: "A workload to run from the start, with its options: \"zipf --rate 50\". See `:help run`.",
    completion: .list(Workload.names))
  var workload: String?
  @Option(help: "How many requests the workload makes.") var requests: Int?
  @Flag(help: "Run the workload to its end, print one picture, and leave.") var once = false
  @Flag(help: "As --once, with the statistics as JSON in place of the picture.") var json = false
  @Flag(help: .strict) var strict = false
  @OptionGroup var recording: RecordingOptions
  @OptionGroup var appearance: ScreenOptions

  func validate() throws {
    try recording.check(hasSession: config != nil, isHeadless: once || json)
    if let requests, requests < 1 { throw ValidationError("give --requests from 1 on") }
  }

  func run() async throws {
    if try await recording.replayed(appearance) { return }
    guard let config else { return }
    let configuration = try Loaded.file(config)
    let asked = try workload.map { (text) throws(ProgramFailure) in try Loaded.workload(text) }
    var started = asked ?? configuration.workload
    if let requests {
      guard started != nil else {
        throw ProgramFailure(
          .usage, "error: --requests \(requests) is for a workload, and none runs; give --run WORKLOAD too")
      }
      started?.requests = requests
    }
    let show = Session.Show(
      configuration: configuration, file: config, workload: started, appearance: appearance, isStrict: strict,
      record: recording.record, recordLimit: recording.limit)
    guard once || json else { return try await Session.show(show) }
    try await Session.once(show, size: ScreenOptions.size(ProcessInfo.processInfo.environment), isJSON: json)
  }
}

/// `cache-explorer demo [NAME] [--list]`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Opens a demonstration, or lists them.")

  @Argument(help: "The demonstration.", completion: .list(Demo.all.map(\.name))) var name = "stack"
  @Flag(help: "List the demonstrations.") var list = false
  @OptionGroup var recording: RecordingOptions
  @OptionGroup var appearance: ScreenOptions

  func validate() throws { try recording.check(hasSession: nil, isHeadless: false) }

  func run() async throws {
    if try await recording.replayed(appearance) { return }
    if list {
      for demo in Demo.all { StandardStreams.say("\(demo.name): \(demo.caption)") }
      return
    }
    guard let demo = Demo.named(name) else {
      throw ProgramFailure(
        .usage, "error: there is no demo “\(name)”; \(NearestName.remedy(for: name, among: Demo.all.map(\.name)))")
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "cache-explorer-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = try Loaded.demo(demo, folder: folder.path)
    try await Session.show(
      Session.Show(
        configuration: configuration, file: "demo \(name)", isFile: false, workload: configuration.workload,
        steps: try demo.steps(), caption: demo.caption, appearance: appearance, record: recording.record,
        recordLimit: recording.limit))
  }
}

/// `cache-explorer check CONFIG`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks a configuration and says what is wrong or probably not meant.")

  @Argument(help: "The configuration: YAML or JSON.") var config: String

  func run() async throws {
    let configuration = try Loaded.file(config)
    for warning in configuration.warnings { StandardStreams.say(warning.description) }
    let levels = configuration.allLevels.filter(\.inner.isEmpty).map(\.name).joined(separator: ", ")
    let found = configuration.warnings.count
    StandardStreams.say(
      "\(config): well; levels \(levels)" + (found == 0 ? "" : "; \(found) \(found == 1 ? "warning" : "warnings")"))
  }
}

/// `cache-explorer run CONFIG [--script FILE|-] [--format text|json]`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Plays commands on a cache without a screen, one a line.")

  @Argument(help: "The configuration: YAML or JSON.") var config: String
  @Option(help: "The file with the commands; - for standard input.") var script = "-"
  @Option(help: .expect) var expect: [String] = []
  @Option(help: "How to answer: text or json, one object a line.") var format = ScriptRunner.Format.text
  @Flag(help: .strict) var strict = false

  func run() async throws {
    let configuration = try Loaded.file(config)
    let expectations = try Loaded.expectations(expect, of: configuration)
    let commands = try Loaded.script(script, for: configuration)
    try await Session.play(
      commands, on: configuration, file: config, format: format, isStrict: strict, expecting: expectations)
  }
}

/// `cache-explorer replay CONFIG --trace FILE [--format text|json]`.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Drives a cache with a trace and prints the statistics of every level.",
    discussion: """
      A trace has one request a line: KEY, or KEY, a tab and SIZE. Lines that begin with # are comments, and the whole \
      may be compressed with gzip. What is missing is loaded from the configuration's own source; without a source a \
      value of SIZE bytes (1024 if the trace does not say) is stored, as a client would.
      """)

  @Argument(help: "The configuration: YAML or JSON.") var config: String
  @Option(help: "The file with the requests; - for standard input.") var trace: String
  @Option(help: "How to answer: text or json, one object a line.") var format = ScriptRunner.Format.text
  @Option(help: .expect) var expect: [String] = []
  @Option(help: "How many requests are under way at once.") var clients = 1
  @Option(help: "How fast time passes for the cache: 100 waits a hundredth of the time for a simulated origin.")
  var speed = 1.0
  @Flag(help: .strict) var strict = false
  @Flag(
    help: "Print what every policy would hit at capacities from 1/64 to 8 times the configured one, by full simulation."
  )
  var whatIf = false
  @Option(help: "With --what-if: the level; the first that has a capacity if not given.") var level: String?
  @Option(
    help: "With --what-if: write the miss-ratio curves as a picture into this file.",
    completion: .file(extensions: ["svg"]))
  var svg: String?
  @Option(help: "With --what-if: write the curves as JSON into this file.", completion: .file(extensions: ["json"]))
  var json: String?

  func validate() throws {
    guard whatIf || (svg == nil && json == nil && level == nil) else {
      throw ValidationError("--level, --svg and --json belong to --what-if; add it, or leave them out")
    }
    guard (1...100_000).contains(clients) else { throw ValidationError("give --clients from 1 to 100000") }
    guard AdjustableClock.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
  }

  func run() async throws {
    let configuration = try Loaded.file(config)
    guard !whatIf else {
      return try await Session.curves(
        of: trace, on: configuration, level: level, svg: svg, json: json, format: format)
    }
    try await Session.replay(
      trace, clients: clients, speed: speed, on: configuration, file: config, format: format,
      isStrict: strict, expecting: try Loaded.expectations(expect, of: configuration))
  }
}

/// `cache-explorer manual [--format roff|markdown]`, for whoever installs the program.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Prints the manual page.", shouldDisplay: false)

  @Option(help: "For man, or for a web page: roff or markdown.") var format = Manual.Format.roff

  func run() throws { StandardStreams.say(Manual.text(format)) }
}

extension ScriptRunner.Format: ExpressibleByArgument {}
extension Manual.Format: ExpressibleByArgument {}
extension Theme: ExpressibleByArgument {}

extension ArgumentHelp {
  static let expect: ArgumentHelp =
    "Leave with status 1 unless this holds at the end: \"memory.hit >= 80%\". Repeatable; `:help expect` lists the figures."
  static let strict: ArgumentHelp = "Leave with status 5 if a network or another source cannot be reached."
}

/// When colours are used.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable { case auto, always, never }

/// What is recorded, or replayed in place of a cache.
struct RecordingOptions: ParsableArguments, Sendable {
  @Option(
    help: """
      Record the session into this file, from its start: everything that happens and every key. Values that were looked at \
      are in it, and with --mask neither keys nor values.
      """, completion: .file())
  var record: String?
  @Option(help: "How far the recording may grow, as in 1GiB; it then ends, and says so. 256 MiB unless told otherwise.")
  var recordLimit: String?
  @Option(help: "Show a recorded session again, picture for picture.", completion: .file()) var replay: String?
  @Option(help: "How fast it goes, from 0.001 to 1000.") var speed = 1.0
  @Option(
    help: "With --replay: write it as an asciicast for asciinema, and leave.", completion: .file(extensions: ["cast"]))
  var export: String?

  var limit: Int? { recordLimit.flatMap { try? Command.recordingLimit($0) } }

  /// `hasSession`: A configuration is given; `nil` for a demonstration, which needs none.
  func check(hasSession: Bool?, isHeadless: Bool) throws {
    if let recordLimit {
      guard record != nil else { throw ValidationError("--record-limit needs --record FILE") }
      do { _ = try Command.recordingLimit(recordLimit) } catch {
        throw ValidationError("--record-limit: \(error.message); \(error.remedy)")
      }
    }
    guard AdjustableClock.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
    if let export {
      guard replay != nil else { throw ValidationError("--export needs --replay FILE") }
      guard ExportFormat(file: export) == .cast else {
        throw ValidationError("end the name behind --export with .cast")
      }
    }
    if replay == nil, speed != 1 { throw ValidationError("--speed needs --replay FILE") }
    if record != nil, isHeadless { throw ValidationError("--record needs the screen; leave out --once and --json") }
    if replay != nil, record != nil { throw ValidationError("--record and --replay exclude each other; leave one out") }
    if replay != nil, hasSession == true { throw ValidationError("--replay needs no configuration; leave one out") }
    if replay == nil, hasSession == false {
      throw ValidationError("name a configuration, or a recording with --replay FILE")
    }
  }

  /// Replays, if that is asked for; whether it was.
  func replayed(_ appearance: ScreenOptions) async throws -> Bool {
    guard let replay else { return false }
    try await Session.replay(recording: replay, speed: speed, export: export, appearance: appearance)
    return true
  }
}

/// How the screen looks, and what may be done on it.
struct ScreenOptions: ParsableArguments, Sendable {
  @Flag(help: "No screen: a sentence for everything that happens, commands a line at a time.") var plain = false
  @Flag(help: "A screen or nothing: leave with status 4 where there can be none.") var screen = false
  @Flag(help: "Draw with ASCII characters only.") var ascii = false
  @Option(help: "When to use colours: auto (as NO_COLOR and the terminal say), always or never.")
  var color = ColorChoice.auto
  @Option(help: "Which colours: standard, dark, light, contrast, distinct or mono.") var theme = Theme.standard
  @Flag(help: "Refuse commands and keys that change the cache; reads still fill its levels.") var readOnly = false
  @Flag(help: "Show no values, and other names in place of keys; P shows them.") var mask = false
  @Flag(help: "Let y and Y copy into the terminal's clipboard (OSC 52).") var clipboard = false

  func validate() throws {
    if plain, screen { throw ValidationError("--plain and --screen exclude each other; leave one out") }
  }

  /// Other names for keys, if they are to be hidden: none that anybody could look up.
  var keyMask: KeyMask? { mask ? KeyMask(salt: .random(in: .min ... .max)) : nil }

  /// What a model is told before its first picture.
  func apply(to model: inout Model) {
    model.isReadOnly = readOnly
    model.isMasked = mask
    // `P` hides keys that were shown at first.
    model.mask = KeyMask(salt: .random(in: .min ... .max))
    model.theme = theme
    model.canCopy = clipboard
  }

  /// How large a picture is where there is no terminal: COLUMNS and LINES, else 120x40.
  static func size(_ environment: [String: String]) -> Size {
    func number(_ name: String, _ usual: Int) -> Int {
      environment[name].flatMap(Int.init).map { min(max($0, 1), 1_000) } ?? usual
    }
    return Size(width: number("COLUMNS", 120), height: number("LINES", 40))
  }
}
