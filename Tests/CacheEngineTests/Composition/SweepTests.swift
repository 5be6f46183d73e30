import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

/// What clears, removals by tag and invalidations do while reads and writes are under way.
@Suite(.timeLimit(.minutes(10))) struct SweepTests {
  typealias Memory = MemoryCacheLevel<String, Int>

  let memory = Memory()
  let disk = Memory(name: "disk")
  let gate = Gate()

  @Test("A write that hangs below holds up its own key alone, whoever clears meanwhile")
  func hungWrite() async throws {
    let hung = HookedLevel(base: disk, onStore: { [gate] key, _ in if key == "hung" { try await gate.pass() } })
    let cache = memory.compose(hung)
    try await cache.set(1, forKey: "a")
    let writer = Task { try await cache.set(1, forKey: "hung") }
    await gate.arrivals(1)
    try await cache.clear()
    #expect(try await cache.get("a") == nil)
    try await cache.set(2, forKey: "a")
    try await cache.removeAll(tagged: "none")
    #expect(try await cache.get("a") == 2)
    gate.open()
    try await writer.value
    // Below it came after the clear, and what is below decides.
    #expect(memory.peek("hung") == nil)
    #expect(try await cache.get("hung") == 1)
    #expect(cache.gate.isIdle)
  }

  @Test("The value of a write that a clear went past below is not served from above")
  func overtakenWrite() async throws {
    // The value is below already, and its write has not got to the upper level.
    let slow = SlowToReturn(base: disk, gate: gate)
    let cache = memory.compose(slow)
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    #expect(disk.peek("a") == 1)
    try await cache.clear()
    gate.open()
    try await writer.value
    #expect(memory.peek("a") == nil)
    #expect(try await cache.get("a") == nil)
  }

  @Test("What a write has replaced below is not served from above after a removal by tag of its new value")
  func replacedBelow() async throws {
    let cache = memory.compose(SlowToReturn(base: disk, gate: gate))
    try await memory.set(1, forKey: "a")
    let writer = Task { try await cache.set(2, forKey: "a", tags: ["red"]) }
    await gate.arrivals(1)
    #expect(try await cache.removeAll(tagged: "red") == 1)
    #expect(try await cache.get("a") == nil)
    gate.open()
    try await writer.value
    #expect(try await cache.get("a") == nil)
  }

  @Test(
    "What was loaded before a removal stays in neither level, though the lower one takes it afterwards",
    arguments: ["clear", "tagged", "keys"])
  func overtakenLoad(removal: String) async throws {
    let slow = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(slow)
    let load = Task { try await cache.value(forKey: "a") { _ in .value(1, tags: ["red"]) } }
    await gate.arrivals(1)
    switch removal {
    case "clear": try await cache.clear()
    case "tagged": try await cache.removeAll(tagged: "red")
    default: try await cache.removeAll { $0 == "a" }
    }
    gate.open()
    #expect(try await load.value == 1)
    #expect(memory.peek("a") == nil)
    #expect(disk.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("A removal by condition through transformed keys is also about a key that is only being loaded")
  func transformedKeys() async throws {
    let keys = TwoWayTransformationBox<String, String>(
      transform: { "/\($0)" }, inverseTransform: { String($0.dropFirst()) })
    let cache = memory.compose(disk).transformKeys(keys)
    try await cache.set(2, forKey: "ab")
    try await cache.set(3, forKey: "b")
    let load = Task { [gate] in
      try await cache.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1)
      }
    }
    await gate.arrivals(1)
    #expect(try await cache.removeAll(withPrefix: "a") == 2)
    gate.open()
    #expect(try await load.value == 1)
    #expect(try await cache.get("a") == nil)
    #expect(try await cache.get("ab") == nil)
    #expect(try await cache.get("b") == 3)
  }

  @Test("While clears go on without end, writes are carried out, and what is read is copied")
  func clearsWithoutEnd() async throws {
    let slow = HookedLevel(base: disk, onClear: { [gate] in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "found")
    let clears = (0..<3).map { _ in Task { try await cache.clear() } }
    await gate.arrivals(3)
    for value in 0..<100 { try await cache.set(value, forKey: "a") }
    #expect(try await cache.get("a") == 99)
    #expect(try await cache.get("found") == 1)
    for clear in clears { clear.cancel() }
    for clear in clears { _ = await clear.result }
    #expect(cache.gate.isIdle)
  }

  @Test("a write and a back-fill that begin when a clear is done below reach the upper level")
  func afterTheLowerLevel() async throws {
    let above = HookedLevel(base: memory, storesAtOnce: true, onClear: { [gate] in try await gate.pass() })
    let cache = above.compose(disk)
    let clear = Task { try await cache.clear() }
    await gate.arrivals(1)
    try await cache.set(1, forKey: "a")
    #expect(memory.peek("a") == 1)
    try await disk.set(2, forKey: "b")
    #expect(try await cache.get("b") == 2)
    #expect(memory.peek("b") == 2)
    gate.open()
    try await clear.value
    #expect(try await cache.get("a") == 1)
  }

  @Test("a removal by tag concerns neither the writes nor the reads of entries without the tag")
  func otherTags() async throws {
    let slow = HookedLevel(base: disk, onClear: { [gate] in try await gate.pass() })
    let cache = memory.compose(slow)
    try await disk.set(1, forKey: "marked", tags: ["x"])
    try await disk.set(2, forKey: "plain", tags: ["y"])
    try await disk.set(5, forKey: "untold")
    let removal = Task { try await cache.removeAll(tagged: "x") }
    await gate.arrivals(1)
    #expect(try await cache.get("marked") == 1)
    #expect(try await cache.get("plain") == 2)
    #expect(memory.peek("marked") == nil)
    #expect(memory.peek("plain") == 2)
    // Nobody knows whether an entry has the tag that tells none.
    #expect(try await cache.get("untold") == 5)
    #expect(memory.peek("untold") == nil)
    try await cache.set(3, forKey: "new", tags: ["y"])
    try await cache.set(4, forKey: "newly marked", tags: ["x"])
    #expect(memory.peek("new") == 3)
    #expect(memory.peek("newly marked") == nil)
    gate.open()
    #expect(try await removal.value == 2)
    #expect(try await cache.get("plain") == 2)
    #expect(try await cache.get("marked") == nil)
    #expect(try await cache.get("newly marked") == nil)
  }

  @Test("a removal by condition concerns the keys that meet it; the condition may use the cache")
  func otherKeys() async throws {
    let slow = ScriptedLevel<String, Int> { [gate] key in
      try await gate.pass()
      return .hit(Entry(key.count))
    }
    let lower = Unremarkable(base: slow)
    let cache = memory.compose(lower)
    async let long = cache.get("long")
    async let short = cache.get("s")
    await gate.arrivals(2)
    _ = try await cache.removeAll { key in cache.peek("other") == nil && key.count > 1 }
    gate.open()
    #expect(try await (long, short) == (4, 1))
    #expect(memory.peek("long") == nil)
    #expect(memory.peek("s") == 1)
  }

  @Test("a back-fill under way above is let finish before a clear ends, and nothing old is served afterwards")
  func backFillAbove() async throws {
    let above = HookedLevel(
      base: memory, storesAtOnce: true, onStore: { [gate] _, _ in try await gate.pass() })
    try await disk.set(1, forKey: "a")
    let cleared = Gate()
    let below = HookedLevel(base: disk, onClear: { cleared.open() })
    let cache = above.compose(below)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    let clear = Task {
      try await cache.clear()
      return cache.peek("a")
    }
    try await cleared.pass()
    gate.open()
    #expect(try await clear.value == nil)
    #expect(try await reader.value == 1)
    #expect(cache.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("a clear that waits for a store above may be cancelled, and leaves nothing behind")
  func cancelledClear() async throws {
    let above = HookedLevel(
      base: memory, storesAtOnce: true, onStore: { [gate] _, _ in try await gate.pass() })
    let cleared = Gate()
    let cache = above.compose(HookedLevel(base: disk, onClear: { cleared.open() }))
    try await memory.set(2, forKey: "b")
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    let clear = Task { try await cache.clear() }
    try await cleared.pass()
    clear.cancel()
    await #expect(throws: CancellationError.self) { try await clear.value }
    // It had begun below, and what is below decides.
    #expect(memory.peek("b") == nil)
    gate.open()
    try await writer.value
    #expect(memory.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("an upper level that takes its time is not waited for, and forgets what a clear went past")
  func slowAbove() async throws {
    let above = HookedLevel(base: memory, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = above.compose(disk)
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    try await cache.clear()
    gate.open()
    try await writer.value
    #expect(memory.peek("a") == nil)
    #expect(disk.peek("a") == nil)
  }

  @Test(
    "A write that its own write waits for is told so; one of another key is carried out", arguments: [false, true])
  func writeWithinWrite(isLimited: Bool) async throws {
    let stack = Mutex<BasicCache<String, Int>?>(nil)
    let nested = HookedLevel(base: disk) { key, value in
      if key == "a" { try await stack.withLock { $0 }?.set(value, forKey: "other") }
      if key == "circle" { try await stack.withLock { $0 }?.set(value, forKey: "circle") }
    }
    let lower = nested.timeout(after: .seconds(60), writes: isLimited ? .seconds(60) : nil, clock: ManualClock())
    let cache = memory.compose(lower, partialStores: .refused)
    stack.withLock { $0 = cache.normalize() }
    defer { stack.withLock { $0 = nil } }
    try await cache.set(1, forKey: "a")
    #expect(try await cache.get("other") == 1)
    let error = await #expect(throws: CacheError.self) { try await cache.set(2, forKey: "circle") }
    #expect(error?.code == .circular)
    #expect(cache.gate.isIdle)
  }

  @Test("A copy that writes its own key is told so, also where a read waits for it as long as it takes")
  func writeWithinCopy() async throws {
    let stack = Mutex<BasicCache<String, Int>?>(nil)
    let observer = RecordingObserver()
    let above = HookedLevel(base: memory) { key, value in try await stack.withLock { $0 }?.set(value, forKey: key) }
    let source = ScriptedLevel<String, Int> { _ in .hit(Entry(7)) }
    let cache = above.compose(source, backFill: .awaited, observer: observer)
    stack.withLock { $0 = cache.normalize() }
    defer { stack.withLock { $0 = nil } }
    #expect(try await cache.get("a") == 7)
    #expect(observer.events.map(\.kind).count == 1)
    #expect(cache.gate.isIdle)
    let pool = above.pooled(observer: observer)
    stack.withLock { $0 = pool.normalize() }
    #expect(try await pool.value(forKey: "b") { 8 } == 8)
    #expect(pool.gate.isIdle)
    await observer.event {
      if case .failed(.set, let text, _) = $0.kind {
        text.contains("was written by what its own write waits for")
      } else {
        false
      }
    }
  }

  @Test("What a time limit gave up waits for its turn, and is not told that its write waits for it")
  func writeWithinWhatWasGivenUp() async throws {
    let (inner, hold) = (ManualClock(), Gate())
    let late = Late()
    let hung = HookedLevel(base: EmptyLevel<String, Int>()) { [gate] key, value in
      let work = Task {
        defer { late.isOver.store(true, ordering: .relaxed) }
        try await gate.pass()
        try await late.stack.withLock { $0 }?.set(value + 1, forKey: key)
      }
      late.work.withLock { $0 = work }
      try await work.value
    }.timeout(after: .seconds(1), writes: .seconds(1), clock: inner)
    let lower = HookedLevel(base: disk) { key, value in
      guard value == 1 else { return }
      try? await hung.set(value, forKey: key)
      try await hold.pass()
    }.timeout(after: .seconds(60), writes: .seconds(60), clock: ManualClock())
    let cache = memory.compose(lower)
    late.stack.withLock { $0 = cache.normalize() }
    defer { late.stack.withLock { $0 = nil } }
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    await inner.waitForSleepers()
    inner.advance(by: .seconds(1))
    await hold.arrivals(1)
    gate.open()
    try await turns { cache.gate.waitingCount > 0 || late.isOver.load(ordering: .relaxed) }
    hold.open()
    try await writer.value
    try await late.work.withLock { $0 }?.value
    #expect(try await cache.get("a") == 2)
  }

  @Test("A clear within a write waits for nobody, and the write goes on")
  func clearWithinWrite() async throws {
    let stack = Mutex<BasicCache<String, Int>?>(nil)
    let cache = memory.compose(HookedLevel(base: disk) { _, _ in try await stack.withLock { $0 }?.clear() })
    stack.withLock { $0 = cache.normalize() }
    defer { stack.withLock { $0 = nil } }
    try await memory.set(0, forKey: "old")
    try await cache.set(1, forKey: "a")
    #expect(cache.peek("old") == nil)
    #expect(try await cache.get("a") == 1)
    #expect(cache.gate.isIdle)
  }

  @Test("Writes that wait for one key may all be cancelled, each in as many steps as if it were the only one")
  func cancelsMany() async throws {
    let hung = HookedLevel(base: disk, onStore: { [gate] _, _ in try await gate.pass() })
    let cache = memory.compose(hung)
    let first = Task { try await cache.set(0, forKey: "a") }
    await gate.arrivals(1)
    let writers = (1...500).map { value in Task { try await cache.set(value, forKey: "a") } }
    try await turns { cache.gate.waitingCount >= writers.count }
    let before = cache.gate.steps
    for writer in writers { writer.cancel() }
    for writer in writers { await #expect(throws: CancellationError.self) { try await writer.value } }
    #expect(cache.gate.steps - before <= 3 * writers.count)
    gate.open()
    try await first.value
    #expect(try await cache.get("a") == 0)
    #expect(cache.gate.isIdle)
  }

  @Test("what a value is made of may be cleared while it is stored: then it does not stay in the level of its pool")
  func computedWhileCleared() async throws {
    let level = HookedLevel(base: memory, onStore: { [gate] _, _ in try await gate.pass() })
    let pool = level.pooled()
    let maker = Task { try await pool.value(forKey: "a") { 1 } }
    await gate.arrivals(1)
    try await pool.clear()
    gate.open()
    #expect(try await maker.value == 1)
    #expect(memory.peek("a") == nil)
    #expect(pool.gate.isIdle)
  }

  @Test(
    "A writer that is cancelled after a clear leaves nothing above, even in a level that serves nobody who is cancelled"
  )
  func cancelledAfterClear() async throws {
    let upper = HookedLevel(
      base: memory,
      onStore: { [gate, memory] key, value in
        do { try await gate.pass() } catch {
          // Stored all the same.
          try await memory.set(value, forKey: key)
          throw error
        }
      }, onRemove: { _ in try Task.checkCancellation() })
    let cache = upper.compose(disk)
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    try await cache.clear()
    writer.cancel()
    await #expect(throws: CancellationError.self) { try await writer.value }
    #expect(memory.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }
}

/// Work that outlives the time limit around it.
private final class Late: Sendable {
  let stack = Mutex<BasicCache<String, Int>?>(nil)
  let work = Mutex<Task<Void, any Error>?>(nil)
  let isOver = Atomic(false)
}

/// A level that has stored a value before it says so.
private struct SlowToReturn<Base: CacheLevel>: LevelDecorator {
  let base: Base
  let gate: Gate
  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }
  func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: terms)
    try await gate.pass()
  }
}

extension SlowToReturn: TaggedLevel, SelectiveRemoval where Base: TaggedLevel & SelectiveRemoval {}

/// A source from which nothing can be removed.
private struct Unremarkable<Base: CacheLevel>: Fetcher {
  let base: Base
  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
}
