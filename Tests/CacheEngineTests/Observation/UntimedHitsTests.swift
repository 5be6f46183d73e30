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

  @Test("One of 64 hits that are answered at once is timed, and stands for the others", arguments: [false, true])
  func sampled(asEntries: Bool) async throws {
    let (statistics, clock) = (CacheStatistics(), TurningClock())
    let level = try await filled().observed(as: "memory", by: statistics, clock: clock)
    // On one thread, as long as nothing waits.
    func read(_ count: Int) {
      for _ in 0..<count { _ = asEntries ? level.peekEntry(1)?.value : level.toldPeek(1) }
    }
    #expect(UntimedHits.each == 64)
    read(1)
    #expect((clock.readings, statistics.snapshot.levels["memory"]?.hits) == (2, 1))
    read(UntimedHits.each - 1)
    // Asked in between, they are not counted twice.
    #expect((clock.readings, statistics.snapshot.levels["memory"]?.hits) == (2, UntimedHits.each))
    read(UntimedHits.each)
    let counted = try #require(statistics.snapshot.levels["memory"])
    let hits = 2 * UntimedHits.each
    #expect(clock.readings == 4)
    #expect((counted.lookups, counted.hits, counted.pending) == (hits, hits, 0))
    #expect((counted.hitLatency.count, counted.hitLatency.sum) == (UInt64(hits), .milliseconds(hits)))
    // Two levels of one name, which have one place.
    _ = try await filled().observed(as: "memory", by: statistics, clock: clock).get(1)
    #expect(statistics.snapshot.levels["memory"]?.hits == hits + 1)
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

  @Test("Of the hits of threads that have one place together none is lost, nor of those that come after they ended")
  func sharedPlace() async throws {
    let hits = UntimedHits()
    let (threads, each) = (4, 50_000)
    for round in 1...3 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<threads {
          group.addTask {
            try await withCheckedThrowingContinuation { continuation in
              do {
                try OwnThread.start("reader \(number)") {
                  for _ in 0..<each { if hits.isNextTimed(0) { hits.count(0, nanoseconds: 1) } else { hits.count(0) } }
                  continuation.resume()
                }
              } catch { continuation.resume(throwing: error) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(hits.take(0) == (threads * each, 1), "in round \(round)")
    }
  }
}
