import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

/// What reads wait for once they have their value, and what writes fail for.
@Suite(.timeLimit(.minutes(10))) struct BackFillTests {
  typealias Level = ScriptedLevel<String, Int>

  let clock = ManualClock()
  let observer = RecordingObserver()
  let gate = Gate()
  let origin = Level { _ in .hit(Entry(7)) }

  private var hung: Level { Level(name: "hung", onSet: { [gate] _, _ in try await gate.pass() }) }

  @Test("A read waits for its copy into a level that hangs as long as was said, and the copy goes on by itself")
  func within() async throws {
    let hung = hung
    let cache = hung.compose(origin, backFill: .within(.seconds(1)), observer: observer, clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    #expect(hung.stored("a") == nil)
    clock.advance(by: .seconds(1))
    #expect(try await reader.value == 7)
    #expect(hung.stored("a") == nil)
    let writer = Task { try await cache.set(8, forKey: "a") }
    gate.open()
    try await writer.value
    #expect(hung.stored("a")?.value == 8)
    #expect(observer.events.isEmpty)
  }

  @Test(
    "What is set between a read's miss above and its way below is its answer, and stays above",
    arguments: ["get", "get many", "get from a pool"])
  func setBetween(read: String) async throws {
    let write = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let kept = Level()
    let upper = Level(onSet: { try await kept.set($0, forKey: $1) }) { key in
      let first = write.withLock { $0.take() }
      guard let first else { return try await kept.lookup(key) }
      try await first()
      return .miss(.absent)
    }
    let plain = upper.compose(Source())
    let pooled = upper.compose(Source().pooled())
    write.withLock { write in
      write = { try await (read == "get from a pool" ? pooled.normalize() : plain.normalize()).set(8, forKey: "a") }
    }
    switch read {
    case "get": #expect(try await plain.get("a") == 8)
    case "get many": #expect(try await plain.lookup(["a"])[0].result.get().entry?.value == 8)
    default: #expect(try await pooled.get("a") == 8)
    }
    #expect(kept.stored("a")?.value == 8)
  }

  /// A source that keeps nothing, and answers many at once.
  private struct Source: BulkLevel {
    func get(_ key: String) async throws -> Int? { 7 }
    func set(_ value: Int, forKey key: String) async throws {}
    func remove(_ key: String) async throws {}
    func clear() async throws {}
    func onMemoryWarning() async {}
    func lookup(_ keys: [String]) async throws -> [BulkAnswer<String, Int>] {
      keys.map { BulkAnswer(key: $0, result: .success(.hit(Entry(7)))) }
    }
    func store(_ entries: [(key: String, value: Int)], terms: StoreTerms) async throws {}
    func remove(_ keys: [String]) async throws {}
  }

  @Test("A copy that does not suspend costs no timer, and one into memory is always waited for")
  func atOnce() async throws {
    let quick = Level(name: "quick")
    #expect(try await quick.compose(origin, backFill: .within(.zero), clock: clock).get("a") == 7)
    #expect(quick.stored("a")?.value == 7)
    let memory = MemoryCacheLevel<String, Int>()
    #expect(try await memory.compose(origin, backFill: .within(.zero), clock: clock).get("a") == 7)
    #expect(memory.peek("a") == 7)
  }

  @Test("Where too many copies are under way, one more is left out and told")
  func tooMany() async throws {
    let hung = hung
    let cache = hung.compose(origin, backFill: .within(.seconds(1), atMost: 1), observer: observer, clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    #expect(try await cache.get("b") == 7)
    #expect(hung.count(of: .set("b", .backFill)) == 0)
    let failures = observer.events.filter { if case .failed(.backFill, _, _) = $0.kind { true } else { false } }
    #expect(failures.map(\.key) == ["b"])
    gate.open()
    #expect(try await reader.value == 7)
    #expect(try await cache.get("b") == 7)
    #expect(hung.stored("b")?.value == 7)
  }

  @Test("a reader that is cancelled while it waits for its copy returns at once")
  func cancelled() async throws {
    let cache = hung.compose(origin, backFill: .within(.seconds(1)), clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }

  @Test("A copy that fails is told with the time that it took, by the clock of the composition")
  func failureIsTimed() async throws {
    let clock = clock
    let full = Level(name: "full") { _, _ in
      clock.advance(by: .milliseconds(3))
      throw CacheError(.diskWriteFailed, "full")
    }
    #expect(try await full.compose(origin, observer: observer, clock: clock).get("a") == 7)
    #expect(observer.events.map(\.description) == ["full fill failed a (full) 3.000 ms"])
    #expect(observer.events.first?.time == clock.now)
  }

  @Test("A level that is optional fails no write, and tells what it could not do")
  func optional() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let down = HookedLevel(
      base: MemoryCacheLevel<String, Int>(name: "down"), onStore: { _, _ in throw CacheError(.simulated, "down") },
      onRemove: { _ in throw CacheError(.simulated, "down") }, onClear: { throw CacheError(.simulated, "down") })
    let cache = memory.compose(
      down.circuitBreaker(failures: 1, clock: clock).optional(observer: observer, clock: clock))
    try await cache.set(1, forKey: "a")
    #expect(try await cache.get("a") == 1)
    try await cache.set(2, forKey: "a")
    try await cache.remove("a")
    #expect(memory.peek("a") == nil)
    try await cache.clear()
    let told = observer.events.map { event -> String in
      if case .failed(let operation, _, _) = event.kind { return operation.rawValue }
      return "?"
    }
    #expect(told == ["set", "set", "remove", "clear"])
  }

  @Test(
    "A write into a level that hangs fails at its limit",
    arguments: ["set", "set if absent", "remove", "clear", "tag", "keys", "copy", "copies"])
  func limitedWrites(write: String) async throws {
    let level = HookedLevel(
      base: MemoryCacheLevel<String, Int>(name: "slow"), onStore: { [gate] _, _ in try await gate.pass() },
      onRemove: { [gate] _ in try await gate.pass() }, onClear: { [gate] in try await gate.pass() })
    let cache = level.timeout(after: .seconds(9), writes: .seconds(1), observer: observer, clock: clock)
    let copies = level.compose(EmptyLevel()).timeout(
      after: .seconds(9), writes: .seconds(1), observer: observer, clock: clock)
    let writer = Task {
      switch write {
      case "set": try await cache.set(1, forKey: "a")
      case "set if absent": _ = try await cache.setIfAbsent(1, forKey: "a")
      case "remove": try await cache.remove("a")
      case "clear": try await cache.clear()
      case "tag": try await cache.removeAll(tagged: "x")
      case "keys": try await cache.removeAll { $0 == "a" }
      case "copy": try await copies.invalidate("a")
      default: try await copies.invalidateAll()
      }
    }
    await gate.arrivals(1)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: CacheError.self) { try await writer.value }
    #expect(error?.code == .timedOut)
    #expect(observer.events.map(\.key) == [["set", "set if absent", "remove", "copy"].contains(write) ? "a" : nil])
  }

  @Test("What a fallback gives is not kept above: once the source is back, its value is read")
  func placeholder() async throws {
    let isDown = Mutex(true)
    let source = Level { _ in
      if isDown.withLock({ $0 }) { throw CacheError(.simulated, "down") }
      return .hit(Entry(1))
    }
    let cache = MemoryCacheLevel<String, Int>().compose(source.fallback { _, _ in 0 })
    #expect(try await cache.get("a") == 0)
    isDown.withLock { $0 = false }
    #expect(try await cache.get("a") == 1)
  }

  @Test("Once the source has said that there is no such value, no failure brings the old one back")
  func goneForGood() async throws {
    let clock = clock
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(1)), keepsExpired: .seconds(60), clock: clock)
    let isDown = Mutex(false)
    let source = Level { _ in
      if isDown.withLock({ $0 }) { throw CacheError(.simulated, "down") }
      return .miss(.absent)
    }
    let cache = memory.staleIfError(source, for: .seconds(60), observer: nil, clock: clock)
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(1))
    #expect(try await cache.get("a") == nil)
    isDown.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await cache.get("a") }
  }

  @Test("What is read is not copied into a level whose condition refuses the key")
  func conditioned() async throws {
    let disk = Level(name: "disk")
    let cache = MemoryCacheLevel<String, Int>().compose(disk.conditioned { $0 != "secret" }).compose(origin)
    #expect(try await cache.get("secret") == 7)
    #expect(try await cache.get("plain") == 7)
    #expect(disk.stored("secret") == nil)
    #expect(disk.stored("plain")?.value == 7)
  }

  @Test("An optional level says whether a copy failed or a write")
  func optionalTells() async throws {
    let full = Level(onSet: { _, _ in throw CacheError(.simulated, "full") })
    let cache = full.optional(observer: observer).compose(origin, observer: nil)
    #expect(try await cache.get("a") == 7)
    try await cache.set(8, forKey: "a")
    let failed = observer.events.compactMap { event -> CacheEvent.Operation? in
      if case .failed(let operation, _, _) = event.kind { operation } else { nil }
    }
    #expect(failed == [.backFill, .set])
  }

  @Test("a composition that failed in part failed in part for what stands around it too")
  func nestedPartialFailure() async throws {
    let full = { Level(name: $0, onSet: { _, _ in throw CacheError(.diskWriteFailed, "no space") }) }
    let error = await #expect(throws: CacheError.self) {
      try await Level(name: "a").compose(full("b")).compose(full("c")).set(1, forKey: "k")
    }
    #expect(error?.code == .partialFailure)
    #expect(error?.failures.map(\.level) == ["c", "b"])
  }

  @Test("A copy is given up with the reader that waits for it")
  func givenUp() async throws {
    let isGivenUp = Mutex(false)
    let slow = Level(
      name: "slow",
      onSet: { [gate] _, _ in
        do { try await gate.pass() } catch {
          isGivenUp.withLock { $0 = true }
          throw error
        }
      })
    let cache = slow.compose(origin, backFill: .within(.seconds(1)), observer: observer, clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    try await turns { isGivenUp.withLock { $0 } }
  }
}
