import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerState
import ExplorerText
import Synchronization

/// The explorer without a screen: a sentence for everything that happens, commands a line at a time.
///
/// For terminals that cannot place a cursor, for pipes, and for those who listen instead of looking. What comes out is never
/// anything but text.
struct PlainSession: Sendable {
  let interpreter: Interpreter
  let buffer: EventBuffer
  /// Gives keys other names, and values are not told; `nil` tells both.
  let mask: KeyMask?
  let say: @Sendable (String) -> Void

  private var live: LiveCache { interpreter.current.live }

  /// Runs until `quit`, or until there are no more commands and no workload runs.
  ///
  /// `commands`: What is typed, a line at a time.
  func run(
    _ commands: AsyncStream<String>, workload: WorkloadRequest?, steps: [DemoStep] = [], logLevel: LogLevel = .info
  ) async {
    let shown = ShownLevel(logLevel)
    let events = Task { await tellEvents(shown) }
    if let workload { say(await interpreter.run(RunVerb(workload)).sentence) }
    let play = Task {
      await DemoPlayer(steps: steps, clock: live.clock).play { step in
        if let caption = step.caption { say("demo: \(harmless(caption))") }
        guard let command = step.verb else { return }
        await answer(command, shown)
      }
    }
    var hasQuit = false
    for await line in commands {
      do {
        guard let command = try Verbs.parse(line) else { continue }
        if command is QuitVerb {
          hasQuit = true
          break
        }
        await answer(command, shown)
      } catch {
        say("error: column \(error.column + 1): \(harmless(error.description))")
      }
    }
    if hasQuit { play.cancel() }
    await withTaskCancellationHandler {
      await play.value
    } onCancel: {
      play.cancel()
    }
    // Nobody is left to stop it; one that has an end comes to it.
    if !hasQuit, !Task.isCancelled, steps.isEmpty, workload?.requests != nil || workload?.file != nil {
      await interpreter.waitForWorkload()
    }
    await interpreter.stopWorkload()
    events.cancel()
    await events.value
    tell(shown)
  }

  private func answer(_ command: any Verb, _ shown: ShownLevel) async {
    if let log = command as? LogVerb, let level = LogLevel(name: log.level) { shown.level = level }
    var result = await interpreter.run(command, mask: mask)
    if mask != nil { result.value = nil }
    say(result.sentence)
  }

  private func tellEvents(_ shown: ShownLevel) async {
    while !Task.isCancelled {
      await buffer.waitForEvents()
      tell(shown)
      try? await ContinuousClock().sleep(for: .milliseconds(50))
    }
  }

  private func tell(_ shown: ShownLevel) {
    let batch = buffer.drain()
    if batch.lost > 0 { say("notice: \(Format.counted(batch.lost, "event")) came too fast to be told") }
    let levels = live.levels
    let lines = batch.events.compactMap { event -> String? in
      guard let severity = event.severity, LogLevel(name: "\(severity)") ?? .error >= shown.level else { return nil }
      return event.sentence(mask, levels)
    }
    if !lines.isEmpty { say(lines.joined(separator: "\n")) }
  }
}

/// The least severe line that is told; `log` changes it.
private final class ShownLevel: Sendable {
  private let value: Mutex<LogLevel>

  init(_ level: LogLevel) { value = Mutex(level) }

  var level: LogLevel {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}
