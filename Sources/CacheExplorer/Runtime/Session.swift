import ArgumentParser
import CacheEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a configuration and uses it: on the screen, or for a script.
enum Session {
  /// Plays commands and prints the answers.
  static func play(
    _ commands: [Command], on configuration: CacheConfiguration, file: String, format: ScriptRunner.Format
  ) async throws {
    let opened = try await open(configuration, file: file)
    let live = await ScriptRunner(opened: opened, format: format, print: { StandardStreams.say($0) }).play(commands)
    try await close(live)
  }

  /// Drives a cache with a trace, and prints the statistics of every level.
  ///
  /// - Throws: ``ProgramFailure`` if the trace cannot be read to its end.
  static func replay(
    _ trace: String, clients: Int, speed: Double, on configuration: CacheConfiguration, file: String,
    format: ScriptRunner.Format
  ) async throws {
    let workload: Workload
    do { workload = try Workload(WorkloadRequest(name: "trace", file: trace)) } catch {
      throw ProgramFailure(.usage, "\(error)")
    }
    let live = try await open(configuration, file: file).live
    live.pace?.speed = speed
    let report = await WorkloadRunner(live: live).run(workload, requests: nil, rate: nil, clients: clients)
    switch format {
    case .text:
      StandardStreams.say("\(report.requests) requests of \(trace), \(report.failures) failed")
      StandardStreams.say(live.summary)
    case .json: StandardStreams.say(live.statisticsJSON)
    }
    try await close(live)
    if let problem = report.problem { throw ProgramFailure(.usage, "\(problem)") }
  }

  /// Opens the screen and stays until the person leaves.
  @MainActor
  static func open(
    _ configuration: CacheConfiguration, file: String, workload: WorkloadRequest?, appearance: ScreenOptions,
    caption: String? = nil
  ) async throws {
    let screen: Terminal
    var options = Terminal.Options(environment: ProcessInfo.processInfo.environment)
    options.isASCII = appearance.ascii
    do { screen = try Terminal(options) } catch { throw ProgramFailure(.terminal, "error: \(error)") }
    let buffer = EventBuffer()
    let opened: OpenedCache
    do { opened = try await self.open(configuration, file: file, isFile: caption == nil, observers: [buffer]) } catch {
      screen.close()
      throw error
    }
    let model = Model(configuration, title: configuration.name, now: opened.live.clock.now)
    let history = ProgramPaths(environment: ProcessInfo.processInfo.environment).history.map(CommandHistory.init(path:))
    let explorer = Explorer(screen: screen, opened: opened, buffer: buffer, model: model, history: history)
    // What the person should know, once the screen is gone again as well as on it.
    for note in [caption, screen.warning].compactMap(\.self) { explorer.announce(note) }
    let status = await explorer.run(workload: workload)
    screen.close()
    try await close(explorer.live)
    if status != 0 { throw ExitCode(status) }
  }

  private static func open(
    _ configuration: CacheConfiguration, file: String, isFile: Bool = true, observers: [any CacheObserver] = []
  ) async throws -> OpenedCache {
    let clock = AdjustableClock()
    let build: OpenedCache.Build = { configuration, file in
      try await CacheBuilder.build(configuration, file: file, clock: clock, observers: observers)
    }
    do {
      let live = try await build(configuration, file)
      return OpenedCache(configuration: configuration, file: file, isFile: isFile, live: live, build: build)
    } catch let error as ConfigurationFailure {
      throw ProgramFailure(.configuration, error.description)
    }
  }

  private static func close(_ live: LiveCache) async throws {
    do { try await live.close() } catch { StandardStreams.complain("warning: closing the cache: \(error)") }
  }
}
