import CacheEngine
package import ExplorerCommands
package import ExplorerConfiguration
package import ExplorerState
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Carries out commands on a cache, one workload at a time beside them.
package final class Interpreter: Sendable {
  /// What `run` does.
  package enum Mode: Sendable {
    /// It starts the workload and answers at once, as the screen needs it.
    case interactive
    /// It answers when the workload has ended, as a script needs it.
    case script
  }

  /// What goes on beside the commands, of which several may be under way.
  private struct Beside {
    var workload: Task<Void, Never>?
    /// The cache in use is closed, and another one opened in its place.
    var isReplacing = false
  }

  /// A script's workload without a number ends after so many requests.
  private static let scriptedRequests = 1_000

  /// Gives keys other names in what is answered, but for the value, and in what is written into files.
  @TaskLocal private static var currentMask: KeyMask?

  let mode: Mode
  /// Refuses what changes the cache.
  private let isReadOnly: Bool
  private let opened: Mutex<OpenedCache>
  private let beside = Mutex(Beside())
  /// Is told the name of a workload that begins beside the commands, and `nil` when it has ended.
  private let onWorkload: @Sendable (String?) -> Void
  /// Is told why a workload beside the commands could not go on.
  private let onProblem: @Sendable (CommandResult) -> Void
  private let undo = Mutex<UndoRecord?>(nil)

  package init(
    _ opened: OpenedCache, mode: Mode, isReadOnly: Bool = false,
    onProblem: @escaping @Sendable (CommandResult) -> Void = { _ in },
    onWorkload: @escaping @Sendable (String?) -> Void = { _ in }
  ) {
    self.opened = Mutex(opened)
    self.mode = mode
    self.isReadOnly = isReadOnly
    self.onWorkload = onWorkload
    self.onProblem = onProblem
  }

  /// For a cache that was not made from a file, and cannot be reloaded.
  convenience init(live: LiveCache, mode: Mode) { self.init(OpenedCache(live: live), mode: mode) }

  /// What is in use: another after `load` and `reload`.
  package var current: OpenedCache { opened.withLock { $0 } }
  var live: LiveCache { current.live }
  var mask: KeyMask? { Self.currentMask }

  /// What `undo` would take back; `nil` if nothing can be taken back exactly.
  package var undoable: String? { undo.withLock { $0?.title } }

  /// Carries out a command.
  ///
  /// What concerns a screen is answered, but it is the caller who has the screen and does it, as ``Verb/request`` says.
  ///
  /// `mask`: Gives keys other names in what is answered, but for the value, and in what is written into files.
  package func run(_ verb: any Verb, mask: KeyMask? = nil) async -> CommandResult {
    var verb = verb
    if let key = verb.key { verb.key = live.key(named: key) }
    guard let mask else { return await perform(verb) }
    let undone = verb is UndoVerb ? undo.withLock { $0?.key } : nil
    let keys = [verb.key, undone].compactMap(\.self)
    let levels = live.levels
    var result = await Self.$currentMask.withValue(mask) { [verb] in await perform(verb) }
    // A level knows a key by a name that may tell as much.
    let secrets = keys + levels.flatMap { keys.map($0.storedKey) }
    result.error = result.error.map { mask.hide(secrets, in: $0) }
    // Other notes name levels only, in whose names a short key would be found.
    if undone != nil { result.note = result.note.map { mask.hide(keys, in: $0) } }
    return result
  }

  /// Why no command may write a file; `nil` if one may.
  package func refusal(toWrite file: String) -> String? {
    guard FoundFile.areSame(file, current.file) else { return nil }
    return "\(file) is the configuration in use; name another file"
  }

  private func perform(_ verb: any Verb) async -> CommandResult {
    if isReadOnly, verb.touched.isChange {
      return verb.failure("this cache was opened for reading only; open it without --read-only")
    }
    if let refusal = live.refusal(verb.touched) ?? verb.output.flatMap(refusal(toWrite:)) {
      return verb.failure(refusal)
    }
    guard verb.touched.isChange, !(verb is UndoVerb) else { return await verb.run(in: self) }
    // Only the last change can be taken back: one before it might not fit any more.
    let before = await UndoRecord(before: verb, in: live)
    let result = await verb.run(in: self)
    let record = result.outcome == .ok ? await before?.completed() : nil
    undo.withLock { $0 = record }
    return result
  }

  /// What the last command did, for the one who takes it back; nobody else can then.
  func takeUndo() -> UndoRecord? {
    undo.withLock { record in
      defer { record = nil }
      return record
    }
  }

  /// Does the work of a command, and notes how long it took and what happened on behalf of it.
  func timed(
    _ verb: String, _ body: (inout CommandResult) async throws -> Void,
    note: ([CacheEvent]) -> String? = { _ in nil }
  ) async -> CommandResult {
    let live = live
    let transcript = Transcript()
    let began = live.clock.now
    var result = CommandResult(command: verb, outcome: .ok, microseconds: 0)
    do {
      try await Transcript.$current.withValue(transcript) { try await body(&result) }
      result.note = result.note ?? note(transcript.events)
    } catch {
      result.outcome = .error
      result.error = error is CancellationError ? "it was interrupted" : String(describing: error)
      result.isRefused = error is CommandFailure
    }
    result.microseconds = Double(began.duration(to: live.clock.now).clampedNanoseconds) / 1_000
    return result
  }

  // MARK: Workloads

  /// Runs a workload beside the commands, once the one that runs has ended, which it does now.
  ///
  /// - Throws: ``CommandFailure`` while another cache is put in place of the one in use.
  func start(_ stream: Workload, _ request: WorkloadRequest, rate: Double) throws(CommandFailure) {
    try beside.withLock { beside throws(CommandFailure) in
      guard !beside.isReplacing else { throw Self.isBusy }
      let before = beside.workload
      before?.cancel()
      beside.workload = Task { [runner = WorkloadRunner(live: live), onWorkload, onProblem] in
        await before?.value
        onWorkload(request.name)
        let report = await runner.run(stream, requests: request.requests, rate: rate)
        onWorkload(nil)
        guard let problem = report.problem else { return }
        onProblem(CommandResult(command: "run", outcome: .error, microseconds: 0, error: "\(problem)"))
      }
    }
  }

  private static let isBusy = CommandFailure(
    message: "another configuration is being opened; try again when that has ended")

  /// Runs a workload to its end.
  func play(_ stream: Workload, _ request: WorkloadRequest) async -> WorkloadRunner.Report {
    await WorkloadRunner(live: live).run(stream, requests: Self.requests(of: request), rate: request.rate)
  }

  /// How many requests a workload makes that runs to its end; `nil` for as many as its file has.
  package static func requests(of workload: WorkloadRequest) -> Int? {
    workload.requests ?? (workload.file == nil ? scriptedRequests : nil)
  }

  /// Ends the workload that runs, if one does, and waits for its end.
  ///
  /// - Returns: Whether one was started, and had not been stopped to its end.
  @discardableResult
  package func stopWorkload() async -> Bool {
    let running = beside.withLock { $0.workload }
    running?.cancel()
    await running?.value
    // Not before: whoever begins or replaces something meanwhile waits for it as well.
    beside.withLock { if $0.workload == running { $0.workload = nil } }
    return running != nil
  }

  /// Waits until the workload that runs has come to its end by itself.
  package func waitForWorkload() async {
    guard let running = beside.withLock({ $0.workload }) else { return }
    await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      running.cancel()
    }
  }

  // MARK: Other caches

  /// Puts another cache in place of the one in use, which is closed first: both may want one directory.
  package func use(_ configuration: CacheConfiguration, file: String, for verb: String) async -> CommandResult {
    let isAlone = beside.withLock { beside in
      defer { beside.isReplacing = true }
      return !beside.isReplacing
    }
    guard isAlone else {
      return CommandResult(
        command: verb, outcome: .error, microseconds: 0, error: Self.isBusy.message, isRefused: true)
    }
    defer { beside.withLock { $0.isReplacing = false } }
    let old = current
    let hasStopped = await stopWorkload()
    undo.withLock { $0 = nil }
    do {
      try await old.live.close()
      let live = try await old.build(configuration, file)
      let new = OpenedCache(configuration: configuration, file: file, isFile: true, live: live, build: old.build)
      opened.withLock { $0 = new }
      return CommandResult(command: verb, outcome: .ok, microseconds: 0, note: new.changes(from: old))
    } catch {
      let outcome = await reopen(old)
      var result = CommandResult(
        command: verb, outcome: .error, microseconds: 0,
        error: "\(error); the cache of before \(outcome)" + (hasStopped ? ", and the workload has ended" : ""),
        isRefused: true)
      result.hasStartedOver = true
      return result
    }
  }

  /// Goes back to what worked; what was on disk is there.
  ///
  /// - Returns: What has become of it, in words.
  private func reopen(_ old: OpenedCache) async -> String {
    guard let configuration = old.configuration else { return "could not be opened again" }
    do {
      let live = try await old.build(configuration, old.file)
      opened.withLock { $0.live = live }
      return "is open again" + (live.levels.contains { $0.kind == "memory" } ? ", with empty memory" : "")
    } catch {
      return "could not be opened again: \(error)"
    }
  }

  /// Puts a cache of another program, reached again, in place of the one in use.
  package func use(_ live: LiveCache) async {
    // Before anything is awaited: what is run meanwhile belongs to this one.
    opened.withLock { $0.live = live }
    undo.withLock { $0 = nil }
    await stopWorkload()
  }

  /// What a screen is told of a configuration that has come into force, or is in force again.
  func replacement(_ result: CommandResult) -> [ScreenRequest] {
    let opened = current
    guard let configuration = opened.configuration else { return [] }
    var news: [ScreenRequest] = [.show(.replaced(Replacement(configuration, file: opened.file, isFile: opened.isFile)))]
    if let note = result.note { news.append(.announce(note, .notice)) }
    if result.outcome == .ok, let workload = configuration.workload { news.append(.start(workload)) }
    return news
  }
}

extension LiveCache {
  /// The level of that name, or the whole.
  func target(_ name: String?) throws -> BasicCache<String, Data> { try name.map { try existing($0).level } ?? cache }

  /// - Throws: ``CommandFailure`` if there is no such level.
  func existing(_ name: String) throws -> Level {
    if let level = level(named: name) { return level }
    let known = levels.map(\.name).joined(separator: ", ")
    throw CommandFailure(message: "there is no level “\(name)”; the levels are \(known)")
  }

  /// - Throws: ``CommandFailure`` if its speed cannot be set.
  var settableClock: AdjustableClock {
    get throws {
      guard let pace else {
        throw CommandFailure(message: "the clock of this cache cannot be set; open it with cache-explorer")
      }
      return pace
    }
  }
}
