import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct ComposedLevelTests {
  typealias Level = ScriptedLevel<String, Int>

  let upper = Level(name: "upper")
  let lower = Level(name: "lower")

  @Test("C14 an upper hit asks nobody below and writes nothing")
  func upperHit() async throws {
    try await upper.set(1, forKey: "a")
    #expect(try await upper.compose(lower).get("a") == 1)
    #expect(lower.calls.isEmpty)
    #expect(upper.calls == [.set("a", .set), .get("a")])
  }

  @Test("C13 C15 C16 C17 C18 a lower hit is delivered and copied to the upper level once")
  func lowerHit() async throws {
    try await lower.set(1, forKey: "a")
    #expect(try await upper.compose(lower).get("a") == 1)
    #expect(upper.calls == [.get("a"), .set("a", .backFill)])
    #expect(lower.calls == [.set("a", .set), .get("a")])
  }

  @Test("C13 while the upper level is pending the lower one is not asked")
  func waitsForUpper() async throws {
    let gate = Gate()
    let slow = Level(name: "slow") { _ in
      try await gate.pass()
      return .miss(.absent)
    }
    let cache = slow.compose(lower)
    async let answer = cache.get("a")
    await gate.arrivals(1)
    #expect(lower.calls.isEmpty)
    gate.open()
    #expect(try await answer == nil)
    #expect(lower.calls == [.get("a")])
  }

  @Test("C19 when both miss, the answer is one miss with the lower reason and nobody is asked twice")
  func bothMiss() async throws {
    let expired = Level { _ in .miss(.expired) }
    let cache = upper.compose(expired)
    #expect(try await cache.lookup("a").missReason == .expired)
    #expect(upper.calls == [.get("a")])
    #expect(expired.calls == [.get("a")])
  }

  @Test("C20 when both fail, the lower error is thrown")
  func bothFail() async {
    let first = Level { _ in throw CacheError(.simulated, "first") }
    let second = Level { _ in throw CacheError(.simulated, "second") }
    await #expect { try await first.compose(second, observer: nil).get("a") } throws: { "\($0)" == "second" }
  }

  @Test("C25 a failing upper level is passed over, and reported")
  func failingUpper() async throws {
    let observer = RecordingObserver()
    let broken = Level(name: "broken") { _ in throw CacheError(.diskReadFailed, "no") }
    try await lower.set(1, forKey: "a")
    #expect(try await broken.compose(lower, observer: observer).get("a") == 1)
    #expect(observer.events.map(\.description) == ["broken ask a", "broken get failed a (no) 0.000 ms"])
  }

  @Test(
    "C21 cancelling while the upper level is pending never asks the lower one, also if the upper one takes no notice",
    arguments: [false, true])
  func cancelledInUpper(isDeaf: Bool) async {
    let gate = Gate()
    let slow = Level { _ in
      do { try await gate.pass() } catch { if !isDeaf { throw error } }
      return .miss(.absent)
    }
    let cache = slow.compose(lower)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(lower.calls.isEmpty)
  }

  @Test("C22 cancelling while the lower level is pending delivers nothing and copies nothing")
  func cancelledInLower() async {
    let gate = Gate()
    let slow = Level { _ in
      try? await gate.pass()
      return .hit(Entry(1))
    }
    let cache = upper.compose(slow)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(upper.calls == [.get("a")])
  }

  @Test("C23 C24 a hit in the third of four levels fills the two above and not the one below")
  func fillsAllAbove() async throws {
    let middle = Level(name: "middle")
    let bottom = Level(name: "bottom")
    try await lower.set(1, forKey: "a")
    let cache = upper.compose(middle).compose(lower).compose(bottom)
    #expect(try await cache.get("a") == 1)
    #expect(upper.stored("a")?.value == 1)
    #expect(middle.stored("a")?.value == 1)
    #expect(bottom.calls.isEmpty)
    #expect(try await cache.get("a") == 1)
    #expect(lower.count(of: .get("a")) == 1)
  }

  @Test("C26 a failing back-fill does not fail the read, and is reported")
  func failingBackFill() async throws {
    let observer = RecordingObserver()
    let full = Level(name: "full", onSet: { _, _ in throw CacheError(.diskWriteFailed, "full") })
    try await lower.set(1, forKey: "a")
    #expect(try await full.compose(lower, observer: observer, clock: ManualClock()).get("a") == 1)
    #expect(observer.events.map(\.description) == ["full fill failed a (full) 0.000 ms"])
  }

  @Test("C27 C34 a fetcher above a cache passes through what is below")
  func fetcherAbove() async throws {
    let cache = Nothing().compose(lower)
    try await cache.set(1, forKey: "a")
    #expect(try await cache.get("a") == 1)
  }

  @Test("C28 either way of putting brackets gives the same gets, sets and back-fills")
  func associative() async throws {
    func trace(_ build: (Level, Level, Level) -> any CacheLevel<String, Int>) async throws -> [[Level.Call]] {
      let (a, b, c) = (Level(name: "a"), Level(name: "b"), Level(name: "c"))
      try await c.set(1, forKey: "x")
      let cache = build(a, b, c)
      _ = try await cache.get("x")
      _ = try await cache.get("none")
      try await cache.set(2, forKey: "y")
      _ = try await cache.get("y")
      try await cache.remove("x")
      try await cache.clear()
      return [a, b, c].map { level in level.calls }
    }
    let left = try await trace { $0.compose($1).compose($2) }
    let right = try await trace { $0.compose($1.compose($2)) }
    #expect(left == right)
  }

  @Test("C30 C31 a set reaches both levels before it succeeds")
  func setsBoth() async throws {
    try await upper.compose(lower).set(1, forKey: "a")
    #expect(upper.stored("a")?.value == 1)
    #expect(lower.stored("a")?.value == 1)
  }

  @Test("C32 a set that fails in one level is tried in every level, and one error names who failed")
  func partialFailure() async throws {
    let full = Level(name: "full", onSet: { _, _ in throw CacheError(.diskWriteFailed, "no space", level: "full") })
    let cache = upper.compose(full).compose(lower)
    let error = await #expect(throws: CacheError.self) { try await cache.set(1, forKey: "a") }
    #expect(error?.code == .partialFailure)
    #expect(error?.failures.map(\.level) == ["full"])
    // Named once, though the error names it as well.
    #expect(error?.description == "some levels could not be written; full: no space")
    #expect((error?.underlying as? CacheError)?.code == .diskWriteFailed)
    #expect(upper.stored("a")?.value == 1)
    #expect(lower.stored("a")?.value == 1)
  }

  @Test("C32 a set that fails everywhere says that nothing was written")
  func totalFailure() async throws {
    let full = { Level(name: $0, onSet: { _, _ in throw CacheError(.diskWriteFailed, "no space") }) }
    let error = await #expect(throws: CacheError.self) {
      try await full("a").compose(full("b")).compose(full("c")).set(1, forKey: "a")
    }
    #expect(error?.code == .writeFailed)
    #expect(error?.failures.map(\.level) == ["c", "b", "a"])
    #expect(error?.description == "no level could be written; c: no space; b: no space; a: no space")
  }

  @Test("C33 a cancelled set is reported as cancelled")
  func cancelledSet() async {
    let gate = Gate()
    let slow = Level(onSet: { _, _ in try await gate.pass() })
    let cache = upper.compose(slow)
    let writer = Task { try await cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    writer.cancel()
    await #expect(throws: CancellationError.self) { try await writer.value }
  }

  @Test("C35 a removal deletes the key everywhere")
  func removes() async throws {
    let cache = upper.compose(lower)
    try await cache.set(1, forKey: "a")
    try await cache.remove("a")
    #expect(try await cache.get("a") == nil)
    #expect(upper.stored("a") == nil)
    #expect(lower.stored("a") == nil)
  }

  @Test("C36 clear and memory warnings reach every level once")
  func clearsAndWarns() async throws {
    let cache = upper.compose(lower)
    try await cache.clear()
    await cache.onMemoryWarning()
    #expect(upper.calls == [.clear, .warn])
    #expect(lower.calls == [.clear, .warn])
  }

  @Test("H38 a back-fill keeps the deadline of the entry found")
  func keepsDeadline() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let disk = MemoryCacheLevel<String, Int>(name: "disk", clock: clock)
    try await disk.set(1, forKey: "a", expiry: .after(.seconds(60)))
    clock.advance(by: .seconds(10))
    _ = try await memory.compose(disk).get("a")
    #expect(try await memory.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(50)))
  }

  @Test("H38 a back-fill shortens the deadline to the upper level's own lifetime")
  func shortensDeadline() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(5)), clock: clock)
    let disk = MemoryCacheLevel<String, Int>(name: "disk", clock: clock)
    try await disk.set(1, forKey: "a", expiry: .after(.seconds(60)))
    try await disk.set(2, forKey: "b")
    let cache = memory.compose(disk)
    for key in ["a", "b"] {
      _ = try await cache.get(key)
      #expect(try await memory.lookup(key).entry?.deadline == clock.now.advanced(by: .seconds(5)))
    }
  }

  @Test("P9 a set that begins while a read travels is not overwritten by the read's back-fill")
  func newerSetWins() async throws {
    let gate = Gate()
    let slow = Level { _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = upper.compose(slow)
    async let old = cache.get("a")
    await gate.arrivals(1)
    try await cache.set(2, forKey: "a")
    gate.open()
    #expect(try await old == 2)
    #expect(upper.stored("a")?.value == 2)
  }

  @Test("P9 a removal that begins while a read travels is not undone by the read's back-fill")
  func newerRemovalWins() async throws {
    let gate = Gate()
    let slow = Level { _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = upper.compose(slow)
    async let old = cache.get("a")
    await gate.arrivals(1)
    try await cache.remove("a")
    gate.open()
    #expect(try await old == 1)
    #expect(upper.stored("a") == nil)
  }

  @Test("P9 a clear that begins while a read travels is not undone by the read's back-fill")
  func newerClearWins() async throws {
    let gate = Gate()
    let slow = Level { _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = upper.compose(slow)
    async let old = cache.get("a")
    await gate.arrivals(1)
    try await cache.clear()
    gate.open()
    #expect(try await old == 1)
    #expect(upper.stored("a") == nil)
  }

  @Test("P9 a read that begins while a set is under way does not copy what it finds below")
  func setUnderWay() async throws {
    let gate = Gate()
    let slow = Level(name: "slow", onSet: { value, _ in if value == 2 { try await gate.pass() } })
    try await slow.set(1, forKey: "a")
    let cache = upper.compose(slow)
    async let write: Void = cache.set(2, forKey: "a")
    await gate.arrivals(1)
    #expect(try await cache.get("a") == 1)
    #expect(upper.stored("a") == nil)
    gate.open()
    try await write
    #expect(upper.stored("a")?.value == 2)
  }

  @Test("P1 a read that finds a new value below while others still read the old one above does not run ahead")
  func readsInOrder() async throws {
    let (reading, writing) = (Gate(), Gate())
    let memory = MemoryCacheLevel<String, Int>()
    // The first read misses, and is slow to say so.
    let isFirst = Mutex(true)
    let slow = Level(name: "upper") { value, key in
      if value == 2 { try await writing.pass() }
      try await memory.set(value, forKey: key)
    } onGet: { key in
      let answer = try await memory.lookup(key)
      if isFirst.withLock({ isFirst in
        defer { isFirst = false }; return isFirst
      }) {
        try await reading.pass()
      }
      return answer
    }
    let cache = slow.compose(lower)
    try await lower.set(1, forKey: "a")
    async let early = cache.get("a")
    await reading.arrivals(1)
    #expect(try await cache.get("a") == 1)
    async let write: Void = cache.set(2, forKey: "a")
    await writing.arrivals(1)
    #expect(lower.stored("a")?.value == 2)
    reading.open()
    #expect(try await early == 1)
    #expect(try await cache.get("a") == 1)
    writing.open()
    try await write
    #expect(try await cache.get("a") == 2)
  }

  @Test("P1 a removal that is cancelled half way is not seen by one reader and then unseen by the next")
  func cancelledRemoval() async throws {
    let reading = Gate()
    let memory = MemoryCacheLevel<String, Int>()
    let isFirst = Mutex(true)
    let slow = Level(name: "upper") { value, key in
      try await memory.set(value, forKey: key)
    } onGet: { key in
      let answer = try await memory.lookup(key)
      if isFirst.withLock({ isFirst in
        defer { isFirst = false }; return isFirst
      }) {
        try await reading.pass()
      }
      return answer
    }
    let cache = Unremovable(base: slow).compose(lower)
    try await lower.set(1, forKey: "a")
    async let early = cache.get("a")
    await reading.arrivals(1)
    #expect(try await cache.get("a") == 1)
    await #expect(throws: CancellationError.self) { try await cache.remove("a") }
    reading.open()
    #expect(try await early == 1)
    #expect(try await cache.get("a") == 1)
  }

  @Test("two writes of one key end in the same order in every level")
  func ordersWrites() async throws {
    let gate = Gate()
    let slow = Level(name: "slow", onSet: { value, _ in if value == 1 { try await gate.pass() } })
    let cache = upper.compose(slow)
    async let first: Void = cache.set(1, forKey: "a")
    await gate.arrivals(1)
    async let second: Void = cache.set(2, forKey: "a")
    gate.open()
    _ = try await (first, second)
    #expect(upper.stored("a")?.value == slow.stored("a")?.value)
  }

  @Test("a look-up names the level that answered")
  func namesLevel() async throws {
    try await lower.set(1, forKey: "a")
    #expect(try await upper.compose(lower).lookup("a").entry?.level == "lower")
  }

  @Test("require throws where there is no value, and says why")
  func require() async throws {
    let refusing = Level { _ in .miss(.refused) }
    await #expect { try await upper.compose(lower).require("a") } throws: {
      ($0 as? CacheError)?.code == .valueNotInCache
    }
    await #expect { try await upper.compose(refusing).require("a") } throws: {
      ($0 as? CacheError)?.code == .conditionNotSatisfied
    }
    try await lower.set(1, forKey: "a")
    #expect(try await upper.compose(lower).require("a") == 1)
  }

  @Test("concurrent reads, writes, removals and clears leave all levels agreeing")
  func agreesAfterwards() async throws {
    let memory = MemoryCacheLevel<Int, Int>(capacity: 8)
    let disk = MemoryCacheLevel<Int, Int>(name: "disk")
    let cache = memory.compose(disk)
    await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(worker))
          for step in 0..<500 {
            let key = Int.random(in: 0..<6, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5: _ = try await cache.get(key)
            case 5..<8: try await cache.set(worker * 1_000 + step, forKey: key)
            case 8: try await cache.remove(key)
            default: try await cache.clear()
            }
          }
        }
      }
    }
    for key in 0..<6 {
      if let value = memory.peek(key) { #expect(disk.peek(key) == value) }
    }
  }

  @Test("an expired entry above hides no live one below, also if that was stored earlier")
  func expiredAbove() async throws {
    let clock = ManualClock()
    let above = MemoryCacheLevel<String, Int>(
      expiry: .after(.seconds(5)), keepsExpired: .seconds(60), clock: clock)
    let below = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(600)), clock: clock)
    try await below.set(1, forKey: "a")
    clock.advance(by: .seconds(1))
    try await above.set(2, forKey: "a")
    clock.advance(by: .seconds(10))
    let entry = try await above.compose(below, clock: clock).lookupIncludingExpired("a").entry
    #expect(entry?.value == 1)
    #expect(entry?.isStale == false)
  }
}

/// A level whose removals are always cancelled.
private struct Unremovable<Base: CacheLevel>: LevelDecorator {
  let base: Base
  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func remove(_ key: Base.Key) async throws { throw CancellationError() }
}

/// A fetcher that has nothing.
private struct Nothing: Fetcher {
  func get(_ key: String) async throws -> Int? { nil }
}
