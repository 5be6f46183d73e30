import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerState

/// Commands that are under way at the same time, as they are on a screen.
struct InterpreterTests {
  private let configuration: CacheConfiguration

  init() throws { configuration = try ConfigurationReader.read("levels: [memory]", file: "c.yaml", folder: "/") }

  @Test("A workload that begins beside another one ends that first")
  func twoWorkloads() async throws {
    let live = try await CacheBuilder.build(configuration, file: "c.yaml")
    let told = Mutex<[String?]>([])
    let interpreter = Interpreter(
      OpenedCache(live: live), mode: .interactive, onWorkload: { name in told.withLock { $0.append(name) } })
    for name in ["loop", "scan"] {
      let request = WorkloadRequest(name: name)
      try interpreter.start(try Workload(request), request, rate: 1_000)
    }
    try await turns { told.withLock { $0.contains("scan") } }
    await interpreter.stopWorkload()
    #expect(told.withLock { $0 } == ["loop", nil, "scan", nil])
    try await live.close()
  }

  @Test("While another configuration is opened, no third one is, and no workload begins on the one that is closed")
  func oneAtATime() async throws {
    let live = try await CacheBuilder.build(configuration, file: "c.yaml")
    let gate = Gate()
    let opened = OpenedCache(configuration: configuration, file: "c.yaml", isFile: true, live: live) {
      try await gate.pass()
      return try await CacheBuilder.build($0, file: $1)
    }
    let interpreter = Interpreter(opened, mode: .interactive)
    let first = Task { [configuration] in await interpreter.use(configuration, file: "d.yaml", for: "load") }
    await gate.arrivals(1)
    let refusals = Mutex<[CommandResult]>([])
    let others = Task { [configuration] in
      let run = await interpreter.run(RunVerb(WorkloadRequest(name: "scan")))
      refusals.withLock { $0.append(run) }
      let load = await interpreter.use(configuration, file: "e.yaml", for: "load")
      refusals.withLock { $0.append(load) }
    }
    try await turns { refusals.withLock { $0.count == 2 } }
    gate.open()
    await others.value
    for refusal in refusals.withLock({ $0 }) {
      #expect(refusal.error == "another configuration is being opened; try again when that has ended")
      #expect(refusal.isRefused && !refusal.hasStartedOver)
    }
    #expect(await first.value.outcome == .ok)
    #expect(interpreter.current.file == "d.yaml")
    #expect(await interpreter.run(RunVerb(WorkloadRequest(name: "mixed"))).outcome == .ok)
    await interpreter.stopWorkload()
    try await interpreter.live.close()
  }

  // MARK: A workload that does not end at once

  /// A cache whose requests do not end when they are cancelled, but when they are let.
  private final class Held: Sendable {
    let gate = Gate()
    private let notes = Mutex<[String]>([])
    private let isCancelled = Mutex(false)

    var log: [String] { notes.withLock { $0 } }

    func note(_ text: String) { notes.withLock { $0.append(text) } }

    /// Waits until a request is told to end.
    func isToldToEnd() async throws { try await turns { isCancelled.withLock { $0 } } }

    func live(_ name: String) -> LiveCache {
      let level = ScriptedLevel<String, Data> { _ in
        await withTaskCancellationHandler {
          await Task { _ = try? await self.gate.pass() }.value
        } onCancel: {
          self.isCancelled.withLock { $0 = true }
        }
        self.note("\(name) answers")
        return .miss(.absent)
      }
      return LiveCache(
        cache: level.normalize(),
        levels: [
          LiveCache.Level(
            name: name, kind: "memory", level: level.normalize(), storage: nil, isSource: false,
            faults: FaultInjector(), close: { self.note("\(name) closes") })
        ], operators: [], figures: RecentFigures(), clock: SystemClock(), openedAt: SystemClock().now)
    }

    /// With a workload of one request, which is under way.
    func interpreter() async throws -> Interpreter {
      let interpreter = Interpreter(
        OpenedCache(live: live("old")), mode: .interactive, onWorkload: { self.note($0 ?? "none") })
      _ = await interpreter.run(RunVerb(WorkloadRequest(name: "scan", requests: 1)))
      await gate.arrivals(1)
      return interpreter
    }
  }

  /// It makes one request, and then none before it is stopped.
  private let next = RunVerb(WorkloadRequest(name: "loop", rate: 1e-6))

  @Test("A workload that waits for the one before it is the one that “stop” stops")
  func stoppedWhileItWaits() async throws {
    let held = Held()
    let interpreter = try await held.interpreter()
    let answer = Mutex<CommandResult?>(nil)
    let run = Task { [next] in
      let result = await interpreter.run(next)
      answer.withLock { $0 = result }
    }
    try await turns { answer.withLock { $0?.outcome } == .ok }
    async let stop = interpreter.run(StopVerb())
    held.gate.open()
    #expect(await stop.note == "the workload is stopped")
    await run.value
    #expect(await interpreter.run(StopVerb()).note == "no workload was running")
    #expect(held.log.filter { $0 != "old answers" } == ["scan", "none", "loop", "none"])
  }

  @Test("A workload that begins while another one is being stopped begins when that has ended, and goes on")
  func runWhileStopping() async throws {
    let held = Held()
    let interpreter = try await held.interpreter()
    async let stop = interpreter.run(StopVerb())
    try await held.isToldToEnd()
    #expect(await interpreter.run(next).outcome == .ok)
    held.gate.open()
    #expect(await stop.note == "the workload is stopped")
    try await turns { held.log.count == 5 }
    #expect(held.log == ["scan", "old answers", "none", "loop", "old answers"])
    #expect(await interpreter.run(StopVerb()).note == "the workload is stopped")
    #expect(held.log.last == "none")
  }

  @Test("No cache is closed under the requests of a workload that is being stopped")
  func loadWhileStopping() async throws {
    let held = Held()
    let interpreter = try await held.interpreter()
    async let stop = interpreter.run(StopVerb())
    try await held.isToldToEnd()
    async let load = interpreter.use(configuration, file: "d.yaml", for: "load")
    let none = RunVerb(WorkloadRequest(name: "loop", requests: 0))
    try await turns { await interpreter.run(none).isRefused || held.log.contains("old closes") }
    // For whoever would close it by now.
    for _ in 0..<1_000 { await Task.yield() }
    held.gate.open()
    _ = await (stop, load)
    #expect(held.log.filter { $0 != "none" && $0 != "loop" } == ["scan", "old answers", "old closes"])
  }

  @Test("What is run while an app is attached again belongs to that app")
  func runWhileReaching() async throws {
    let held = Held()
    let interpreter = try await held.interpreter()
    async let use: Void = interpreter.use(held.live("new"))
    try await held.isToldToEnd()
    #expect(await interpreter.run(next).outcome == .ok)
    held.gate.open()
    await use
    try await turns { held.log.count == 5 }
    #expect(held.log == ["scan", "old answers", "none", "loop", "new answers"])
    await interpreter.stopWorkload()
  }
}
