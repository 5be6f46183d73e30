#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cache-explorer open CONFIG`.
struct OpenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Opens a configuration on the screen.")

  @Argument(help: .configuration, completion: .configuration) var config: String?
  @Option(
    name: .customLong("run"),
    help: .taking(
      "workload", "A workload to run from the start, with its options: \"zipf --rate 50\". See `:help run`."),
    completion: .list(WorkloadTable.names))
  var workload: String?
  @Option(
    parsing: .unconditional,
    help: .taking(
      "n",
      "How many requests the workload makes, from 1 on. With --once and --json 1000, unless it has an end of its own."))
  var requests: Int?
  @Flag(help: "Run the workload to its end, at the rate that it names, print one picture, and exit.") var once = false
  @Flag(help: "Like --once, with the statistics as JSON instead of the picture.") var json = false
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
#endif
