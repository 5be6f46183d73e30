#if Explorer
import ArgumentParser
import CacheEngineHitRatio
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cache-explorer compare A B [--trace FILE]`.
struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Sends the same requests through two caches and reports the differences that matter.",
    discussion: """
      With a trace, both are run several times in turn, each time starting empty; disk levels are kept in a temporary \
      folder. A difference counts only if chance would cause it in at most 5 of 100 comparisons of equal caches, over \
      everything that is measured; for measures that differ from run to run, this needs at least 4 runs. Without a trace, \
      both open side by side on the screen, under one workload: keystrokes go to both; F2 and F3 choose one, F4 both again.
      """)

  @Argument(help: "The first configuration: YAML or JSON.", completion: .configuration) var first: String
  @Argument(help: "The second configuration.", completion: .configuration) var second: String
  @Option(help: .taking("file", "The file with the requests; - for standard input."), completion: .file())
  var trace: String?
  @Option(
    help: .taking("format", "With --trace: the format of the trace: \(TraceFormat.names); recognised if not given."),
    completion: .list(TraceFormat.allCases.map(\.rawValue)), transform: TraceFormat.named)
  var traceFormat: TraceFormat?
  @Option(parsing: .unconditional, help: .taking("n", "With --trace: how many times to run each, from 2 to 1000."))
  var runs = 5
  @Option(
    parsing: .unconditional,
    help: .taking("n", "With --trace: how many requests to have under way at once, from 1 to 100000."))
  var clients = 1
  @Option(
    parsing: .unconditional,
    help: .taking(
      "factor",
      """
      With --trace: how fast time passes for the caches, from 0.001 to 1000: 100 waits a hundredth of the time for a \
      simulated origin.
      """)
  )
  var speed = 1.0
  @Option(help: "With --trace: the output format, text or json.") var format = ScriptRunner.Format.text
  @Option(
    name: .customLong("run"),
    help: .taking("workload", "Without --trace: the workload for both, with its options; else that of the first."),
    completion: .list(WorkloadTable.names))
  var workload: String?
  @Flag(help: .strict) var strict = false
  @OptionGroup var appearance: ScreenOptions

  func validate() throws {
    guard (2...1_000).contains(runs) else {
      throw ValidationError("give --runs from 2 to 1000: one run tells nothing of the spread")
    }
    guard (1...100_000).contains(clients) else { throw ValidationError("give --clients from 1 to 100000") }
    guard Quantity.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
    guard trace == nil || workload == nil else {
      throw ValidationError("--trace and --run exclude each other; leave one out")
    }
    guard trace != nil || (traceFormat == nil && runs == 5 && clients == 1 && speed == 1 && format == .text) else {
      throw ValidationError(
        "--trace-format, --runs, --clients, --speed and --format belong to --trace; add that, or leave them out")
    }
    guard trace != nil || !appearance.plain else {
      throw ValidationError("two caches side by side need a screen; give --trace FILE, or leave --plain out")
    }
  }

  func run() async throws {
    let sides = [try Loaded.file(first), try Loaded.file(second)]
    guard let trace else {
      let asked = try workload.map { (text) throws(ProgramFailure) in try Loaded.workload(text) }
      return try await Session.showBoth(
        sides, files: [first, second], workload: asked ?? sides[0].workload ?? sides[1].workload,
        appearance: appearance,
        isStrict: strict)
    }
    try await Session.compare(
      sides, files: [first, second], request: .trace(trace, as: traceFormat),
      drive: .init(clients: clients, speed: speed),
      runs: runs, format: format, isStrict: strict)
  }
}
#endif
