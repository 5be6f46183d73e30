import CacheEngine
package import ExplorerModel
import ExplorerText
import Synchronization

/// Carries out commands on a cache, one workload at a time beside them.
package final class Interpreter: Sendable {
  /// What `run` does.
  package enum Mode: Sendable {
    /// It starts the workload and answers at once, as the screen needs it.
    case interactive
    /// It answers when the workload has ended, as a script needs it.
    case script
  }

  /// A script's workload without a number ends after so many requests.
  private static let scriptedRequests = 1_000

  private let mode: Mode
  /// Refuses what changes the cache.
  private let isReadOnly: Bool
  private let opened: Mutex<OpenedCache>
  private let workload = Mutex<Task<Void, Never>?>(nil)
  /// Is told the name of a workload that begins beside the commands, and `nil` when it has ended.
  private let onWorkload: @Sendable (String?) -> Void
  private let undo = Mutex<UndoRecord?>(nil)

  package init(
    _ opened: OpenedCache, mode: Mode, isReadOnly: Bool = false,
    onWorkload: @escaping @Sendable (String?) -> Void = { _ in }
  ) {
    self.opened = Mutex(opened)
    self.mode = mode
    self.isReadOnly = isReadOnly
    self.onWorkload = onWorkload
  }

  /// For a cache that was not made from a file, and cannot be reloaded.
  package convenience init(live: LiveCache, mode: Mode) { self.init(OpenedCache(live: live), mode: mode) }

  /// What is in use: another after `load` and `reload`.
  package var current: OpenedCache { opened.withLock { $0 } }
  private var live: LiveCache { current.live }
  private var executor: CommandExecutor { CommandExecutor(live: live) }

  /// What `undo` would take back; `nil` if nothing can be taken back exactly.
  package var undoable: String? { undo.withLock { $0?.title } }

  /// Carries out a command.
  ///
  /// What concerns a screen (`log`, `mark`, `filter`, `sort`, `help`, `quit`) is answered, but it is the caller who has
  /// the screen and does it.
  ///
  /// `mask`: Gives keys other names in what is answered, but for the value, and in what is written into files.
  package func run(_ command: Command, mask: KeyMask? = nil) async -> CommandResult {
    guard let mask else { return await perform(command, nil) }
    let undone = command == .undo ? undo.withLock { $0?.key } : nil
    let keys = [command.key, undone].compactMap(\.self)
    let levels = live.levels
    var result = await perform(command, mask)
    // A level knows a key by a name that may tell as much.
    let secrets = keys + levels.flatMap { keys.map($0.storedKey) }
    result.error = result.error.map { mask.hide(secrets, in: $0) }
    // Other notes name levels only, in whose names a short key would be found.
    if undone != nil { result.note = result.note.map { mask.hide(keys, in: $0) } }
    return result
  }

  private func perform(_ command: Command, _ mask: KeyMask?) async -> CommandResult {
    if isReadOnly, command.changesCache {
      return failure(
        command.verb, CommandFailure(message: "this cache was opened for reading only; open it without --read-only"))
    }
    if let refusal = live.refusal(command) { return failure(command.verb, CommandFailure(message: refusal)) }
    guard command.changesCache, command != .undo else { return await carryOut(command, mask) }
    // Only the last change can be taken back: one before it might not fit any more.
    let before = await UndoRecord(before: command, in: live)
    let result = await carryOut(command, mask)
    let record = result.outcome == .ok ? await before?.completed() : nil
    undo.withLock { $0 = record }
    return result
  }

  private func takeBack() async -> CommandResult {
    let record = undo.withLock { record in
      defer { record = nil }
      return record
    }
    guard let record else {
      return failure(
        "undo", CommandFailure(message: "nothing can be undone exactly; only a set, del or expire of one key can"))
    }
    return await executor.timed("undo") { result in
      let names = try await record.undo()
      result.note = "\(record.title) is undone in \(names.joined(separator: ", "))"
    }
  }

  private func carryOut(_ command: Command, _ mask: KeyMask?) async -> CommandResult {
    switch command {
    case .get(let key, let level): await executor.get(key, level: level)
    case .set(let key, let value, let timeToLive, let level):
      await executor.set(key, to: value, timeToLive: timeToLive, level: level)
    case .delete(let key): await executor.delete(key)
    case .clear(let level): await executor.clear(level: level)
    case .expire(let key): await executor.expire(key)
    case .warn: await executor.warn()
    case .run(let request): await start(request)
    case .stop: await stop()
    case .speed(let speed): await executor.speed(speed)
    case .advance(let duration): await executor.advance(by: duration)
    case .fault(let level, let change, let seed): await executor.fault(level, change, seed: seed)
    case .load(let file): await load(file)
    case .reload: await reload()
    case .mark(let text): answer("mark", note: text)
    case .filter(let text):
      answer("filter", note: text.isEmpty ? "every key is listed" : "keys with \(text) are listed")
    case .sort(let column): answer("sort", note: "listed by \(column)")
    case .export(_, isView: true):
      failure("export", CommandFailure(message: "there is no view without a screen; leave out --view"))
    case .export(let file, isView: false): await executor.export(to: file, mask: mask)
    case .record, .replay, .jump: failure(command.verb, Self.noScreen(for: command))
    case .undo: await takeBack()
    case .config: answer("config", note: configured)
    case .status: answer("status", note: live.status)
    case .whatIf(let level, let isReset): await executor.whatIf(level, isReset: isReset)
    case .log(let level): answer("log", note: "lines from \(level) on are shown")
    case .expect(let expectation): expect(expectation)
    case .stats: answer("stats", note: live.summary)
    case .help(let verb): answer("help", note: Verb.help(verb))
    case .quit: answer("quit")
    }
  }

  /// Ends the workload that runs, if one does, and waits for its end.
  package func stopWorkload() async {
    let running = workload.withLock { workload in
      defer { workload = nil }
      return workload
    }
    running?.cancel()
    await running?.value
  }

  /// Waits until the workload that runs has come to its end by itself.
  package func waitForWorkload() async { await workload.withLock { $0 }?.value }

  private func stop() async -> CommandResult {
    let isRunning = workload.withLock { $0 != nil }
    await stopWorkload()
    return answer("stop", note: isRunning ? "the workload is stopped" : "no workload was running")
  }

  private func start(_ request: WorkloadRequest) async -> CommandResult {
    let stream: Workload
    do { stream = try Workload(request) } catch { return failure("run", error) }
    await stopWorkload()
    switch mode {
    case .interactive:
      let rate = request.rate ?? stream.defaultRate
      let runner = WorkloadRunner(live: live)
      onWorkload(request.name)
      let task = Task {
        _ = await runner.run(stream, requests: request.requests, rate: rate)
        onWorkload(nil)
      }
      workload.withLock { $0 = task }
      let pace = rate.isFinite ? "at \(Format.number(rate)) requests a second" : "as fast as it can"
      return answer("run", note: "\(request.name) runs \(pace); “stop” ends it")
    case .script:
      let began = live.clock.now
      let requests = request.requests ?? (request.file == nil ? Self.scriptedRequests : nil)
      let report = await WorkloadRunner(live: live).run(stream, requests: requests, rate: request.rate)
      if let problem = report.problem { return failure("run", problem) }
      let made = Format.counted(report.requests, "request", isGrouped: false)
      var result = answer("run", note: "\(made), \(report.failures) failed")
      result.microseconds = Int(began.duration(to: live.clock.now).clampedNanoseconds / 1_000)
      return result
    }
  }

  private func load(_ file: String) async -> CommandResult {
    let configuration: CacheConfiguration
    do { configuration = try ConfigurationFile.load(file) } catch { return failure("load", error) }
    return await use(configuration, file: file, for: "load")
  }

  private func reload() async -> CommandResult {
    let current = current
    guard current.isFile else {
      return failure("reload", CommandFailure(message: "this cache is not from a file; load one with load CONFIG"))
    }
    let configuration: CacheConfiguration
    do { configuration = try ConfigurationFile.load(current.file) } catch { return failure("reload", error) }
    guard configuration != current.configuration else {
      return answer("reload", note: "\(current.file) has not changed")
    }
    return await use(configuration, file: current.file, for: "reload")
  }

  /// Puts another cache in place of the one in use, which is closed first: both may want one directory.
  package func use(_ configuration: CacheConfiguration, file: String, for verb: String) async -> CommandResult {
    let old = current
    await stopWorkload()
    undo.withLock { $0 = nil }
    do { try await old.live.close() } catch { return failure(verb, error) }
    do {
      let live = try await old.build(configuration, file)
      let new = OpenedCache(configuration: configuration, file: file, isFile: true, live: live, build: old.build)
      opened.withLock { $0 = new }
      return answer(verb, note: new.changes(from: old))
    } catch {
      // Back to what worked; its memory is empty now, and what was on disk is there.
      if let configuration = old.configuration, let live = try? await old.build(configuration, old.file) {
        opened.withLock { $0.live = live }
      }
      return failure(verb, error)
    }
  }

  /// Puts a cache of another program, reached anew, in place of the one in use.
  package func use(_ live: LiveCache) async {
    await stopWorkload()
    undo.withLock { $0 = nil }
    opened.withLock { $0.live = live }
  }

  private static func noScreen(for command: Command) -> CommandFailure {
    switch command {
    case .jump: CommandFailure(message: "nothing is replayed here; open a recording with replay FILE")
    case .record: CommandFailure(message: "there is no screen to record; open the configuration with --record FILE")
    default: CommandFailure(message: "there is no screen to replay on; use cache-explorer --replay FILE")
    }
  }

  private func expect(_ expectation: Expectation) -> CommandResult {
    let report: ExpectationReport
    do { report = try live.measure(expectation) } catch { return failure("expect", error) }
    var result = answer("expect", note: report.holds ? "\(report.actualText) (\(report.source))" : nil)
    result.expectation = report
    if !report.holds {
      result.outcome = .error
      result.error = report.difference
    }
    return result
  }

  /// Every value in force with its place, a line each.
  private var configured: String {
    guard let configuration = current.configuration else { return "this cache has no configuration" }
    return configuration.settings.map { setting in
      let place = setting.place.map { " (\(current.file):\($0.line))" } ?? (setting.field == nil ? "" : " (default)")
      return "\(String(repeating: "  ", count: setting.depth))\(setting.title): \(setting.value)\(place)"
    }
    .joined(separator: "\n")
  }

  private func failure(_ verb: String, _ error: any Error) -> CommandResult {
    CommandResult(command: verb, outcome: .error, microseconds: 0, error: String(describing: error), isRefused: true)
  }

  private func answer(_ verb: String, note: String? = nil) -> CommandResult {
    CommandResult(command: verb, outcome: .ok, microseconds: 0, note: note)
  }
}
