import CacheEngine
import CacheEngineProxy
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerText
import Synchronization

/// What the screen shows of a demonstration after so many seconds, without waiting for them.
///
/// One reader after the other asks, and time passes only while one waits. Workloads and speeds that the demonstration sets on
/// its way are left out.
enum DemoPicture {
  static func canvas(
    _ demo: Demo, _ configuration: CacheConfiguration, seconds: Int, size: Size
  ) async throws -> Canvas {
    let (clock, buffer) = (SimulatedClock(), EventBuffer(capacity: 1 << 18))
    let end = clock.now.advanced(by: .seconds(seconds))
    let exchanges = Mutex<[ServedExchange]>([])
    let served =
      demo.isServed
      ? try await ServedDemo.open(
        configuration, file: "demo \(demo.name)", clock: clock, observers: [buffer],
        observe: { _, exchange in exchanges.withLock { $0.append(exchange()) } }) : nil
    let live: LiveCache
    if let served {
      live = served.live
    } else {
      live = try await CacheBuilder.build(
        configuration, file: "demo \(demo.name)", clock: clock, observers: [buffer])
    }
    let opened = OpenedCache(configuration: configuration, file: "demo \(demo.name)", isFile: false, live: live) {
      (_, _) in live
    }
    let interpreter = Interpreter(opened, mode: .script)
    let caption = Caption()
    for step in try demo.steps() where step.at < .seconds(seconds) {
      clock.plan(after: step.at) {
        if let text = step.caption { caption.text = text }
        if let verb = step.verb, !(verb is RunVerb), !(verb is SpeedVerb) { _ = await interpreter.run(verb) }
      }
    }
    if let request = configuration.workload {
      let workload = try Workload(request)
      let rate = request.rate ?? workload.defaultRate
      _ = await clock.drive {
        await WorkloadRunner(live: live).run(workload, requests: nil, rate: rate, clients: 1, until: end)
      }
    }
    if let served { _ = await clock.drive { await served.run(for: .seconds(seconds)) } }
    // The last request ends before that or after it, depending on who answers it.
    try await clock.drive { try await clock.sleep(until: end, tolerance: nil) }
    var model = Model(configuration, title: configuration.name, now: clock.now)
    model.utcOffsetInSeconds = 0
    model.command.grammar = .commandLine
    model.caption = caption.text
    model.isAnimated = true
    model.workload = configuration.workload?.name
    if let figures = live.http {
      _ = update(&model, .served(exchanges.withLock { $0 }, figures.counts, lost: 0))
      _ = update(&model, .input(.key(.character(Page.http.key))))
    }
    let canvas = await OneFrame.canvas(model, live, buffer, size: size)
    try await live.close()
    return canvas
  }
}

/// The sentence that was told last.
private final class Caption: Sendable {
  private let value = Mutex<String?>(nil)

  var text: String? {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}
