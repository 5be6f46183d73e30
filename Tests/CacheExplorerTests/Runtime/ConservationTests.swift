import CacheEngine
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// A real cache under load, looked at while it works.
struct ConservationTests {
  @Test("Under load everything adds up at every moment, with what is lost counted", arguments: [16_384, 60])
  func addsUp(capacity: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "conservation-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - memory: { capacity: 24 KiB, expiry: 40ms }
        - conditioned:
            when: { not: { suffix: "9" } }
            level: { disk: { directory: cache, capacity: 4 MiB, expiry: 90ms } }
        - pooled:
            retry:
              attempts: 2
              delay: 1ms
              level:
                capped: { limit: 4, level: { origin: { latency: 0ms..3ms, failures: 10%, size: 1 KiB, seed: 3 } } }
      """, file: "load.yaml", folder: folder.path)
    let buffer = EventBuffer(capacity: capacity)
    let live = try await CacheBuilder.build(configuration, file: "load.yaml", observers: [buffer])
    var model = Model(configuration, title: "load", now: live.clock.now)
    let workload = try Workload(WorkloadRequest(name: "zipf", seed: 5, keys: 80))
    let end = "the end of the load"
    let running = Task {
      _ = await WorkloadRunner(live: live).run(workload, requests: 3_000, rate: nil)
      // The newest event is never the one that is dropped.
      buffer.record(CacheEvent(time: live.clock.now, key: end, kind: .lookupBegan))
    }
    var looks = 0
    var isOver = false
    while !isOver {
      await buffer.waitForEvents()
      let batch = buffer.drain()
      isOver = batch.events.last?.key == end
      for start in stride(from: 0, to: batch.events.count, by: 7) {
        let part = Array(batch.events[start..<min(start + 7, batch.events.count)])
        _ = update(&model, .events(part, lost: start == 0 ? batch.lost : 0))
        looks += 1
        if let fault = Conservation.fault(in: model.live) {
          Issue.record("after \(model.live.eventCount) events: \(fault)")
          isOver = true
          break
        }
      }
    }
    await running.value
    #expect(Conservation.fault(in: model.live) == nil)
    #expect(looks > 0)
    if capacity > 10_000, model.live.lost == 0 {
      #expect(model.live.requests.count.requests == 3_000)
      #expect(model.live.requests.count.pending == 0)
      #expect(model.live.traffic.allSatisfy { $0.pending == 0 })
      // What the screen counted from events is what the engine counted.
      for (level, traffic) in zip(model.live.levels, model.live.traffic) {
        let engine = try #require(live.statistics.snapshot.levels[level.name])
        #expect(engine.lookups == traffic.lookups && engine.hits == traffic.hits)
      }
    }
    try await live.close()
  }
}
