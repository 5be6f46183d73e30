#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerConfiguration
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cache-explorer demo [NAME] [--list]`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Opens a demonstration, or lists them.")

  @Argument(
    help: "The demonstration; stack if not given.", completion: .list(Demo.all.map(\.name) + [FleetDemo.name]))
  var name: String?
  @Flag(help: "List the demonstrations.") var list = false
  @Option(
    parsing: .unconditional,
    help: .taking(
      "n",
      "With --export FILE.svg: after how many seconds of simulated time, from 1 to 600, which pass immediately."))
  var seconds = 20
  @OptionGroup var recording: RecordingOptions
  @OptionGroup var appearance: ScreenOptions

  func validate() throws {
    try recording.check(hasSession: nil, isHeadless: false)
    guard !list || (name == nil && recording.isEmpty) else {
      throw ValidationError("--list lists all demonstrations and opens none; leave the rest out")
    }
    guard name == nil || recording.replay == nil else {
      throw ValidationError("--replay needs no demonstration; leave one out")
    }
    guard (1...600).contains(seconds) else { throw ValidationError("give --seconds from 1 to 600") }
    guard seconds == 20 || (recording.export != nil && recording.replay == nil) else {
      throw ValidationError("--seconds needs --export FILE.svg")
    }
  }

  func run() async throws {
    if try await recording.replayed(appearance) { return }
    if list {
      for demo in Demo.all { StandardStreams.say("\(demo.name): \(demo.caption)") }
      StandardStreams.say("\(FleetDemo.name): \(FleetDemo.caption)")
      return
    }
    let name = name ?? "stack"
    if name == FleetDemo.name {
      guard recording.export == nil else {
        throw ProgramFailure(.usage, "error: demo fleet is of several processes and has no picture; use --record FILE")
      }
      return try await FleetDemo.run(appearance, record: recording.record, limit: recording.limit)
    }
    guard let demo = Demo.named(name) else {
      throw ProgramFailure(
        .usage,
        "error: there is no demo “\(name)”; \(NearestName.remedy(for: name, among: Demo.all.map(\.name) + [FleetDemo.name]))"
      )
    }
    let folder = try ScratchFolder.demo.make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = try Loaded.demo(demo, folder: folder.path)
    if let file = recording.export {
      let canvas = try await DemoPicture.canvas(
        demo, configuration, seconds: seconds, size: ScreenOptions.size(ProcessInfo.processInfo.environment))
      let picture = SVGPicture(
        canvas, title: "cache-explorer demo \(name), after \(seconds) seconds", theme: appearance.theme)
      do { try await Export.write(picture.text, to: file) } catch { throw ProgramFailure(.usage, "error: \(error)") }
      return StandardStreams.say("\(file): a picture of \(canvas.size.width)x\(canvas.size.height)")
    }
    guard !demo.isServed else {
      return try await Session.serve(
        Session.Serving(
          configuration: configuration, file: "demo \(name)", traffic: .demo(try demo.steps()), appearance: appearance,
          caption: demo.caption, record: recording.record, recordLimit: recording.limit))
    }
    try await Session.show(
      Session.Show(
        configuration: configuration, file: "demo \(name)", isFile: false, workload: configuration.workload,
        steps: try demo.steps(), caption: demo.caption, appearance: appearance, record: recording.record,
        recordLimit: recording.limit))
  }
}
#endif
