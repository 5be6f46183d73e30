import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

/// Whoever would wait for himself is told, over turns, loads and time limits; who would not is not.
@Suite(.timeLimit(.minutes(10))) struct WaitingCircleTests {
  typealias Memory = MemoryCacheLevel<String, Int>
  typealias Level = ScriptedLevel<String, Int>

  let memory = Memory()
  let disk = Memory(name: "disk")
  let observer = RecordingObserver()
  let stack = Stack()

  /// The cache that its own levels use.
  final class Stack: Sendable {
    private let cache = Mutex<BasicCache<String, Int>?>(nil)

    func hold<Cache: CacheLevel>(_ cache: Cache) where Cache.Key == String, Cache.Value == Int {
      self.cache.withLock { $0 = cache.normalize() }
    }
    func set(_ value: Int, forKey key: String) async throws { try await cache.withLock { $0 }?.set(value, forKey: key) }
    func get(_ key: String) async throws -> Int? { try await cache.withLock { $0 }?.get(key) }
    func drop() { cache.withLock { $0 = nil } }
  }

  /// A level whose writes of `a` read `x` from a pool first.
  private func reading(_ pool: some CacheLevel<String, Int>) -> some CacheLevel<String, Int> {
    HookedLevel(base: disk) { key, _ in if key == "a" { _ = try await pool.get("x") } }
  }

  private func isCircular(_ error: (any Error)?) -> Bool {
    (error as? CacheError).map { "\($0)".contains("circular") || $0.code == .circular } ?? false
  }

  @Test(
    "B1 a write that reads through a pool whose load writes the same key is told, also where another task or pool is between",
    arguments: ["load", "child", "limit", "pool"])
  func writeOverItsOwnLoad(kind: String) async throws {
    defer { stack.drop() }
    let source = Level { [stack] _ in
      if kind == "child" {
        async let write: Void = stack.set(2, forKey: "a")
        try await write
      } else {
        try await stack.set(2, forKey: "a")
      }
      return .hit(Entry(7))
    }
    let pool =
      switch kind {
      case "limit": source.timeout(after: .seconds(60), clock: ManualClock()).pooled().normalize()
      case "pool": source.pooled().postProcess { $0 }.pooled().normalize()
      default: source.pooled().normalize()
      }
    let cache = memory.compose(reading(pool), partialStores: .refused)
    stack.hold(cache)
    let error = await #expect(throws: CacheError.self) { try await cache.set(1, forKey: "a") }
    #expect(error?.code == .circular)
    #expect(cache.gate.isIdle)
    // The keys are free again.
    #expect(try await cache.get("a") == nil)
    try await cache.set(3, forKey: "b")
    #expect(memory.peek("b") == 3)
  }

  @Test("A write that joins a load is told when that load writes its key, or at once if it waits for that already")
  func writeOverALoadUnderWay() async throws {
    for loadWaitsFirst in [false, true] {
      let (loading, writing) = (Gate(), Gate())
      let observer = RecordingObserver()
      let source = Level { [stack] _ in
        try await loading.pass()
        try await stack.set(2, forKey: "a")
        return .hit(Entry(7))
      }
      let pool = source.pooled(observer: observer)
      let lower = HookedLevel(base: disk) { key, value in
        guard key == "a", value == 1 else { return }
        try await writing.pass()
        _ = try await pool.get("x")
      }
      let cache = memory.compose(lower, partialStores: .refused)
      stack.hold(cache)
      let reader = Task { try await pool.get("x") }
      await loading.arrivals(1)
      let writer = Task { try await cache.set(1, forKey: "a") }
      await writing.arrivals(1)
      if loadWaitsFirst {
        loading.open()
        while cache.gate.waitingCount == 0 { await Task.yield() }
        writing.open()
      } else {
        writing.open()
        await observer.event { if case .flightJoined = $0.kind { true } else { false } }
        loading.open()
      }
      // Who closes the circle is told; then the others go on.
      let error = await #expect(throws: CacheError.self) { try await writer.value }
      #expect(error?.code == .circular)
      if loadWaitsFirst {
        #expect(try await reader.value == 7)
        #expect(try await cache.get("a") == 2)
      } else {
        #expect(isCircular(await #expect(throws: CacheError.self) { try await reader.value }))
      }
      #expect(cache.gate.isIdle)
      #expect(pool.isIdle)
      stack.drop()
    }
  }

  @Test("two writes that each write the key of the other one: one is told, and both keys are free again")
  func crossedWrites() async throws {
    defer { stack.drop() }
    let (first, second) = (Gate(), Gate())
    let lower = HookedLevel(base: disk) { [stack] key, value in
      guard value < 10 else { return }
      try await (key == "a" ? first : second).pass()
      try await stack.set(value + 10, forKey: key == "a" ? "b" : "a")
    }
    let cache = memory.compose(lower, partialStores: .refused)
    stack.hold(cache)
    let a = Task { try await cache.set(1, forKey: "a") }
    let b = Task { try await cache.set(2, forKey: "b") }
    await first.arrivals(1)
    await second.arrivals(1)
    first.open()
    while cache.gate.waitingCount == 0 { await Task.yield() }
    second.open()
    let error = await #expect(throws: CacheError.self) { try await b.value }
    #expect(error?.code == .circular)
    try await a.value
    #expect(cache.peek("a") == 1)
    #expect(cache.peek("b") == 11)
    #expect(cache.gate.isIdle)
  }

  @Test("writes crossed over the gates of two caches are told as well")
  func crossedCaches() async throws {
    defer { stack.drop() }
    let (first, second) = (Gate(), Gate())
    let other = Stack()
    defer { other.drop() }
    let one = memory.compose(
      HookedLevel(base: disk) { key, value in
        guard value < 10 else { return }
        try await first.pass()
        try await other.set(value + 10, forKey: key)
      }, partialStores: .refused)
    let two = Memory().compose(
      HookedLevel(base: Memory()) { [stack] key, value in
        guard value < 10 else { return }
        try await second.pass()
        try await stack.set(value + 10, forKey: key)
      }, partialStores: .refused)
    stack.hold(one)
    other.hold(two)
    let a = Task { try await one.set(1, forKey: "a") }
    let b = Task { try await two.set(2, forKey: "a") }
    await first.arrivals(1)
    await second.arrivals(1)
    first.open()
    while two.gate.waitingCount == 0 { await Task.yield() }
    second.open()
    let error = await #expect(throws: CacheError.self) { try await b.value }
    #expect(error?.code == .circular)
    try await a.value
    #expect(one.gate.isIdle && two.gate.isIdle)
  }

  @Test("a load that writes a key waits for a write that does not wait for it, however many do")
  func noCircle() async throws {
    defer { stack.drop() }
    let (loading, writing) = (Gate(), Gate())
    let source = Level { [stack] _ in
      try await loading.pass()
      try await stack.set(2, forKey: "a")
      return .hit(Entry(7))
    }
    let pool = source.pooled(observer: observer)
    let lower = HookedLevel(base: disk) { key, value in if key == "a", value == 1 { try await writing.pass() } }
    let cache = memory.compose(lower)
    stack.hold(cache)
    let writer = Task { try await cache.set(1, forKey: "a") }
    await writing.arrivals(1)
    let readers = (0..<20).map { _ in Task { try await pool.get("x") } }
    await loading.arrivals(1)
    loading.open()
    while cache.gate.waitingCount == 0 { await Task.yield() }
    // Who joins a load that waits for a turn, and has another one, is not told either.
    let lateWriter = Task {
      try await cache.set(4, forKey: "c")
      return try await pool.get("x")
    }
    let sideline = Memory().compose(HookedLevel(base: Memory()) { _, _ in _ = try await pool.get("x") })
    let crossing = Task { try await sideline.set(1, forKey: "a") }
    await observer.event { if case .flightJoined(22) = $0.kind { true } else { false } }
    writing.open()
    try await writer.value
    for reader in readers { #expect(try await reader.value == 7) }
    #expect(try await lateWriter.value == 7)
    try await crossing.value
    #expect(try await cache.get("a") == 2)
    #expect(cache.gate.isIdle && sideline.gate.isIdle && pool.isIdle)
  }

  @Test("a copy that was left to itself waits for a write that waits for the load that began it")
  func copyLeftToItself() async throws {
    defer { stack.drop() }
    let clock = ManualClock()
    let (copying, writing) = (Gate(), Gate())
    // The upper level of the load's composition writes through the cache, which takes its time.
    let above = HookedLevel(base: Memory()) { [stack] _, _ in
      try await copying.pass()
      try await stack.set(2, forKey: "a")
    }
    let inner = above.compose(Level { _ in .hit(Entry(7)) }, backFill: .within(.seconds(1)), clock: clock)
    let pool = inner.pooled(observer: observer)
    let lower = HookedLevel(base: disk) { key, value in
      guard key == "a", value == 1 else { return }
      try await writing.pass()
      #expect(try await pool.get("x") == 7)
    }
    let cache = memory.compose(lower, partialStores: .refused)
    stack.hold(cache)
    let reader = Task { try await pool.get("x") }
    await copying.arrivals(1)
    await clock.waitForSleepers()
    let writer = Task { try await cache.set(1, forKey: "a") }
    await writing.arrivals(1)
    writing.open()
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    copying.open()
    while cache.gate.waitingCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    #expect(try await reader.value == 7)
    try await writer.value
    while !inner.gate.isIdle || !cache.gate.isIdle { await Task.yield() }
    #expect(try await cache.get("a") == 2)
  }

  @Test(
    "a store that is cancelled in a slow upper level does not bring back what a sweep removed meanwhile",
    arguments: [true, false], [true, false])
  func cancelledStoreAndSweep(isRead: Bool, isTold: Bool) async throws {
    let gate = Gate()
    let cache = CarriedOut(base: memory, isTold: isTold, gate: gate).compose(disk, backFill: .awaited)
    try await disk.set(1, forKey: "a")
    let task = Task { if isRead { _ = try await cache.get("a") } else { try await cache.set(1, forKey: "a") } }
    await gate.arrivals(1)
    task.cancel()
    try await cache.clear()
    gate.open()
    _ = await task.result
    #expect(memory.peek("a") == nil)
    #expect(try await cache.get("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("A copy upwards that goes on by itself and writes its own key is told")
  func copyWritesItsKey() async throws {
    defer { stack.drop() }
    let clock = ManualClock()
    let upper = HookedLevel(
      base: memory, onStore: { [stack] key, value in if value == 7 { try await stack.set(8, forKey: key) } })
    let cache = upper.compose(
      Level { _ in .hit(Entry(7)) }, backFill: .within(.seconds(1)), observer: observer, clock: clock)
    stack.hold(cache)
    let reader = Task { try await cache.get("a") }
    try await turns {
      observer.events.contains {
        if case .failed(.backFill, let text, _) = $0.kind { text.contains("its own write") } else { false }
      }
    }
    #expect(try await reader.value == 7)
    try await turns { cache.gate.isIdle }
  }
}

/// A level as a file or a server is one: what was begun is carried out, and who is cancelled begins nothing.
private struct CarriedOut<Base: CacheLevel>: LevelDecorator {
  let base: Base
  /// Whether who was cancelled meanwhile is told so.
  let isTold: Bool
  let gate: Gate
  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }
  func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try Task.checkCancellation()
    try await Task {
      try await gate.pass()
      try await base.store(value, forKey: key, terms: terms)
    }.value
    if isTold { try Task.checkCancellation() }
  }
  func remove(_ key: Base.Key) async throws {
    try Task.checkCancellation()
    try await base.remove(key)
  }
}
