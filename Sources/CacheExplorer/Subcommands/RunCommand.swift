#if Explorer
import ArgumentParser
import ExplorerModel
import ExplorerText

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
#endif
