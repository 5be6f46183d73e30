import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore

@Suite struct PooledLevelTests {
  typealias Level = ScriptedLevel<String, Int>

  let gate = Gate()

  private func gated(_ answer: @escaping @Sendable () throws -> Lookup<Int>) -> Level {
    Level { [gate] _ in
      try await gate.pass()
      return try answer()
    }
  }

  /// Starts readers of "a" and waits until all of them are in the pool.
  private func readers(_ count: Int, of pool: PooledLevel<Level>, _ observer: RecordingObserver) async -> [Task<
    Int?, any Error
  >] {
    let tasks = (0..<count).map { _ in Task { try await pool.get("a") } }
    await gate.arrivals(1)
    if count > 1 { await observer.event { $0.joinedCallers == count } }
    return tasks
  }

  @Test("C69 C70 C72 C79 a hundred simultaneous reads make one execution, and all get its value")
  func sharesOneExecution() async throws {
    let level = gated { .hit(Entry(7)) }
    let observer = RecordingObserver()
    let pool = level.pooled(observer: observer)
    let tasks = await readers(100, of: pool, observer)
    gate.open()
    for task in tasks { #expect(try await task.value == 7) }
    #expect(level.calls == [.get("a")])
    #expect(pool.isIdle)
  }

  @Test("C71 other keys are loaded on their own")
  func otherKeys() async throws {
    let level = gated { .hit(Entry(7)) }
    let pool = level.pooled()
    async let a = pool.get("a")
    async let b = pool.get("b")
    await gate.arrivals(2)
    gate.open()
    _ = try await (a, b)
    #expect(Set(level.calls) == [.get("a"), .get("b")])
  }

  @Test("of two compositions over one pool that share a load each keeps what it gave")
  func sharedByTwo() async throws {
    let observer = RecordingObserver()
    let pool = gated { .hit(Entry(1)) }.pooled(observer: observer)
    let memories = (0..<2).map { _ in MemoryCacheLevel<String, Int>() }
    let readers = memories.map { memory in Task { try await memory.compose(pool).get("a") } }
    await observer.event { $0.joinedCallers == 2 }
    gate.open()
    for reader in readers { #expect(try await reader.value == 1) }
    #expect(memories.map { $0.peek("a") } == [1, 1])
  }

  @Test("C73 every caller gets the one error, and it is not kept")
  func sharesError() async throws {
    let level = gated { throw CacheError(.simulated, "down") }
    let observer = RecordingObserver()
    let pool = level.pooled(observer: observer)
    let tasks = await readers(5, of: pool, observer)
    gate.open()
    for task in tasks { await #expect(throws: CacheError.self) { try await task.value } }
    #expect(pool.isIdle)
    await #expect(throws: CacheError.self) { try await pool.get("a") }
    #expect(level.count(of: .get("a")) == 2)
  }

  @Test("what the level below has at once is looked up without a load")
  func looksUpAtOnce() async throws {
    let observer = RecordingObserver()
    let memory = MemoryCacheLevel<String, Int>()
    let pool = memory.pooled(observer: observer)
    try await memory.set(1, forKey: "a")
    #expect(try await pool.lookup("a").entry?.value == 1)
    #expect(observer.events.isEmpty)
    #expect(try await pool.lookup("b").missReason == .absent)
    #expect(!observer.events.isEmpty)
  }

  @Test("a read asks once what a composition has at once, and what its upper level has at once")
  func peeksOnce() async throws {
    let upper = PeekedLevel()
    let pool = upper.compose(ScriptedLevel<String, Int> { _ in .hit(Entry(7)) }).pooled()
    #expect(try await pool.get("a") == 7)
    #expect(upper.asked.withLock { $0 } == ["peek", "get"])
    #expect(try await pool.lookup("b").entry?.value == 7)
    #expect(upper.asked.withLock { $0 } == ["peek", "get", "peekEntry", "get"])
  }

  /// Has nothing, and knows how it was asked.
  private final class PeekedLevel: CacheLevel {
    let asked = Mutex<[String]>([])

    func peek(_ key: String) -> Int? {
      asked.withLock { $0.append("peek") }
      return nil
    }
    func peekEntry(_ key: String) -> Entry<Int>? {
      asked.withLock { $0.append("peekEntry") }
      return nil
    }
    func get(_ key: String) async throws -> Int? {
      asked.withLock { $0.append("get") }
      return nil
    }
    func set(_ value: Int, forKey key: String) async throws {}
    func remove(_ key: String) async throws {}
    func clear() async throws {}
  }

  @Test("C74 after a load has ended the next read asks again")
  func asksAgain() async throws {
    let level = Level()
    let pool = level.pooled()
    _ = try await pool.get("a")
    _ = try await pool.get("a")
    #expect(level.count(of: .get("a")) == 2)
  }

  @Test("C75 C76 writes, clears and warnings are not pooled")
  func writesPass() async throws {
    let level = Level()
    let pool = level.pooled()
    for _ in 0..<3 {
      try await pool.set(1, forKey: "a")
      try await pool.remove("a")
      try await pool.clear()
      await pool.onMemoryWarning()
    }
    #expect(level.count(of: .set("a", .set)) == 3)
    #expect(level.count(of: .remove("a")) == 3)
    #expect(level.count(of: .clear) == 3)
    #expect(level.count(of: .warn) == 3)
  }

  @Test("C77 cancelling one caller, the first included, leaves the others served", arguments: 0..<5)
  func cancelsOne(position: Int) async throws {
    let level = gated { .hit(Entry(7)) }
    let observer = RecordingObserver()
    let pool = level.pooled(observer: observer)
    let first = Task { try await pool.get("a") }
    await gate.arrivals(1)
    let others = (1..<5).map { _ in Task { try await pool.get("a") } }
    await observer.event { $0.joinedCallers == 5 }
    let tasks = [first] + others
    tasks[position].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[position].value }
    gate.open()
    for (index, task) in tasks.enumerated() where index != position { #expect(try await task.value == 7) }
    #expect(level.count(of: .get("a")) == 1)
    #expect(pool.isIdle)
  }

  @Test("C77 a caller that is cancelled before its load has waited for the first time returns at once")
  func cancelsBeforeTheFirstWait() async throws {
    let caller = Mutex<Task<Int?, any Error>?>(nil)
    let isKnown = Gate()
    let level = Level { [gate] _ in
      caller.withLock { $0 }?.cancel()
      try await gate.pass()
      return .hit(Entry(7))
    }
    let pool = level.pooled()
    let task = Task {
      try await isKnown.pass()
      return try await pool.get("a")
    }
    caller.withLock { $0 = task }
    isKnown.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(pool.isIdle)
    gate.open()
    #expect(try await pool.get("a") == 7)
  }

  @Test("C78 when the last caller leaves, the load is cancelled and the next read starts afresh")
  func cancelsAll() async throws {
    let cancelled = Gate()
    let level = Level { [gate] _ in
      do { try await gate.pass() } catch {
        cancelled.open()
        throw error
      }
      return .hit(Entry(7))
    }
    let observer = RecordingObserver()
    let pool = level.pooled(observer: observer)
    let tasks = await readers(3, of: pool, observer)
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    try await cancelled.pass()
    #expect(pool.isIdle)
    gate.open()
    #expect(try await pool.get("a") == 7)
    #expect(level.count(of: .get("a")) == 2)
  }

  @Test("C80 P1 a read that begins after a set does not join a load that began before it")
  func setDetaches() async throws {
    let level = Level { [gate] _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let pool = level.pooled()
    async let old = pool.get("a")
    await gate.arrivals(1)
    try await pool.set(2, forKey: "a")
    async let new = pool.get("a")
    await gate.arrivals(2)
    gate.open()
    _ = try await (old, new)
    #expect(level.count(of: .get("a")) == 2)
    #expect(pool.isIdle)
  }

  @Test("C4 a caller that is cancelled before it asks never asks")
  func cancelledBefore() async {
    let level = Level()
    let pool = level.pooled()
    let held = Gate()
    let task = Task {
      try? await held.pass()
      return try await pool.get("a")
    }
    await held.arrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(level.calls.isEmpty)
  }

  @Test("P9 rounds of random cancellations: one execution each, nobody hangs, no stranger's error")
  func randomCancellations() async throws {
    var generator = SeededGenerator(seed: 11)
    for round in 0..<200 {
      let gate = Gate()
      let level = Level { _ in
        try await gate.pass()
        return .hit(Entry(round))
      }
      let pool = level.pooled()
      let tasks = (0..<12).map { _ in Task { try await pool.get("a") } }
      await gate.arrivals(1)
      let leavers = Set((0..<6).map { _ in Int.random(in: 0..<12, using: &generator) })
      for leaver in leavers { tasks[leaver].cancel() }
      gate.open()
      for (index, task) in tasks.enumerated() {
        switch await task.result {
        case .success(let value): #expect(value == round)
        case .failure(let error):
          #expect(error is CancellationError)
          #expect(leavers.contains(index))
        }
      }
      #expect(pool.isIdle)
    }
  }

  @Test("P2 P17 a read of a key that does not equal itself ends, and leaves nothing behind", .timeLimit(.minutes(10)))
  func unequalToItself() async throws {
    let level = ScriptedLevel<Double, Int>()
    let cache = level.compose(ScriptedLevel<Double, Int>()).pooled()
    #expect(try await cache.get(.nan) == nil)
    #expect(try await cache.value(forKey: .nan) { 1 } == 1)
    try await cache.set(2, forKey: .nan)
    #expect(cache.isIdle)
    #expect(cache.gate.isIdle)
    #expect(cache.base.gate.isIdle)
  }
}

extension CacheEvent {
  fileprivate var joinedCallers: Int? {
    if case .flightJoined(let callers) = kind { return callers }
    return nil
  }
}
