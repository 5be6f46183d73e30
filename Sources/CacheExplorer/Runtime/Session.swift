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
    let live = try await build(configuration, file: file)
    await ScriptRunner(live: live, format: format, print: { StandardStreams.say($0) }).play(commands)
    try await close(live)
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
    var model = Model(configuration, title: configuration.name, file: file, now: SystemClock().now)
    // The first picture does not wait for the levels: a disk may have to be read.
    model.size = screen.size
    model.wall = SystemClock().timeSinceEpoch
    var canvas = Canvas(screen.size)
    view(model, on: &canvas)
    screen.show(canvas)
    let live: LiveCache
    do { live = try await build(configuration, file: file, observers: [buffer]) } catch {
      screen.close()
      throw error
    }
    let reloading = Explorer.Reloading(
      configuration: configuration, file: file,
      isFile: caption == nil,
      build: { try await build($0, file: file, observers: [buffer]) })
    let explorer = Explorer(
      screen: screen, live: live, buffer: buffer, model: model, reloading: reloading,
      models: configuration.models.map { ModelShow($0, clock: live.clock) })
    // What the person should know, once the screen is gone again as well as on it.
    for note in [caption, screen.warning].compactMap(\.self) { explorer.announce(note) }
    let status = await explorer.run(workload: workload)
    screen.close()
    try await close(explorer.live)
    if status != 0 { throw ExitCode(status) }
  }

  private static func build(
    _ configuration: CacheConfiguration, file: String, observers: [any CacheObserver] = []
  ) async throws -> LiveCache {
    do { return try await CacheBuilder.build(configuration, file: file, observers: observers) } catch let error
      as ConfigurationFailure
    { throw ProgramFailure(.configuration, error.description) }
  }

  private static func close(_ live: LiveCache) async throws {
    do { try await live.close() } catch { StandardStreams.complain("warning: closing the cache: \(error)") }
  }
}
