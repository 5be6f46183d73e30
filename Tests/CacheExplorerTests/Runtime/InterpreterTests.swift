import CacheEngineTesting
import Synchronization
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration

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
}
