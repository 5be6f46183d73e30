#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Two caches under the same requests.
extension Session {
  private static let mostTraceBytes = 1 << 30

  /// Runs a trace through both in turn, and prints what differs.
  ///
  /// - Throws: ``ProgramFailure`` if the trace cannot be read to its end, or a level not be opened.
  static func compare(
    _ sides: [CacheConfiguration], files: [String], request: WorkloadRequest, drive: TraceDrive, runs: Int,
    format: ScriptRunner.Format, isStrict: Bool
  ) async throws {
    let folder = try ScratchFolder.compare.make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let trace = request.file ?? request.name
    let path = try readable(trace, folder: folder)
    var request = request
    request.file = path
    if isStrict {
      for (side, file) in zip(sides, files) {
        let opened = try await open(
          side.moved(to: folder.appending(path: "check").path, run: 0), file: file, isStrict: true)
        try await close(opened.live)
      }
    }
    let work = Task { [request] in
      var results: [[ComparedRun]] = [[], []]
      for run in 0..<runs {
        // The sides take turns to go first, so that what went before helps neither.
        for side in run.isMultiple(of: 2) ? [0, 1] : [1, 0] {
          guard !Task.isCancelled else { return results }
          let place = folder.appending(path: "\(side)-\(run)").path
          results[side].append(
            try await ComparedRun.of(
              sides[side], file: files[side], request, drive: drive, folder: place, number: run))
        }
      }
      return results
    }
    let interruption = Interruption { work.cancel() }
    let result = await work.result
    if let status = interruption.status { throw ExitCode(status) }
    let results: [[ComparedRun]]
    do { results = try result.get() } catch let failure as ConfigurationFailure {
      throw ProgramFailure(.configuration, failure.description)
    } catch { throw ProgramFailure(.usage, "\(error)") }
    if let problem = results.joined().lazy.compactMap(\.problem).first {
      throw ProgramFailure(.usage, "\(problem)".replacing(path, with: StandardStreams.name(of: trace)))
    }
    let report = ComparisonReport(files: files, trace: trace, sides: results)
    guard report.requests > 0 else {
      throw ProgramFailure.noRequest(in: StandardStreams.name(of: trace), skipped: results.joined().first?.skipped ?? 0)
    }
    guard report.isOfOneTrace else {
      throw ProgramFailure(.usage, "\(trace): error: the trace changed between two runs; compare by a copy of it")
    }
    StandardStreams.say(format == .json ? report.json : report.text)
  }

  /// Opens both beside each other on the screen, under the same workload, and stays until the person leaves.
  @MainActor
  static func showBoth(
    _ sides: [CacheConfiguration], files: [String], workload: WorkloadRequest?, appearance: ScreenOptions,
    isStrict: Bool
  ) async throws {
    let environment = ProcessInfo.processInfo.environment
    if let reason = Terminal.whyPlain(environment) {
      throw ProgramFailure(
        .terminal, "error: two caches side by side need a terminal, and \(reason); give --trace FILE to compare without"
      )
    }
    var caches: [(opened: OpenedCache, buffer: EventBuffer)] = []
    do {
      for (side, file) in zip(sides, files) {
        let buffer = EventBuffer()
        caches.append((try await open(side, file: file, isStrict: isStrict, observers: [buffer]), buffer))
      }
    } catch {
      for cache in caches { try? await close(cache.opened.live) }
      throw error
    }
    let screen: Terminal
    do { screen = try terminal(appearance, environment) } catch {
      for cache in caches { try? await close(cache.opened.live) }
      throw error
    }
    let split = SplitScreen(screen)
    let explorers = zip(sides, zip(files, zip(caches, split.panes))).map { side, rest in
      let (file, (cache, pane)) = rest
      var model = Model(side, title: side.name, file: file, now: SystemClock().now)
      appearance.apply(to: &model)
      return Explorer(screen: pane, opened: cache.opened, buffer: cache.buffer, model: model)
    }
    split.sides = { explorers.map { (title: $0.model.title, hits: $0.live.hitShare) } }
    let input = Task { await split.run() }
    var status = await run(explorers, workload)
    screen.close()
    await input.value
    for explorer in explorers { status = explorer.concludeFiles(status) }
    for explorer in explorers { try await close(explorer.live) }
    if status != 0 { throw ExitCode(status) }
  }

  /// Runs both until one of them ends, which ends the other.
  @MainActor
  static func run(_ explorers: [Explorer], _ workload: WorkloadRequest?) async -> Int32 {
    let runs = explorers.map { explorer in
      Task {
        let status = await explorer.run(workload: workload)
        for other in explorers { other.end() }
        return status
      }
    }
    var status: Int32 = 0
    for run in runs { status = max(status, await run.value) }
    return status
  }

  /// Standard input can be read once only, so it is kept in a file.
  private static func readable(_ trace: String, folder: URL) throws -> String {
    guard trace == "-" else {
      guard ConfigurationFile.isOrdinary(trace) || !FileManager.default.fileExists(atPath: trace) else {
        throw ProgramFailure(
          .usage,
          "\(trace): error: every run reads the trace again, and this is not a regular file; give one, or pipe it in with --trace -"
        )
      }
      return trace
    }
    let bytes: Data
    do { bytes = try StandardStreams.readFile(trace, atMost: mostTraceBytes + 1) } catch {
      throw ProgramFailure(
        .usage, "standard input: error: the trace cannot be read (\(error)); pipe one in, or give a file")
    }
    guard bytes.count <= mostTraceBytes else {
      throw ProgramFailure(.usage, "standard input: error: the trace has more than 1 GiB; give a file")
    }
    let file = folder.appending(path: "trace")
    do { try bytes.write(to: file) } catch { throw ScratchFolder.failure }
    return file.path
  }
}
#endif
