import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@main
struct CacheExplorer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache-explorer", abstract: "Shows what a composed cache is doing, and lets you poke it.",
    discussion: """
      Without a command the demonstration opens.

      Exit status: 0 well; 1 an expectation failed; 2 wrong usage; 3 the configuration is not valid; 4 no usable \
      terminal; 128 and the number of the signal that ended the program.
      """, version: "0.1.0",
    subcommands: [
      OpenCommand.self, CheckCommand.self, RunCommand.self, ReplayCommand.self, DemoCommand.self,
    ],
    defaultSubcommand: DemoCommand.self)

  static func main() async {
    do {
      try refuseUnknownCommand()
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
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

  @Argument(help: "The configuration: YAML or JSON.") var config: String
  @Option(
    name: .customLong("run"),
    help: "A workload to run from the start, with its options: \"zipf --rate 50\". See `:help run`.")
  var workload: String?
  @OptionGroup var appearance: ScreenOptions

  func run() async throws {
    let configuration = try Loaded.file(config)
    let started = try workload.map { (text) throws(ProgramFailure) in try Loaded.workload(text) }
    try await Session.open(
      configuration, file: config, workload: started ?? configuration.workload, appearance: appearance)
  }
}

/// `cache-explorer demo [NAME] [--list]`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Opens a demonstration, or lists them.")

  @Argument(help: "The demonstration.") var name = "stack"
  @Flag(help: "List the demonstrations.") var list = false
  @OptionGroup var appearance: ScreenOptions

  func run() async throws {
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
    try await Session.open(
      configuration, file: "demo \(name)", workload: configuration.workload, appearance: appearance,
      caption: demo.caption)
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
  @Option(help: "How to answer: text or json, one object a line.") var format = ScriptRunner.Format.text

  func run() async throws {
    let configuration = try Loaded.file(config)
    let commands = try Loaded.script(script)
    try await Session.play(commands, on: configuration, file: config, format: format)
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
  @Option(help: "How many requests are under way at once.") var clients = 1
  @Option(help: "How fast time passes for the cache: 100 waits a hundredth of the time for a simulated origin.")
  var speed = 1.0

  func validate() throws {
    guard (1...100_000).contains(clients) else { throw ValidationError("give --clients from 1 to 100000") }
    guard AdjustableClock.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
  }

  func run() async throws {
    let configuration = try Loaded.file(config)
    try await Session.replay(
      trace, clients: clients, speed: speed, on: configuration, file: config, format: format)
  }
}

extension ScriptRunner.Format: ExpressibleByArgument {}

/// How the screen looks.
struct ScreenOptions: ParsableArguments {
  @Flag(help: "Draw with ASCII characters only.") var ascii = false
}
