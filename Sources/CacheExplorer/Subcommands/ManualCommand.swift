#if Explorer
import ArgumentParser
import ExplorerText

/// `cache-explorer manual [--format roff|markdown]`, for whoever installs the program.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Prints the manual page.", shouldDisplay: false)

  @Option(help: "For man, or for a web page: roff or markdown.") var format = Manual.Format.roff

  func run() throws { StandardStreams.say(Manual.text(format)) }
}
#endif
