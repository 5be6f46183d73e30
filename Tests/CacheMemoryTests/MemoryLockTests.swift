import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory

/// What never runs under the lock of a memory level, what goes without being asked for, and what many readers see.
@Suite(.timeLimit(.minutes(10))) struct MemoryLockTests {
  /// Uses the level when it dies, which would wait for ever under a lock.
  final class Caller: Sendable {
    private let onDeath: @Sendable () -> Void

    init(_ onDeath: @escaping @Sendable () -> Void) { self.onDeath = onDeath }
    deinit { onDeath() }
  }

  private final class Box: Sendable {
    let level = Mutex<MemoryCacheLevel<Int, Caller>?>(nil)
    let calls = Mutex(0)

    func call() {
      let level = level.withLock { $0 }
      guard let level else { return }
      _ = level.usage
      _ = level.peek(0)
      calls.withLock { $0 += 1 }
    }
  }

  @Test("the cost function, the listener and the deinitialisers of values may use the level, whatever made them run")
  func callsOutside() async throws {
    let box = Box()
    let clock = ManualClock()
    let level = MemoryCacheLevel<Int, Caller>(
      capacity: 4, clock: clock, removalListener: { _ in box.call() },
      cost: { _, _ in
        box.call()
        return 1
      })
    box.level.withLock { $0 = level }
    func value() -> Caller { Caller { box.call() } }
    for key in 0..<8 { try await level.set(value(), forKey: key) }
    try await level.set(value(), forKey: 7)
    try await level.remove(7)
    try await level.set(value(), forKey: 8, expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    _ = try await level.get(8)
    try await level.set(value(), forKey: 9, expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    try await level.removeExpired()
    try await level.store(value(), forKey: 10, terms: StoreTerms(tags: ["a"]))
    try await level.removeAll(tagged: "a")
    _ = try await level.store(value(), forKey: 11, terms: StoreTerms(), if: .absent)
    try await level.store(value(), forKey: 12, terms: StoreTerms(cost: 5))
    await level.onMemoryWarning()
    try await level.set(value(), forKey: 13)
    try await level.clear()
    // 15 stores asked for a cost but the one that brought its own; 15 values died, and 15 departures were told.
    #expect(box.calls.withLock { $0 } == 14 + 15 + 15)
    box.level.withLock { $0 = nil }
  }

  @Test("a value that another one takes the place of dies without the lock, however that is stored")
  func replacedOutside() async throws {
    let box = Box()
    let level = MemoryCacheLevel<Int, Caller>(countLimit: 4)
    box.level.withLock { $0 = level }
    func value() -> Caller { Caller { box.call() } }
    for _ in 0..<2 { try await level.set(value(), forKey: 0) }
    try await level.store(value(), forKey: 0, terms: StoreTerms())
    #expect(try await level.store(value(), forKey: 0, terms: StoreTerms(), if: .present))
    #expect(box.calls.withLock { $0 } == 3)
    box.level.withLock { $0 = nil }
  }

  @Test("keys and values that leave for others die without the lock, where nobody is told of them")
  func evictedOutside() async throws {
    final class Key: Hashable, Sendable {
      let number: Int
      let onDeath: @Sendable () -> Void
      init(_ number: Int, _ onDeath: @escaping @Sendable () -> Void) { (self.number, self.onDeath) = (number, onDeath) }
      deinit { onDeath() }
      static func == (left: Key, right: Key) -> Bool { left.number == right.number }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    for eviction in Eviction.all {
      let calls = Mutex(0)
      let level = MemoryCacheLevel<Key, Caller>(countLimit: 4, eviction: eviction)
      let call: @Sendable () -> Void = { [weak level] in
        guard let level else { return }
        _ = level.usage
        calls.withLock { $0 += 1 }
      }
      for number in 0..<8 { try await level.set(Caller(call), forKey: Key(number, call)) }
      for number in 8..<12 { try await level.store(Caller(call), forKey: Key(number, call), terms: StoreTerms()) }
      #expect(level.usage.count == 4)
      #expect(calls.withLock { $0 } == 16)
    }
  }

  @Test("H10 expired entries make room and are told of, though nobody asks for them")
  func expiresUnasked() async throws {
    let clock = ManualClock()
    let expired = Mutex(0)
    let level = MemoryCacheLevel<Int, Int>(
      countLimit: 100, clock: clock,
      removalListener: { removal in expired.withLock { $0 += removal.cause == .expired ? 1 : 0 } })
    for key in 0..<99 { try await level.set(key, forKey: key, expiry: .after(.seconds(1 + key % 7))) }
    clock.advance(by: .seconds(10))
    for key in 200..<260 { try await level.set(key, forKey: key) }
    #expect(expired.withLock { $0 } == 99)
    #expect(level.usage.count == 60)
  }

  @Test("H10 so they do where the level is only read, before they expire as well", arguments: [0, 200, 10_000])
  func expiresWhileRead(readsBefore: Int) async throws {
    let clock = ManualClock()
    let level = MemoryCacheLevel<Int, Int>(clock: clock)
    try await level.set(0, forKey: 0)
    for key in 1..<50 { try await level.set(key, forKey: key, expiry: .after(.seconds(1))) }
    for _ in 0..<readsBefore { #expect(level.peek(0) == 0) }
    clock.advance(by: .seconds(10))
    for _ in 0..<10_000 { #expect(level.peek(0) == 0) }
    #expect(level.usage.count == 1)
  }

  @Test("an entry that is kept after its time is there until that is over too")
  func keepsExpired() async throws {
    let clock = ManualClock()
    let level = MemoryCacheLevel<Int, Int>(expiry: .after(.seconds(1)), keepsExpired: .seconds(10), clock: clock)
    for key in 0..<10 { try await level.set(key, forKey: key) }
    clock.advance(by: .seconds(5))
    try await level.removeExpired()
    #expect(level.usage.count == 10)
    clock.advance(by: .seconds(6))
    #expect(try await level.removeExpired() == 10)
  }

  @Test(
    "C135 the order of use of one thread is exact, however many reads came before an eviction", arguments: [1, 40, 500])
  func exactOrder(reads: Int) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 50, eviction: .lru)
    for key in 0..<50 { try await level.set(key, forKey: key) }
    var generator = SeededGenerator(seed: UInt64(reads))
    var order = Array(0..<50)
    for _ in 0..<reads {
      let key = Int.random(in: 0..<50, using: &generator)
      _ = level.peek(key)
      order.removeAll { $0 == key }
      order.append(key)
    }
    for (number, oldest) in order.enumerated() {
      try await level.set(0, forKey: 100 + number)
      #expect(try await !level.contents().contains { $0.key == oldest })
      #expect(level.usage.count == 50)
    }
  }

  @Test("one thread reads often before it has a stripe, two that meet seldom, and a write begins anew")
  func stripesOpen() {
    let lock = ReadMostlyLock(0, order: Untold())
    func readsUntilOpen(_ threads: [Int]) -> Int {
      lock.withLock { _, _ in }
      var reads = 0
      while lock.withWriters({ $0.open }) == 0, reads < 1_000 {
        let thread = threads[reads % threads.count]
        _ = lock.withWriters { $0.finish(ReadTrace(), countedAs: .whole, lock.stripes, thread) }
        reads += 1
      }
      return reads
    }
    #expect(readsUntilOpen([0]) == Int(ReadStripe.quiet))
    #expect(readsUntilOpen([0, 1]) == 3)
    #expect(readsUntilOpen([0]) == Int(ReadStripe.quiet))
    #expect(lock.reads().found == 0)
    #expect(lock.reads().missed == 2 * Int(ReadStripe.quiet) + 3)
  }

  @Test("a stripe stays open across writes between which it was read by, and is nobody's during one")
  func stripesStayOpen() {
    let lock = ReadMostlyLock(0, order: Told())
    func read(_ slot: Int32) -> Bool {
      guard let stripe = lock.takeStripe(0) else { return false }
      var trace = ReadTrace()
      (trace.hasFound, trace.slot) = (true, slot)
      _ = lock.release(stripe, countedAs: .whole, trace)
      return true
    }
    func write() -> [Int32] {
      lock.withLock { _, order in
        #expect(!read(-1))
        return order.slots
      }
    }
    lock.withWriters { guarded in
      for _ in 0..<ReadStripe.quiet { _ = guarded.finish(ReadTrace(), countedAs: .none, lock.stripes, 0) }
    }
    var told: [Int32] = []
    for round: Int32 in 0..<5 {
      for step in 0..<Int32(ReadStripe.fewest) + round {
        #expect(read(10 * round + step))
        told.append(10 * round + step)
      }
      #expect(write() == told)
    }
    for step in 0..<ReadStripe.fewest - 1 { #expect(read(Int32(90 + step))) }
    #expect(write().suffix(ReadStripe.fewest - 1) == (0..<ReadStripe.fewest - 1).map { Int32(90 + $0) })
    #expect(!read(-1))
    #expect(lock.reads().found == told.count + ReadStripe.fewest - 1)
  }

  @Test("C135 the order of use of one thread is exact, however reads and evictions are mixed", arguments: 0..<4)
  func exactOrderOfMixture(seed: Int) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 50, eviction: .lru)
    level.openStripes(after: 4)
    var generator = SeededGenerator(seed: UInt64(seed))
    var order: [Int] = []
    for next in 0..<500 {
      for _ in 0..<Int.random(in: 0..<8, using: &generator) {
        guard let key = order.randomElement(using: &generator) else { break }
        #expect(level.peek(key) == key)
        order.removeAll { $0 == key }
        order.append(key)
      }
      try await level.set(next, forKey: next)
      order.append(next)
      if order.count > 50 { order.removeFirst() }
      #expect(try await Set(level.contents().map(\.key)) == Set(order))
    }
  }

  @Test("readers on several threads never see a value of another key, nor a key gone that nobody removes")
  func concurrentReaders() async {
    let level = MemoryCacheLevel<Int, [Int]>(countLimit: 400)
    level.openStripes(after: 4)
    for key in 0..<200 { try? await level.set([key, key], forKey: key) }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(worker))
          for step in 0..<10_000 {
            let key = Int.random(in: 0..<200, using: &generator)
            let value = level.peek(key)
            if value != [key, key] { Issue.record("key \(key) gives \(String(describing: value))") }
            if step % 500 == 0 { try? await level.set([key, key], forKey: key) }
            if step % 700 == 0 { try? await level.remove(1_000 + key) }
            if step % 300 == 0 { try? await level.set([step], forKey: 1_000 + step % 100) }
          }
        }
      }
    }
    #expect(level.flaw == nil)
  }
}

/// An order that learns of nothing.
private struct Told: ReadOrder {
  var slots: [Int32] = []
  mutating func touched(_ slot: Int32) { slots.append(slot) }
  var hasDeadlines: Bool { false }
}

private struct Untold: ReadOrder {
  mutating func touched(_ slot: Int32) {}
  var hasDeadlines: Bool { false }
}
