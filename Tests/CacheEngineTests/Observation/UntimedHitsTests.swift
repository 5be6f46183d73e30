import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheCore

/// Hits that are counted and not timed.
struct UntimedHitsTests {
  /// A clock on which a millisecond goes by whenever it is read.
  private final class TurningClock: CacheClock {
    private let clock = ManualClock()
    private let count = Atomic(0)
    var readings: Int { count.load(ordering: .relaxed) }
    var now: CacheInstant {
      count.wrappingAdd(1, ordering: .relaxed)
      clock.advance(by: .milliseconds(1))
      return clock.now
    }
    var timeSinceEpoch: Duration { clock.timeSinceEpoch }
    var bootIdentifier: UInt64 { clock.bootIdentifier }
    var minimumResolution: Duration { clock.minimumResolution }
    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {}
  }

  private func filled() async throws -> MemoryCacheLevel<Int, Int> {
    let memory = MemoryCacheLevel<Int, Int>(countLimit: 10)
    try await memory.set(1, forKey: 1)
    return memory
  }

  @Test("One of sixteen hits that are answered at once is timed, and stands for the others", arguments: [false, true])
  func sampled(asEntries: Bool) async throws {
    let (statistics, clock) = (CacheStatistics(), TurningClock())
    let level = try await filled().observed(as: "memory", by: statistics, clock: clock)
    // On one thread, as long as nothing waits.
    func read(_ count: Int) {
      for _ in 0..<count { _ = asEntries ? level.peekEntry(1)?.value : level.toldPeek(1) }
    }
    read(1)
    #expect((clock.readings, statistics.snapshot.levels["memory"]?.hits) == (2, 1))
    read(15)
    // Asked in between, they are not counted twice.
    #expect((clock.readings, statistics.snapshot.levels["memory"]?.hits) == (2, 16))
    read(16)
    let counted = try #require(statistics.snapshot.levels["memory"])
    #expect(clock.readings == 4)
    #expect((counted.lookups, counted.hits, counted.pending) == (32, 32, 0))
    #expect((counted.hitLatency.count, counted.hitLatency.sum) == (32, .milliseconds(32)))
    // Two levels of one name, which have one place.
    _ = try await filled().observed(as: "memory", by: statistics, clock: clock).get(1)
    #expect(statistics.snapshot.levels["memory"]?.hits == 33)
  }

  @Test("Of the hits of many threads none is lost, whoever asks meanwhile")
  func exact() async throws {
    let statistics = CacheStatistics()
    let level = try await filled().observed(as: "memory", by: statistics)
    let (tasks, each) = (12, 5_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<tasks {
        group.addTask {
          for _ in 0..<each {
            let value = try await level.get(1)
            #expect(value == 1)
          }
        }
      }
      group.addTask {
        var last = 0
        for _ in 0..<200 {
          let counted = statistics.snapshot.levels["memory"] ?? .init()
          #expect(counted.lookups == counted.hits && counted.hits >= last)
          #expect(counted.hitLatency.count == UInt64(counted.hits))
          last = counted.hits
        }
      }
      try await group.waitForAll()
    }
    let counted = try #require(statistics.snapshot.levels["memory"])
    #expect((counted.lookups, counted.hits) == (tasks * each, tasks * each))
    #expect(counted.hitLatency.count == UInt64(tasks * each))
  }
}
