#if Explorer
import ArgumentParser
import ExplorerText

/// `cache-explorer run CONFIG [--script FILE|-] [--format text|json]`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Plays commands on a cache without a screen, one a line.",
    discussion: """
      A script is understood as a whole before anything of it is done. With --format json, what comes on standard input is a \
      dialogue instead: each line is answered before the next one is read, with one object on one line, and a line that is \
      not understood is answered with an error. So another program can drive a cache.
      """)

  @Argument(help: "The configuration: YAML or JSON.") var config: String
  @Option(help: "The file with the commands; - for standard input.") var script = "-"
  @Option(help: .expect) var expect: [String] = []
  @Option(help: "How to answer: text or json, one object a line.") var format = ScriptRunner.Format.text
  @Flag(help: .strict) var strict = false

  func run() async throws {
    let configuration = try Loaded.file(config)
    let expectations = try Loaded.expectations(expect, of: configuration)
    let script: Session.Script =
      script == "-" && format == .json
      ? .dialogue(InputLines.checkedInput(atMost: Loaded.mostScriptBytes))
      : .commands(try Loaded.script(script, for: configuration))
    try await Session.play(
      script, on: configuration, file: config, format: format, isStrict: strict, expecting: expectations)
  }
}
#endif
