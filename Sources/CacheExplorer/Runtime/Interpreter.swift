import CacheEngine
import Synchronization

/// Carries out commands on a cache, one workload at a time beside them.
final class Interpreter: Sendable {
  /// What `run` does.
  enum Mode: Sendable {
    /// It starts the workload and answers at once, as the screen needs it.
    case interactive
    /// It answers when the workload has ended, as a script needs it.
    case script
  }

  /// A script's workload without a number ends after so many requests.
  private static let scriptedRequests = 1_000

  private let executor: CommandExecutor
  private let runner: WorkloadRunner
  private let mode: Mode
  private let workload = Mutex<Task<Void, Never>?>(nil)

  init(live: LiveCache, mode: Mode) {
    executor = CommandExecutor(live: live)
    runner = WorkloadRunner(live: live)
    self.mode = mode
  }

  private var live: LiveCache { executor.live }

  /// Carries out a command.
  ///
  /// `log`, `help` and `quit` are answered, but it is the caller who shows less, shows help and leaves.
  func run(_ command: Command) async -> CommandResult {
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
    case .log(let level): answer("log", note: "lines from \(level) on are shown")
    case .stats: answer("stats", note: live.summary)
    case .help(let verb): answer("help", note: Verb.help(verb))
    case .quit: answer("quit")
    }
  }

  /// Ends the workload that runs, if one does, and waits for its end.
  func stopWorkload() async {
    let running = workload.withLock { workload in
      defer { workload = nil }
      return workload
    }
    running?.cancel()
    await running?.value
  }

  private func stop() async -> CommandResult {
    let isRunning = workload.withLock { $0 != nil }
    await stopWorkload()
    return answer("stop", note: isRunning ? "the workload is stopped" : "no workload was running")
  }

  private func start(_ request: WorkloadRequest) async -> CommandResult {
    guard let stream = Workload(request) else {
      var result = answer("run")
      result.outcome = .error
      result.error = "there is no workload “\(request.name)”"
      return result
    }
    await stopWorkload()
    switch mode {
    case .interactive:
      let rate = request.rate ?? stream.defaultRate
      let task = Task { [runner] in _ = await runner.run(stream, requests: request.requests, rate: rate) }
      workload.withLock { $0 = task }
      return answer(
        "run",
        note:
          "\(request.name) runs at \(rate == rate.rounded() ? "\(Int(rate))" : "\(rate)") requests a second; “stop” ends it"
      )
    case .script:
      let began = live.clock.now
      let report = await runner.run(stream, requests: request.requests ?? Self.scriptedRequests, rate: request.rate)
      var result = answer("run", note: "\(report.requests) requests, \(report.failures) failed")
      result.microseconds = Int(began.duration(to: live.clock.now).clampedNanoseconds / 1_000)
      return result
    }
  }

  private func answer(_ verb: String, note: String? = nil) -> CommandResult {
    CommandResult(command: verb, outcome: .ok, microseconds: 0, note: note)
  }
}
