import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore

@Suite struct GetOrComputeTests {
  let level = ScriptedLevel<String, Int>()
  let observer = RecordingObserver()

  @Test("a value that is there is not made; one that is not is made once and stored")
  func computes() async throws {
    let cache = level.pooled()
    try await level.set(1, forKey: "held")
    #expect(try await cache.value(forKey: "held") { 100 } == 1)
    #expect(try await cache.value(forKey: "a") { 2 } == 2)
    #expect(level.stored("a")?.value == 2)
    #expect(try await cache.value(forKey: "a") { 3 } == 2)
  }

  @Test("what is loaded is stored also in a level that cannot store on a condition, though its type could")
  func unsupportedCondition() async throws {
    let closures = BasicCache<String, Int>(
      get: { [level] in try await level.get($0) }, set: { [level] in try await level.set($0, forKey: $1) },
      remove: { [level] in try await level.remove($0) }, clear: { [level] in try await level.clear() })
    #expect(try await closures.value(forKey: "a") { _ in .value(1) } == 1)
    #expect(level.stored("a")?.value == 1)
  }

  @Test("a load that its last caller has left before it began hides no write from the one that came after it")
  func leftLoad() async throws {
    let (slow, held, gate) = (Gate(), Gate(), Gate())
    defer { held.open() }
    let isFirst = Mutex(true)
    let stack = MemoryCacheLevel<String, Int>(capacity: 0).compose(level)
    let cache = stack.transformKeys { (key: String) async throws -> String in
      let isSlow = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      // Only the load that was left is cancelled, and does not heed that.
      if isSlow || Task.isCancelled { try await Task { try await (isSlow ? slow : held).pass() }.value }
      return key
    }
    let left = Task { try await cache.value(forKey: "a") { _ in .value(0) } }
    await slow.arrivals(1)
    left.cancel()
    await #expect(throws: CancellationError.self) { try await left.value }
    let early = Task {
      try await cache.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1)
      }
    }
    await gate.arrivals(1)
    try await stack.remove("a")
    slow.open()
    await held.arrivals(1)
    let late = Task.immediate { try await cache.value(forKey: "a") { _ in .value(3) } }
    gate.open()
    #expect(try await early.value == 1)
    #expect(try await late.value == 3)
  }

  @Test("however many ask at once, the value is made once")
  func once() async throws {
    let cache = level.pooled(observer: observer)
    let gate = Gate()
    let callers = (0..<100).map { _ in
      Task {
        try await cache.value(forKey: "a") {
          try await gate.pass()
          return 7
        }
      }
    }
    await observer.event { if case .flightJoined(callers: 100) = $0.kind { true } else { false } }
    gate.open()
    for caller in callers { #expect(try await caller.value == 7) }
    #expect(observer.events.count { if case .flightBegan = $0.kind { true } else { false } } == 1)
  }

  @Test("a removal by tag while a value is loaded leaves it if it has other tags", arguments: ["red", "blue"])
  func tagged(tag: String) async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let cache = memory.pooled()
    let gate = Gate()
    let maker = Task {
      try await cache.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1, tags: ["red"])
      }
    }
    await gate.arrivals(1)
    try await cache.removeAll(tagged: tag)
    gate.open()
    #expect(try await maker.value == 1)
    #expect(memory.peek("a") == (tag == "red" ? nil : 1))
  }

  @Test("an error reaches everyone who waits and is not kept")
  func fails() async throws {
    struct Broken: Error {}
    let cache = level.pooled()
    await #expect(throws: Broken.self) { try await cache.value(forKey: "a") { throw Broken() } }
    #expect(try await cache.value(forKey: "a") { 1 } == 1)
  }

  @Test("a set, a removal or a clear that comes while the value is made wins", arguments: ["set", "remove", "clear"])
  func writeWins(write: String) async throws {
    let cache = level.pooled()
    let gate = Gate()
    let maker = Task {
      try await cache.value(forKey: "a") {
        try await gate.pass()
        return 1
      }
    }
    await gate.arrivals(1)
    switch write {
    case "set": try await cache.set(100, forKey: "a")
    case "remove": try await cache.remove("a")
    default: try await cache.clear()
    }
    gate.open()
    #expect(try await maker.value == 1)
    #expect(level.stored("a")?.value == (write == "set" ? 100 : nil))
  }

  @Test("who asks once a value was made and stored finds it, and joins no read that began before")
  func readAfterMaking() async throws {
    let gate = Gate()
    let held = Mutex<(value: Int?, reads: Int)>((nil, 0))
    let slow = ScriptedLevel<String, Int>(
      onSet: { value, _ in held.withLock { $0.value = value } },
      onGet: { _ in
        let (value, reads) = held.withLock { held in
          held.reads += 1
          return held
        }
        if reads == 1 { try await gate.pass() }
        return value.map { .hit(Entry($0)) } ?? .miss(.absent)
      })
    let cache = slow.pooled()
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    #expect(try await cache.value(forKey: "a") { 7 } == 7)
    let isJoinable = cache.reads.table.withLock { !$0.current.isEmpty }
    try #require(!isJoinable)
    #expect(try await cache.get("a") == 7)
    gate.open()
    #expect(try await early.value == nil)
  }

  @Test("a level that cannot be read or written does not keep a value from being made; both are told")
  func brokenLevel() async throws {
    let broken = ScriptedLevel<String, Int>(
      onSet: { _, _ in throw CacheError(.simulated, "full") }, onGet: { _ in throw CacheError(.simulated, "down") })
    #expect(try await broken.pooled(observer: observer).value(forKey: "a") { 1 } == 1)
    let failures = observer.events.count { if case .failed = $0.kind { true } else { false } }
    #expect(failures == 2)
  }

  @Test("when the last caller leaves, the making is cancelled")
  func cancels() async throws {
    let cache = level.pooled()
    let gate = Gate()
    let maker = Task {
      try await cache.value(forKey: "a") {
        try await gate.pass()
        return 1
      }
    }
    await gate.arrivals(1)
    maker.cancel()
    await #expect(throws: CancellationError.self) { try await maker.value }
    #expect(try await cache.value(forKey: "a") { 2 } == 2)
  }

  @Test("a value is made with the lifetime asked for")
  func expires() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    _ = try await memory.pooled().value(forKey: "a", expiry: .after(.seconds(3))) { 1 }
    clock.advance(by: .seconds(3))
    #expect(try await memory.get("a") == nil)
  }

  @Test("P2 values that are made one from the other may stand in a long line", arguments: [100, 10_000])
  func longLine(length: Int) async throws {
    let cache = MemoryCacheLevel<Int, Int>().pooled()
    #expect(try await Self.countdown(from: length, in: cache) == length)
  }

  @Test("P2 a closure that asks for the value that it makes is told so", .timeLimit(.minutes(10)))
  func circular() async throws {
    let cache = level.pooled()
    let other = ScriptedLevel<String, Int>().pooled()
    @Sendable func make(_ key: String) async throws -> Int {
      try await cache.value(forKey: key) { try await make(key == "a" ? "b" : "a") }
    }
    let error = await #expect(throws: CacheError.self) { try await make("a") }
    #expect(error?.code == .circular)
    // Another pool may well be asked for the same key, and this one again by a task that outlives the making.
    let made = Gate()
    let later = Mutex<Task<Int, any Error>?>(nil)
    let value = try await cache.value(forKey: "a") {
      later.withLock {
        $0 = Task {
          try await made.pass()
          try await cache.remove("a")
          return try await cache.value(forKey: "a") { 2 }
        }
      }
      return try await other.value(forKey: "a") { 1 }
    }
    #expect(value == 1)
    made.open()
    #expect(try await later.withLock { $0 }?.value == 2)
  }

  private static func countdown(
    from number: Int, in cache: PooledLevel<MemoryCacheLevel<Int, Int>>
  ) async throws -> Int {
    guard number > 0 else { return 0 }
    return try await cache.value(forKey: number) { try await countdown(from: number - 1, in: cache) + 1 }
  }
}
