import CacheEngine
import CacheEngineTesting
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@Suite struct ObservationTests {
  let clock = ManualClock()
  let observer = RecordingObserver()

  private func stack() -> (memory: MemoryCacheLevel<String, Int>, cache: some CacheLevel<String, Int>) {
    let memory = MemoryCacheLevel<String, Int>(
      clock: clock, removalListener: observer.removals(from: "memory", clock: clock))
    let origin = ScriptedLevel<String, Int> { key in
      if key == "bad" { throw CacheError(.simulated, "down") }
      return key == "none" ? .miss(.absent) : .hit(Entry(key.count))
    }
    let cache = memory.observed(as: "memory", by: observer, clock: clock)
      .compose(
        origin.observed(as: "origin", by: observer, clock: clock).pooled(observer: observer, clock: clock),
        observer: nil
      )
      .traced(by: observer, clock: clock)
    return (memory, cache)
  }

  @Test("one call can be followed through every level by its number")
  func oneRequest() async throws {
    let (_, cache) = stack()
    _ = try await cache.get("abc")
    #expect(Set(observer.events.compactMap(\.request)).count == 1)
    #expect(observer.events.allSatisfy { $0.request != nil })
    #expect(
      observer.events.map { "\($0.level ?? "-") \($0.kind)" } == [
        "- get", "memory ask", "memory miss", "pool load", "origin ask", "origin hit", "memory fill", "pool loaded",
        "- get",
      ])
    guard case .requestEnded(.get, .hit(level: "origin"), _) = observer.events.last?.kind else {
      Issue.record("the call must end with a hit at the origin")
      return
    }
  }

  @Test("a value that is there at once is told of like any other, under the number of its call")
  func toldAtOnce() async throws {
    let (memory, cache) = stack()
    try await memory.set(1, forKey: "a")
    #expect(try await cache.get("a") == 1)
    #expect(try await cache.lookup("a").entry?.level == "memory")
    #expect(
      observer.events.map { "\($0.level ?? "-") \($0.kind) \($0.key ?? "-")" } == [
        "- get a", "memory ask a", "memory hit a", "- get a", "- get a", "memory ask a", "memory hit a", "- get a",
      ])
    let numbers = observer.events.compactMap(\.request)
    #expect(numbers.count == 8 && Set(numbers.prefix(4)).count == 1 && Set(numbers).count == 2)
  }

  @Test("what is observed from outside as well begins outside and ends there, though it is there at once")
  func toldInOrder() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    try await memory.set(1, forKey: "a")
    let cache = memory.observed(as: "inner", by: observer).compose(MemoryCacheLevel())
      .observed(as: "outer", by: observer).traced(by: observer)
    #expect(try await cache.get("a") == 1)
    #expect(
      observer.events.map { "\($0.level ?? "-") \($0.kind)" } == [
        "- get", "outer ask", "inner ask", "inner hit", "outer hit", "- get",
      ])
  }

  @Test("an eviction names the key that needed the room")
  func namesWhoNeededTheRoom() async throws {
    let memory = MemoryCacheLevel<String, Int>(
      countLimit: 1, clock: clock, removalListener: observer.removals(from: "memory", clock: clock))
    try await memory.set(1, forKey: "old")
    try await memory.set(2, forKey: "new")
    #expect(observer.events.map(\.madeRoomFor) == ["new"])
    #expect(observer.events.last?.description.contains("for new") == true)
    try await memory.remove("new")
    #expect(observer.events.last?.madeRoomFor == nil)
  }

  @Test("a disk level names it too, though it evicts on a thread of its own")
  func diskNamesWhoNeededTheRoom() async throws {
    let folder = DiskFolder()
    let disk = try DiskCacheLevel<String, Data>(
      directory: folder.path, capacity: 1 << 20, clock: clock,
      removalListener: observer.removals(from: "disk", clock: clock))
    for number in 0..<12 { try await disk.set(Data(repeating: 7, count: 200_000), forKey: "key-\(number)") }
    try await disk.close()
    let evicted = observer.events.filter { if case .removed(.evicted, _) = $0.kind { true } else { false } }
    #expect(!evicted.isEmpty)
    #expect(evicted.allSatisfy { $0.madeRoomFor?.hasPrefix("key-") == true && $0.madeRoomFor != $0.key })
  }

  @Test("statistics balance: lookups and requests are the sum of their outcomes")
  func balances() async throws {
    let statistics = CacheStatistics()
    let (_, cache) = stack()
    for key in ["a", "a", "bad", "none", "b"] { _ = try? await cache.get(key) }
    try await cache.set(1, forKey: "c")
    try await cache.remove("a")
    await cache.onMemoryWarning()
    for event in observer.events { statistics.record(event) }
    let snapshot = statistics.snapshot
    let memory = try #require(snapshot.levels["memory"])
    #expect(memory.lookups == 5)
    #expect(memory.hits == 1)
    #expect(memory.misses == [.absent: 4])
    #expect(memory.backFills == 2)
    #expect(memory.sets == 1)
    #expect(memory.removals == [.removed: 1, .memoryWarning: 2])
    let origin = try #require(snapshot.levels["origin"])
    #expect(origin.lookups == 4)
    #expect(origin.errors == 1)
    #expect(origin.latency.count == 4)
    for level in snapshot.levels.values {
      #expect(
        level.lookups == level.hits + level.misses.values.reduce(0, +) + level.errors + level.cancelled + level.pending)
    }
    #expect(snapshot.served == ["memory": 1, "origin": 2])
    #expect(snapshot.requests == 5)
    #expect(snapshot.missed == 1)
    #expect(snapshot.failed == 1)
    #expect(snapshot.pending == 0)
    #expect(snapshot.pool == CacheStatistics.Pool(executions: 4))
  }

  @Test("a memory warning tells how much was given back")
  func warning() async throws {
    let (memory, cache) = stack()
    try await memory.set(1, forKey: "a")
    try await memory.set(2, forKey: "b")
    await cache.onMemoryWarning()
    let told = observer.events.compactMap { event -> String? in
      guard case .memoryWarning(let dropped, let cost, _) = event.kind else { return nil }
      return "\(event.level ?? "") \(dropped) \(cost)"
    }
    #expect(told == ["memory 2 2"])
  }

  /// What is told of a level, in words, while it is set, read, warned and emptied.
  private func told(of level: some CacheLevel<String, Int>) async throws -> [String] {
    let observer = RecordingObserver()
    let observed = level.observed(as: "level", by: observer, clock: clock)
    try await observed.set(1, forKey: "a")
    try await observed.store(2, forKey: "b", terms: StoreTerms(expiry: .after(.seconds(5))))
    _ = try await observed.lookup("a")
    await observed.onMemoryWarning()
    try await observed.remove("a")
    try await observed.clear()
    return observer.events.map { event in
      switch event.kind {
      case .stored(_, _, let deadline, _), .hit(_, let deadline, _):
        "\(event.kind) until \(deadline.map { "\($0)" } ?? "ever")"
      case .memoryWarning(let dropped, let cost, _): "\(event.kind) \(dropped) \(cost)"
      default: "\(event.kind)"
      }
    }
  }

  @Test("of a level whose type is hidden the same is told: deadlines, what a warning gave back, no write to a source")
  func erased() async throws {
    func memory() -> MemoryCacheLevel<String, Int> { MemoryCacheLevel(expiry: .after(.seconds(60)), clock: clock) }
    let plain = try await told(of: memory())
    #expect(try await told(of: memory().normalize()) == plain)
    #expect(plain.contains { $0.hasSuffix(" 2 2") }, "two entries of cost 1 each were given back")
    let jittered = try await told(of: memory().expiring(after: .seconds(9), clock: clock))
    #expect(try await told(of: memory().expiring(after: .seconds(9), clock: clock).normalize()) == jittered)
    #expect(jittered != plain)
    let source = BasicFetcher<String, Int> { _ in 1 }
    let read = try await told(of: source)
    #expect(try await told(of: source.normalize()) == read)
    #expect(read.count == 2, "a question and its answer; a source keeps nothing")
  }

  @Test("C159 a log sink of one's own receives message and level, without a main loop")
  func logOutput() async throws {
    let lines = Mutex<[String]>([])
    CacheLogger.output = { message, level in lines.withLock { $0.append("\(level) \(message)") } }
    defer { CacheLogger.output = nil }
    let level = ScriptedLevel<String, Int>().observed(as: "log-test", by: CacheLogger(), clock: clock)
    _ = try await level.get("a")
    #expect(lines.withLock { $0 }.filter { $0.contains("log-test") } == ["debug log-test miss a (absent) 0.000 ms"])

    // What operators tell of by themselves is what fails; a stale value that was asked for is no failure.
    let upper = MemoryCacheLevel<String, Int>(name: "log-upper", keepsExpired: .seconds(60), clock: clock)
    try await upper.set(1, forKey: "a", expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    let lower = ScriptedLevel<String, Int>(name: "log-lower") { _ in throw CacheError(.unreachable, "log-gone") }
    lines.withLock { $0 = [] }
    #expect(try await upper.staleIfError(lower, for: .seconds(60), clock: clock).get("a") == 1)
    let told = lines.withLock { $0 }.filter { $0.contains("log-gone") || $0.contains("log-upper") }
    #expect(!told.isEmpty)
    #expect(told.allSatisfy { $0.hasPrefix("warning ") }, "\(told)")
    try await upper.set(2, forKey: "b")
    _ = try await upper.observed(as: "log-own", by: CacheLogger(), clock: clock).get("b")
    #expect(lines.withLock { $0 }.contains { $0.hasPrefix("info log-own hit b") })
  }

  @Test("an event is one line of a log, whatever its key and its error hold")
  func oneLine() {
    let kind = CacheEvent.Kind.failed(.get, "no key a\u{2028}b", .zero)
    let event = CacheEvent(time: clock.now, request: nil, level: "disk", key: "a\r\nerror\u{1b}[2J ä\\n", kind: kind)
    #expect(event.description == #"disk get failed a\r\nerror\u{1B}[2J ä\n (no key a\u{2028}b) 0.000 ms"#)
  }

  @Test(
    "a log tells of a negative duration, as a clock that is set back or a limit that is over gives it",
    arguments: [
      (Duration.microseconds(-1_500), "-1.500 ms"), (.microseconds(-150), "-0.150 ms"), (.nanoseconds(-1), "0.000 ms"),
      (.seconds(-2), "-2000.000 ms"), (.nanoseconds(Int64.min), "-9223372036854.775 ms"),
      (.microseconds(7), "0.007 ms"),
    ])
  func negative(duration: Duration, told: String) {
    let event = CacheEvent(
      time: clock.now, request: nil, level: "slow", key: "a", kind: .operated(.timedOut(duration)))
    #expect(event.description == "slow timeout a after \(told)")
  }

  @Test("percentiles are exact to a sixteenth of themselves")
  func histogram() throws {
    var histogram = LatencyHistogram()
    for microseconds in 1...1_000 { histogram.record(.microseconds(microseconds)) }
    let median = try #require(histogram.percentile(0.5))
    #expect(median >= .microseconds(500) && median <= .microseconds(532))
    #expect(histogram.percentile(1) == .milliseconds(1))
    #expect(histogram.count == 1_000)
    #expect(LatencyHistogram().percentile(0.5) == nil)
    histogram.record(.seconds(Int64.max))
    histogram.record(.seconds(-1))
    #expect(histogram.max == .nanoseconds(Int64.max))
  }
}
