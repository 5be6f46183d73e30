#if Explorer
import ArgumentParser
import ExplorerText

/// `cache-explorer run CONFIG [--script FILE|-] [--format text|json]`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs commands on a cache without a screen, one per line.",
    discussion: """
      A script is parsed completely before any of it is carried out. With --format json, standard input is a dialogue \
      instead: each line is answered before the next one is looked at, with one object on one line, and a line that \
      cannot be parsed is answered with an error, so that another program can drive a cache.
      """)

  @Argument(help: .configuration, completion: .configuration) var config: String
  @Option(help: .taking("file", "The file with the commands; - for standard input."), completion: .file())
  var script = "-"
  @Option(help: .expect) var expect: [String] = []
  @Option(help: "The output format: text, or json with one object per line.") var format = ScriptRunner.Format.text
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
