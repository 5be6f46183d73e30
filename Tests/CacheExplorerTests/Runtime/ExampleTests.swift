import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer

/// The examples and demos under their own workloads, on a clock that runs as fast as they do.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
  private let clock = ManualClock()

  /// Builds a configuration in a folder of its own and sends it its workload, so many requests at a time.
  ///
  /// Between them time passes at the workload's rate; while they are under way it passes as fast as it can.
  private func run(
    rounds: Int, of count: Int, _ read: (String) throws -> CacheConfiguration, _ check: (LiveCache) throws -> Void
  ) async throws {
    let folder = NSTemporaryDirectory() + "example-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = try read(folder)
    let request = try #require(configuration.workload)
    var workload = try Workload(request)
    let live = try await CacheBuilder.build(configuration, file: "example", clock: clock)
    let hand = Task { [clock] in
      while !Task.isCancelled {
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(20))
        await Task.yield()
      }
    }
    for _ in 0..<rounds {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          guard case .get(let key)? = try? workload.next() else { continue }
          group.addTask { _ = try? await live.cache.get(key) }
        }
      }
      clock.advance(by: .seconds(Double(count) / (request.rate ?? 20)))
    }
    hand.cancel()
    // The hand of the clock may be waiting for somebody to wake.
    let sleeper = Task { [clock] in try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil) }
    await hand.value
    sleeper.cancel()
    try await live.close()
    try check(live)
  }

  private func example(_ name: String) throws -> (String) throws -> CacheConfiguration {
    let text = try String(contentsOf: Program.root.appending(path: "Examples/\(name)"), encoding: .utf8)
    return { folder in try ConfigurationReader.read(text, file: name, folder: folder) }
  }

  @Test("The example of all operators keeps every one of them busy")
  func operators() async throws {
    try await run(rounds: 200, of: 6, try example("operators.yaml")) { live in
      let snapshot = live.statistics.snapshot
      #expect(Set(live.operators.map(\.kind)) == Set(OperatorSpecification.words + ["lanes", "stale"]))
      #expect(snapshot.served["memory", default: 0] > 0)
      #expect(snapshot.levels["disk"]?.stale ?? 0 > 0)
      let idle: Set = ["lanes", "transformKeys", "transformValues", "postProcess", "expiry"]
      for operation in live.operators where !idle.contains(operation.kind) {
        let counts = live.operation(operation.name).counters(of: operation.kind)
        #expect(counts.contains { $0.count > 0 }, "\(operation.name) did nothing")
      }
      #expect(live.operation("capped").queued > 0)
      #expect(live.operation("breaker").timesOpened > 0)
      #expect(snapshot.pending == 0)
    }
  }

  @Test("The example of memory, disk and origin serves more and more from memory")
  func origin() async throws {
    try await run(rounds: 300, of: 1, try example("memory-disk-origin.yaml")) { live in
      let served = live.statistics.snapshot.served
      #expect(served["memory", default: 0] > served["origin", default: 0])
    }
  }

  @Test("Every demo runs its workload", arguments: Demo.all.map(\.name))
  func demos(name: String) async throws {
    let demo = try #require(Demo.named(name))
    try await run(rounds: 15, of: 4, { try demo.configuration(folder: $0) }) { live in
      #expect(live.statistics.snapshot.requests == 60)
      #expect(live.statistics.snapshot.pending == 0)
    }
  }

  @Test("The demo of all operators is the example")
  func sameOperators() throws {
    let demo = try #require(Demo.named("operators")).configuration(folder: "/")
    let file = try example("operators.yaml")("/")
    #expect(demo.allLevels.map(\.name) == file.allLevels.map(\.name))
    #expect(demo.workload == file.workload)
  }
}
