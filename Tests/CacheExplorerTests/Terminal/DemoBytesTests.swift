import CacheEngine
import Foundation
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

#if Explorer
extension TerminalTests {
  /// A demonstration on a terminal, by a clock on which waiting takes no time.
  @Suite("Bytes of a demonstration", .serialized, .timeLimit(.minutes(10)))
  @MainActor
  struct DemoBytesTests {
    private final class Session {
      var model: Model
      var (count, pictures) = (0, 0)
      var pace = PicturePace()

      init(_ model: Model) { self.model = model }
    }

    @Test("A demonstration with twelve requests a second takes at most 3 KB a second of a terminal of 120x40")
    func bytes() async throws {
      let demo = try #require(Demo.all.first { $0.name == "stack" })
      let folder = try TemporaryFolder()
      let configuration = try demo.configuration(folder: folder.url.path())
      let (clock, buffer) = (SimulatedClock(), EventBuffer(capacity: 1 << 18))
      let live = try await CacheBuilder.build(configuration, file: "demo", clock: clock, observers: [buffer])
      let rig = TerminalRig(width: 120, height: 40)
      let terminal = try Terminal(rig.options())
      defer { terminal.close() }
      var model = Model(configuration, title: "demo", now: clock.now)
      (model.size, model.utcOffsetInSeconds) = (terminal.size, 0)
      let session = Session(model)
      var (before, last) = (0, 0)
      let seconds = 30
      let start = ContinuousClock.now
      for step in 1...seconds * 10 {
        clock.plan(after: .milliseconds(100) * step) { @MainActor in
          let batch = buffer.drain()
          let lines = LogLine.lines(
            for: batch.events, now: clock.now, wall: clock.timeSinceEpoch, first: session.count + 1)
          session.count += batch.events.count
          let tick = Message.tick(clock.now, wall: clock.timeSinceEpoch)
          for message in [tick, .events(batch.events, lost: 0), .log(lines, lost: 0), .usage(live.usage)] {
            _ = update(&session.model, message)
          }
          session.pace.note(batch.events.count, in: .milliseconds(100))
          let now = start + .milliseconds(100) * step
          guard session.pace.wait(isAsked: false, at: now) == nil else { return }
          var canvas = Canvas(session.model.size)
          view(session.model, on: &canvas)
          let drawn = terminal.bytesWritten
          terminal.show(canvas)
          session.pictures += 1
          session.pace.drew(terminal.bytesWritten - drawn, at: now)
          _ = rig.read(terminal)
          if step <= 50 { before = terminal.bytesWritten }
          last = terminal.bytesWritten
        }
      }
      let workload = try Workload(try #require(configuration.workload))
      _ = await clock.drive {
        await WorkloadRunner(live: live).run(workload, requests: 12 * seconds + 12, rate: 12, clients: 1)
      }
      try await live.close()
      #expect(session.count > 1_000)
      #expect(session.pictures > seconds / 2, "more than one picture every two seconds")
      let rate = (last - before) / (seconds - 5)
      #expect(rate <= 3_000, "\(rate) B/s")
    }
  }
}
#endif
