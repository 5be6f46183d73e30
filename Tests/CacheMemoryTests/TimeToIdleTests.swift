import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// The end of entries that nobody reads.
@Suite struct TimeToIdleTests {
  let clock = ManualClock()

  private func level(
    _ limit: Duration? = .seconds(10), expiry: Expiry = .never, keepsExpired: Duration = .zero
  ) -> MemoryCacheLevel<String, Int> {
    MemoryCacheLevel(expiry: expiry, keepsExpired: keepsExpired, timeToIdle: limit, clock: clock)
  }

  @Test("an entry expires to the nanosecond when it was not read for so long, and each way to read it puts that off")
  func reads() async throws {
    let level = level()
    let reads: [@Sendable () async throws -> Int?] = [
      { try await level.get("a") }, { level.peek("a") }, { try await level.lookup("a").entry?.value },
      { try await level.lookupIncludingExpired("a").entry?.value },
    ]
    for read in reads {
      try await level.set(1, forKey: "a")
      for _ in 0..<3 {
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(try await read() == 1)
      }
      clock.advance(by: .seconds(10))
      #expect(try await read() == nil)
    }
    #expect(level.usage.count == 0)
  }

  @Test("looking whether there is an entry, and listing entries, puts nothing off")
  func looking() async throws {
    let level = level()
    try await level.set(1, forKey: "a")
    clock.advance(by: .seconds(9))
    #expect(level.contains("a"))
    #expect(try await level.contents().map(\.key) == ["a"])
    clock.advance(by: .seconds(1))
    #expect(!level.contains("a"))
    #expect(try await level.lookup("a").missReason == .expired)
  }

  @Test("a read of what has expired does not bring it back, nor does one that asks for stale values")
  func noRevival() async throws {
    let level = level(keepsExpired: .seconds(60))
    try await level.set(1, forKey: "a")
    clock.advance(by: .seconds(10))
    #expect(try await level.lookupIncludingExpired("a").entry?.isStale == true)
    #expect(level.peek("a") == nil)
    #expect(try await level.get("a") == nil)
    #expect(try await level.setIfAbsent(2, forKey: "a"))
    #expect(try await level.get("a") == 2)
  }

  @Test("of the lifetime and the time without reads the earlier end counts")
  func earlierEnd() async throws {
    let level = level(expiry: .after(.seconds(25)))
    let begin = clock.now
    try await level.set(1, forKey: "a")
    #expect(try await level.lookup("a").entry?.deadline == begin.advanced(by: .seconds(10)))
    for _ in 0..<2 {
      clock.advance(by: .seconds(9))
      #expect(level.peek("a") == 1)
    }
    #expect(try await level.lookup("a").entry?.deadline == begin.advanced(by: .seconds(25)))
    clock.advance(by: .seconds(7))
    #expect(level.peek("a") == nil)
  }

  @Test("an overwrite is a use, and a lifetime that it brings counts")
  func overwrites() async throws {
    let level = level()
    try await level.set(1, forKey: "a")
    clock.advance(by: .seconds(9))
    try await level.set(2, forKey: "a")
    clock.advance(by: .seconds(9))
    #expect(level.peek("a") == 2)
    try await level.set(3, forKey: "a", expiry: .after(.seconds(2)))
    clock.advance(by: .seconds(2))
    #expect(level.peek("a") == nil)
  }

  @Test("zero and less end an entry at once", arguments: [Duration.zero, .seconds(-1)])
  func zero(limit: Duration) async throws {
    let level = level(limit)
    try await level.set(1, forKey: "a")
    #expect(try await level.get("a") == nil)
  }

  @Test("what nobody reads goes by itself and is told of as expired; what is read stays, however often the wheel turns")
  func departs() async throws {
    let causes = Mutex<[RemovalCause: Int]>([:])
    let level = MemoryCacheLevel<Int, Int>(
      timeToIdle: .seconds(10), clock: clock,
      removalListener: { removal in causes.withLock { $0[removal.cause, default: 0] += 1 } })
    for key in 0..<50 { try await level.set(key, forKey: key) }
    for _ in 0..<40 {
      clock.advance(by: .seconds(3))
      for key in 0..<5 { #expect(level.peek(key) == key) }
      try await level.removeExpired()
    }
    #expect(Set(try await level.contents().map(\.key)) == Set(0..<5))
    #expect(causes.withLock { $0 } == [.expired: 45])
    #expect(level.counts.expired == 45)
    clock.advance(by: .seconds(11))
    // Insertions, too, let what is over go, before anything is evicted.
    for key in 100..<110 { try await level.set(key, forKey: key) }
    #expect(level.usage.count == 10)
    #expect(causes.withLock { $0 } == [.expired: 50])
    #expect(level.flaw == nil)
  }

  @Test("in a stack, reads through it keep an entry, and the copy above lives no longer than it would unread")
  func composed() async throws {
    let idle = level()
    let lower = MemoryCacheLevel<String, Int>(clock: clock)
    let cache = idle.compose(lower, clock: clock)
    try await cache.set(1, forKey: "a")
    for _ in 0..<4 {
      clock.advance(by: .seconds(9))
      #expect(try await cache.get("a") == 1)
    }
    #expect(lower.counts.hits == 0)
    let above = MemoryCacheLevel<String, Int>(clock: clock)
    #expect(try await above.compose(idle, clock: clock).get("a") == 1)
    #expect(try await above.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(10)))
  }

  @Test("after a clear the times begin anew")
  func clears() async throws {
    let level = level()
    for key in 0..<200 { try await level.set(key, forKey: "\(key)") }
    try await level.clear()
    try await level.set(1, forKey: "a")
    clock.advance(by: .seconds(9))
    #expect(level.peek("a") == 1)
    clock.advance(by: .seconds(10))
    #expect(try await level.removeExpired() == 1)
  }

  @Test("random operations agree with a model", arguments: 0..<6)
  func agreesWithModel(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let level = MemoryCacheLevel<Int, Int>(timeToIdle: .milliseconds(50), clock: clock)
    var model: [Int: (value: Int, used: CacheInstant, end: CacheInstant?)] = [:]
    for step in 0..<4_000 {
      let key = Int.random(in: 0..<30, using: &generator)
      clock.advance(by: .microseconds(Int.random(in: 0..<4_000, using: &generator)))
      let now = clock.now
      let held = model[key].flatMap { held -> Int? in
        let isOver = held.used.advanced(by: .milliseconds(50)) <= now || held.end.map { $0 <= now } == true
        return isOver ? nil : held.value
      }
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        #expect(try await level.get(key) == held)
        if held != nil { model[key]?.used = now }
      case 4..<6: #expect(level.contains(key) == (held != nil))
      case 6: try await level.removeExpired()
      case 7:
        try await level.expire(key)
        if held != nil { model[key]?.end = now }
      default:
        let lifetime: Duration? = Bool.random(using: &generator) ? .milliseconds(80) : nil
        try await level.store(step, forKey: key, terms: StoreTerms(expiry: lifetime.map(Expiry.after)))
        model[key] = (step, now, lifetime.map(now.advanced))
      }
    }
    #expect(level.flaw == nil)
  }

  @Test("readers on several threads keep what they read, while others write and the table grows")
  func manyReaders() async throws {
    let clock = clock
    let level = MemoryCacheLevel<Int, Int>(timeToIdle: .seconds(10), clock: clock)
    level.openStripes(after: 4)
    for key in 0..<50 { try await level.set(key, forKey: key) }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for step in 0..<4_000 {
            if level.peek(step % 50) != step % 50 { Issue.record("key \(step % 50) is gone") }
            if worker == 0, step % 50 == 49 { clock.advance(by: .milliseconds(10)) }
            if worker == 1, step % 40 == 0 { try? await level.set(step, forKey: 1_000 + step) }
          }
        }
      }
    }
    #expect(level.flaw == nil)
  }
}
