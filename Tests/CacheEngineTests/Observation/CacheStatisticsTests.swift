import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheCore

/// Counts that many threads make at once.
struct CacheStatisticsTests {
  @Test("Whatever many threads count at once is all counted, and adds up at every moment")
  func exact() async {
    let statistics = CacheStatistics()
    let (tasks, each) = (8, 2_000)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0..<each { Self.read(UInt64(task * each + number), into: statistics) }
        }
      }
      group.addTask {
        for _ in 0..<50 {
          let level = statistics.snapshot.levels["memory"] ?? .init()
          #expect(level.lookups == level.answered + level.cancelled + level.pending)
        }
      }
    }
    let (counts, level) = (statistics.snapshot, statistics.snapshot.levels["memory"] ?? .init())
    #expect(counts.requests == tasks * each)
    #expect(counts.served == ["memory": tasks * each / 2])
    #expect(counts.missed == tasks * each / 2)
    #expect((level.hits, level.missed, level.pending) == (tasks * each / 2, tasks * each / 2, 0))
    #expect(level.latency.count == UInt64(tasks * each))
    #expect(level.latency.max == .microseconds(9))
  }

  @Test("Statistics that count for themselves count what they would be told", arguments: 0..<10 as Range<UInt64>)
  func countsAsTold(seed: UInt64) async throws {
    /// Statistics that somebody stands before, so that events are made for them.
    struct Told: CacheObserver {
      let statistics: CacheStatistics
      func record(_ event: CacheEvent) { statistics.record(event) }
    }
    func walk(_ statistics: CacheStatistics, _ observer: any CacheObserver) async throws -> CacheStatistics.Snapshot {
      let clock = ManualClock()
      let source = ScriptedLevel<Int, Int> { key in
        clock.advance(by: .microseconds(key))
        if key % 7 == 3 { throw CacheError(.simulated, "down") }
        if key % 7 == 5 { throw CancellationError() }
        return key % 7 == 4 ? .miss(.refused) : .hit(Entry(key))
      }
      // By order of use, since what the default keeps depends a little on the hashes of each table.
      let cache = MemoryCacheLevel<Int, Int>(
        countLimit: 8, eviction: .lru, expiry: .after(.milliseconds(1)), clock: clock
      )
      .observed(as: "memory", by: observer, clock: clock)
      .compose(
        MemoryCacheLevel<Int, Int>(countLimit: 16, eviction: .lru, clock: clock)
          .observed(as: "more", by: observer, clock: clock)
      )
      .compose(source.observed(as: "source", by: observer, clock: clock).pooled(observer: observer, clock: clock))
      .traced(by: observer, clock: clock)
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<300 {
        let key = Int.random(in: 0..<30, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: try await cache.remove(key)
        case 1: try await cache.set(key, forKey: key)
        case 2: await cache.onMemoryWarning()
        case 3: _ = try? await cache.lookup(key)
        case 4: clock.advance(by: .microseconds(300))
        default: _ = try? await cache.get(key)
        }
      }
      return statistics.snapshot
    }
    let (own, told) = (CacheStatistics(), CacheStatistics())
    let counted = try await walk(own, own)
    #expect(try await walk(told, Told(statistics: told)) == counted)
    #expect(counted.levels["memory"]?.hits ?? 0 > 20 && counted.levels["source"]?.errors ?? 0 > 0)
  }

  @Test("reads that joined a load are forgotten with their end, or in time if nobody tells it")
  func joinedWithoutEnd() {
    let statistics = CacheStatistics()
    func tell(_ kind: CacheEvent.Kind, of number: UInt64) {
      statistics.record(CacheEvent(time: CacheInstant(nanoseconds: 0), request: RequestID(number), kind: kind))
    }
    for number in 1...10_000 {
      tell(.flightJoined(callers: 2), of: UInt64(number))
      tell(.operated(.refreshEnded(.zero, error: nil)), of: UInt64(number))
    }
    #expect(statistics.joiningReads == 0)
    for number in 20_000...200_000 { tell(.flightJoined(callers: 2), of: UInt64(number)) }
    #expect(statistics.joiningReads <= 1 << 16)
    tell(.requestBegan(.get), of: 200_000)
    tell(.requestEnded(.get, .hit(level: "memory"), .zero), of: 200_000)
    #expect(statistics.snapshot.joined == 1)
    #expect(statistics.snapshot.served == [:])
  }

  /// Every second one is a hit.
  private static func read(_ number: UInt64, into statistics: CacheStatistics) {
    func tell(_ kind: CacheEvent.Kind, _ level: String?) {
      statistics.record(
        CacheEvent(time: CacheInstant(nanoseconds: 0), request: RequestID(number), level: level, key: "a", kind: kind))
    }
    let latency = Duration.microseconds(Int64(number % 10))
    tell(.requestBegan(.get), nil)
    tell(.lookupBegan, "memory")
    tell(number % 2 == 0 ? .hit(cost: 1, deadline: nil, latency) : .miss(.absent, latency), "memory")
    tell(.requestEnded(.get, number % 2 == 0 ? .hit(level: "memory") : .miss(.absent), latency), nil)
  }

  @Test("A read that joined another's load is served by nobody, on whatever thread it ends")
  func joined() async throws {
    let statistics = CacheStatistics()
    let clock = ManualClock()
    let gate = Gate()
    let source = ScriptedLevel<String, Int>(name: "source") { _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = source.observed(as: "source", by: statistics, clock: clock).pooled(observer: statistics, clock: clock)
      .traced(by: statistics, clock: clock)
    let reads = (0..<5).map { _ in Task { try await cache.get("a") } }
    try await turns { statistics.snapshot.pool.joined >= 4 }
    gate.open()
    for read in reads { #expect(try await read.value == 1) }
    let counts = statistics.snapshot
    #expect(counts.served == ["source": 1])
    #expect(counts.joined == 4)
    #expect(counts.requests == 5 && counts.pending == 0)
    // The next one reads for itself.
    _ = try await cache.get("b")
    #expect(statistics.snapshot.served == ["source": 2])
  }

  @Test(
    "A failed read of an upper level counts once, whoever tells of it: the level, the composition or both",
    arguments: [true, false])
  func failingUpper(isObserved: Bool) async throws {
    let statistics = CacheStatistics()
    let broken = ScriptedLevel<String, Int>(name: "memory") { _ in throw CacheError(.simulated, "no") }
    let upper = isObserved ? broken.observed(as: "memory", by: statistics).normalize() : broken.normalize()
    let cache = upper.compose(ScriptedLevel<String, Int>(name: "disk") { _ in .hit(Entry(1)) }, observer: statistics)
    #expect(try await cache.get("a") == 1)
    let counts = try #require(statistics.snapshot.levels["memory"])
    #expect(counts.lookups == 1 && counts.errors == 1 && counts.pending == 0)
  }

  @Test("What came between two moments, added to the first, is the second")
  func differences() {
    let statistics = CacheStatistics()
    for number in 0..<20 { Self.read(UInt64(number), into: statistics) }
    statistics.record(event(.operated(.queued(running: 3, waiting: 2)), "cap"))
    statistics.record(event(.operated(.circuit(.open)), "breaker"))
    statistics.record(event(.removed(.evicted, cost: 1), "memory"))
    let first = statistics.snapshot
    #expect(first.since(first) == CacheStatistics.Snapshot())
    #expect(first.since(CacheStatistics.Snapshot()) == first)
    for number in 20..<31 { Self.read(UInt64(number), into: statistics) }
    statistics.record(event(.operated(.released(running: 1, waiting: 0)), "cap"))
    statistics.record(event(.operated(.circuit(.halfOpen)), "breaker"))
    statistics.record(event(.removed(.evicted, cost: 1), "disk"))
    statistics.record(event(.requestBegan(.set), nil))
    let second = statistics.snapshot
    let between = second.since(first)
    #expect(between.requests == 11)
    #expect(between.operators["cap"]?.running == -2)
    #expect(between.operators["breaker"]?.circuit == .halfOpen)
    var sum = first
    sum += between
    #expect(sum == second)
  }

  @Test("Counts come out of JSON as they went in; those that nobody could have counted are refused")
  func coding() throws {
    let statistics = CacheStatistics()
    for number in 0..<20 { Self.read(UInt64(number), into: statistics) }
    for event in [
      event(.operated(.queued(running: 3, waiting: 2)), "cap"), event(.operated(.circuit(.halfOpen)), "breaker"),
      event(.removed(.memoryWarning, cost: 1), "memory"), event(.requestBegan(.set), nil), event(.flightBegan, "pool"),
      event(.requestEnded(.get, .cancelled, .zero), nil), event(.miss(.refused, .zero), "memory"),
      event(.stored(.set, cost: 1, deadline: nil, .zero), "disk"),
      event(.stored(.backFill, cost: 1, deadline: nil, .zero), "disk"),
      event(.stored(.backFill, cost: 1, deadline: nil, .zero), "disk"), event(.failed(.set, "x", .zero), "disk"),
      event(.failed(.get, "x", .seconds(3)), "disk"), event(.operated(.servedStale(deadline: nil)), "disk"),
    ] { statistics.record(event) }
    let counts = statistics.snapshot
    let disk = try #require(counts.levels["disk"])
    #expect((disk.sets, disk.backFills, disk.writeErrors, disk.errors, disk.stale) == (1, 2, 1, 1, 1))
    let data = try JSONEncoder().encode(counts)
    #expect(try JSONDecoder().decode(CacheStatistics.Snapshot.self, from: data) == counts)
    #expect(String(decoding: try JSONEncoder().encode(CacheStatistics.Snapshot()), as: UTF8.self) == "{}")
    let most = Int.max
    for text in [
      "{\"requests\":\(most)}", "{\"pending\":\(Int.min)}", "{\"served\":{\"memory\":\(most)}}",
      "{\"levels\":{\"memory\":{\"misses\":{\"absent\":\(most)}}}}",
      "{\"levels\":{\"memory\":{\"removals\":{\"vanished\":1}}}}",
      "{\"operators\":{\"cap\":{\"running\":\(most)}}}",
    ] {
      #expect(throws: DecodingError.self, "\(text)") {
        try JSONDecoder().decode(CacheStatistics.Snapshot.self, from: Data(text.utf8))
      }
    }
  }

  @Test("Counts that were made elsewhere, piece by piece, are the same when they are added")
  func added() {
    let (there, here) = (CacheStatistics(), CacheStatistics())
    there.record(event(.operated(.queued(running: 9, waiting: 2)), "cap"))
    var told = there.snapshot.withoutStates
    for number in 0..<10 {
      Self.read(UInt64(number), into: there)
      there.record(event(.operated(.admitted(running: number, waiting: 1)), "cap"))
      here.add(there.snapshot.since(told))
      told = there.snapshot
    }
    var expected = there.snapshot
    // That one waited was before this side came.
    expected.operators["cap"]?.queued = 0
    #expect(here.snapshot == expected)
    there.forgetStates()
    #expect(there.snapshot.operators["cap"]?.running == 0)
    #expect(there.snapshot.operators["cap"]?.queued == 1)
  }

  private func event(_ kind: CacheEvent.Kind, _ level: String?) -> CacheEvent {
    CacheEvent(time: CacheInstant(nanoseconds: 7), level: level, key: "a", kind: kind)
  }

  @Test("The longest of a stretch of time is no longer than the upper end of its bucket")
  func longest() {
    var histogram = LatencyHistogram()
    histogram.record(.seconds(2))
    let earlier = histogram
    histogram.record(.milliseconds(1))
    let new = histogram.since(earlier)
    #expect(new.count == 1)
    #expect(new.max >= .milliseconds(1) && new.max < .microseconds(1_063))
    histogram.record(.seconds(3))
    #expect(histogram.since(earlier).max == .seconds(3))
    #expect(histogram.since(histogram) == LatencyHistogram())
  }

  @Test("A share that is not a number has no percentile", arguments: [Double.nan, .signalingNaN])
  func notANumber(share: Double) {
    var histogram = LatencyHistogram()
    histogram.record(.seconds(1))
    #expect(histogram.percentile(share) == nil)
    #expect(histogram.percentile(.infinity) == .seconds(1))
    #expect(histogram.percentile(-.infinity) == .seconds(1))
  }
}
