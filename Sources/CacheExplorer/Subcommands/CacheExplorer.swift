#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerConfiguration
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct CacheExplorer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache-explorer", abstract: "Shows what a composed cache is doing, and lets you experiment with it.",
    discussion: """
      Without a subcommand, the demonstration opens.

      `cache-explorer --paths` says where files are kept. Exit status: \(ExitStatus.sentence)
      """, version: ProgramVersion.text,
    subcommands: [
      OpenCommand.self, AttachCommand.self, CheckCommand.self, RunCommand.self, ReplayCommand.self, CompareCommand.self,
      ServeCommand.self, DemoCommand.self, ManualCommand.self, FleetPartCommand.self,
    ],
    defaultSubcommand: DemoCommand.self)

  static func main() async -> Never {
    if CommandLine.arguments.dropFirst() == ["--paths"] {
      StandardStreams.say(ProgramPaths(environment: ProcessInfo.processInfo.environment).text)
      StandardStreams.exit(0)
    }
    do {
      try refuseEmptyArgument()
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

  /// Nothing that can be named has no name, and a message about it would seem to have lost it.
  private static func refuseEmptyArgument() throws(ProgramFailure) {
    let words = CommandLine.arguments
    if let place = words.firstIndex(where: { $0.isEmpty || ($0.hasPrefix("--") && $0.hasSuffix("=")) }), place > 0 {
      let before = words[place].isEmpty ? words[place - 1] : String(words[place].dropLast())
      let what = before.hasPrefix("--") ? "what stands behind \(before)" : "argument \(place)"
      throw ProgramFailure(.usage, "error: \(what) is empty; write something, or leave it out")
    }
  }

  /// The demonstration is the default command, and would take a misspelt command for its name; `help` would explain the whole.
  private static func refuseUnknownCommand() throws(ProgramFailure) {
    let words = CommandLine.arguments.dropFirst()
    guard let name = words.first == "help" ? words.dropFirst().first : words.first, !name.hasPrefix("-") else { return }
    let commands = configuration.subcommands.map { $0.configuration }
    guard name != "help", !commands.contains(where: { $0.commandName == name }) else { return }
    let offered = commands.filter { $0.shouldDisplay }.compactMap { $0.commandName } + ["help"]
    let remedy =
      ConfigurationFile.isOrdinary(name)
      ? "to open that file, write cache-explorer open \(name)" : NearestName.remedy(for: name, among: offered)
    throw ProgramFailure(.usage, "error: there is no command “\(name)”; \(remedy)")
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
      // As everything else that is wrong is told.
      StandardStreams.complain(message.hasPrefix("Error: ") ? "e" + message.dropFirst() : message)
      StandardStreams.exit(ProgramFailure.Status.usage.rawValue)
    }
    StandardStreams.say(message)
    StandardStreams.exit(0)
  }
}

extension ScriptRunner.Format: ExpressibleByArgument {}
extension Manual.Format: ExpressibleByArgument {}
extension Theme: ExpressibleByArgument {}

extension CompletionKind {
  static var configuration: CompletionKind { .file(extensions: ["yaml", "yml", "json"]) }
}

extension ArgumentHelp {
  /// What an option does, and what to call what stands behind it.
  static func taking(_ value: String, _ text: String) -> ArgumentHelp { ArgumentHelp("\(text)", valueName: value) }

  static let configuration: ArgumentHelp = "The configuration: YAML or JSON."
  static let expect = ArgumentHelp.taking(
    "expectation",
    "Exit with status 1 unless this holds at the end: \"memory.hit >= 80%\". Repeatable; `:help expect` lists the figures."
  )
  static let strict: ArgumentHelp = "Exit with status 5 if a network or another source cannot be reached."
}
#endif
