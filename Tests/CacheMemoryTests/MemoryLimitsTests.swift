import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// Limits that change, and entries that they do not concern.
@Suite struct MemoryLimitsTests {
  let clock = ManualClock()

  private func keys(_ level: MemoryCacheLevel<Int, Int>) async throws -> Set<Int> {
    Set(try await level.contents().map(\.key))
  }

  private func flaw<Value>(_ level: MemoryCacheLevel<Int, Value>) -> String? {
    level.flaw
  }

  @Test("shrinking lets go by the policy, counts it and tells of it; growing lets nothing go")
  func resizes() async throws {
    let told = Mutex<[String]>([])
    let level = MemoryCacheLevel<Int, Int>(
      countLimit: 10, eviction: .lru,
      removalListener: { removal in
        told.withLock { $0.append("\(removal.key) \(removal.cause) \(String(describing: removal.madeRoomFor))") }
      })
    for key in 0..<6 { try await level.set(key, forKey: key) }
    _ = level.peek(0)
    level.resize(countLimit: 3)
    #expect(try await keys(level) == [4, 5, 0])
    #expect(told.withLock { $0 } == ["1 evicted nil", "2 evicted nil", "3 evicted nil"])
    #expect(level.counts.evicted == 3)
    #expect(level.usage == LevelUsage(count: 3, cost: 3, capacity: 100_000, countLimit: 3))
    level.resize(capacity: 4, countLimit: nil)
    try await level.set(6, forKey: 6)
    #expect(level.usage == LevelUsage(count: 4, cost: 4, capacity: 4))
    level.resize(capacity: 2)
    #expect(try await keys(level) == [0, 6])
    level.resize(capacity: 100)
    #expect(try await keys(level) == [0, 6])
    for key in 10..<100 { try await level.set(key, forKey: key) }
    #expect(level.usage.count == 92)
  }

  @Test("to nothing and back, with every policy", arguments: Eviction.all)
  func toNothing(eviction: Eviction) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 200, eviction: eviction)
    for key in 0..<500 { try await level.set(key, forKey: key) }
    level.resize(countLimit: 0)
    #expect(level.usage.count == 0)
    try await level.set(1, forKey: 1)
    #expect(level.peek(1) == nil)
    level.resize(countLimit: 50)
    for key in 0..<500 { try await level.set(key, forKey: key) }
    #expect(level.usage.count == 50)
    #expect(flaw(level) == nil)
  }

  @Test("what has expired leaves first, and is told of as expired")
  func expiredFirst() async throws {
    let causes = Mutex<[Int: RemovalCause]>([:])
    let level = MemoryCacheLevel<Int, Int>(
      clock: clock, removalListener: { removal in causes.withLock { $0[removal.key] = removal.cause } })
    try await level.set(0, forKey: 0)
    for key in 1..<5 { try await level.set(key, forKey: key, expiry: .after(.seconds(1))) }
    clock.advance(by: .seconds(1))
    level.resize(countLimit: 1)
    #expect(try await keys(level) == [0])
    #expect(causes.withLock { $0 } == [1: .expired, 2: .expired, 3: .expired, 4: .expired])
  }

  @Test("no limit makes a pinned entry leave, with every policy", arguments: Eviction.all)
  func pins(eviction: Eviction) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 100, eviction: eviction)
    for key in 0..<100 { try await level.set(key, forKey: key) }
    for key in 0..<60 { #expect(level.pin(key)) }
    var generator = SeededGenerator(seed: 1)
    for step in 0..<3_000 {
      let key = Int.random(in: 100..<400, using: &generator)
      if level.peek(key) == nil { try await level.set(step, forKey: key) }
      if step % 500 == 0 { level.resize(countLimit: Int.random(in: 62..<150, using: &generator)) }
    }
    for key in 0..<60 { #expect(level.peek(key) == key) }
    #expect(flaw(level) == nil)
    for key in 0..<60 { #expect(level.unpin(key)) }
    level.resize(countLimit: 0)
    #expect(level.usage.count == 0)
    #expect(flaw(level) == nil)
  }

  @Test("where everything is pinned, a set keeps nothing and lets nothing go, but a pinned value can be overwritten")
  func allPinned() async throws {
    let departed = Mutex<[String]>([])
    let level = MemoryCacheLevel<Int, String>(
      capacity: 6, removalListener: { removal in departed.withLock { $0.append("\(removal.key) \(removal.cause)") } })
    for key in 0..<2 {
      try await level.set("abc", forKey: key)
      level.pin(key)
    }
    try await level.set("x", forKey: 2)
    #expect(level.peek(2) == nil)
    try await level.set("xyz", forKey: 1)
    #expect(level.peek(1) == "xyz")
    #expect(level.isPinned(1))
    #expect(departed.withLock { $0 } == ["2 evicted", "1 replaced"])
    // The heavier value does not fit; the value before is no longer true.
    try await level.set("wxyz", forKey: 1)
    #expect(level.peek(1) == nil)
    #expect(level.peek(0) == "abc")
    #expect(!level.isPinned(1))
    #expect(flaw(level) == nil)
  }

  @Test("an overwrite that needs room keeps the pin and lets others go")
  func overwritesPinned() async throws {
    let level = MemoryCacheLevel<Int, String>(capacity: 6, eviction: .lru)
    try await level.set("a", forKey: 0)
    level.pin(0)
    try await level.set("bbbbb", forKey: 1)
    try await level.set("aaaa", forKey: 0)
    #expect(level.peek(1) == nil)
    #expect(level.isPinned(0))
    try await level.set("cc", forKey: 2)
    try await level.set("dd", forKey: 3)
    #expect(level.peek(0) == "aaaa")
    #expect(level.usage.cost == 6)
    #expect(flaw(level) == nil)
  }

  @Test("a level that is made smaller than what is pinned keeps that, and shrinks when it is unpinned")
  func smallerThanPins() async throws {
    let level = MemoryCacheLevel<Int, String>(eviction: .lru)
    for key in 0..<4 {
      try await level.set("abcd", forKey: key)
      if key < 3 { level.pin(key) }
    }
    level.resize(capacity: 5)
    #expect(level.usage == LevelUsage(count: 3, cost: 12, capacity: 5))
    try await level.set("x", forKey: 9)
    #expect(level.peek(9) == nil)
    try await level.set("ab", forKey: 0)
    #expect(level.peek(0) == "ab")
    #expect(flaw(level) == nil)
    #expect(level.unpin(1))
    #expect(level.usage == LevelUsage(count: 2, cost: 6, capacity: 5))
    #expect(level.unpin(2))
    #expect(level.usage == LevelUsage(count: 1, cost: 2, capacity: 5))
    #expect(level.peek(0) == "ab")
    #expect(flaw(level) == nil)
  }

  @Test("a pinned entry expires, is removed, cleared and taken by a memory warning, and its pin goes with it")
  func pinsEnd() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 2, clock: clock)
    let ends: [@Sendable () async throws -> Void] = [
      { try await level.remove(1) }, { try await level.clear() }, { await level.onMemoryWarning() },
      {
        try await level.expire(1)
        try await level.removeExpired()
      },
    ]
    for end in ends {
      try await level.set(1, forKey: 1)
      #expect(level.pin(1))
      try await end()
      #expect(level.peek(1) == nil)
      #expect(!level.unpin(1))
      try await level.set(1, forKey: 1)
      #expect(!level.isPinned(1))
      #expect(flaw(level) == nil)
    }
    #expect(!level.pin(5))
    try await level.expire(1)
    #expect(!level.pin(1))
  }

  @Test("a pinned entry that has expired is in nobody's way, and its pin is not for what is stored over it")
  func expiredPins() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 3, expiry: .after(.seconds(10)), clock: clock)
    for key in 0..<3 {
      level[key] = key
      level.pin(key)
    }
    level[5] = 5
    #expect(level[5] == nil)
    clock.advance(by: .seconds(10))
    #expect(!level.isPinned(0))
    level[0] = 7
    #expect(level[0] == 7 && !level.isPinned(0))
    #expect(try await level.removeExpired() == 2)
    for key in 1..<3 {
      level[key] = key
      level.pin(key)
    }
    level.pin(0)
    clock.advance(by: .seconds(10))
    level[5] = 5
    #expect(level[5] == 5)
    #expect(try await keys(level) == [5])
    #expect(flaw(level) == nil)
  }

  @Test("the pin of an entry that is kept beyond its lifetime is for what is stored over it")
  func keptPins() async throws {
    let level = MemoryCacheLevel<Int, Int>(
      countLimit: 1, expiry: .after(.seconds(10)), keepsExpired: .seconds(5), clock: clock)
    level[0] = 0
    level.pin(0)
    clock.advance(by: .seconds(10))
    level[1] = 1
    #expect(level[1] == nil)
    level[0] = 7
    #expect(level[0] == 7 && level.isPinned(0))
    clock.advance(by: .seconds(15))
    #expect(!level.isPinned(0))
    #expect(flaw(level) == nil)
  }

  @Test("random operations keep every pin and both limits", arguments: Eviction.all, 0..<3)
  func random(eviction: Eviction, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let level = MemoryCacheLevel<Int, Int>(capacity: 300, countLimit: 60, eviction: eviction, cost: { $1 })
    var pinned: Set<Int> = []
    for _ in 0..<3_000 {
      let key = Int.random(in: 0..<90, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: if level.pin(key) { pinned.insert(key) }
      case 1, 2: #expect(level.unpin(key) == (pinned.remove(key) != nil))
      case 3:
        try await level.remove(key)
        pinned.remove(key)
      case 4:
        level.resize(
          capacity: Int.random(in: 0..<400, using: &generator), countLimit: Int.random(in: 0..<80, using: &generator))
      case 5..<12: _ = level.peek(key)
      default:
        // A value of its own weight, so that it always fits over itself.
        try await level.set(1 + key % 7, forKey: key)
      }
      for key in pinned where level.peek(key) == nil { Issue.record("key \(key) is pinned and gone") }
    }
    #expect(flaw(level) == nil)
  }

  @Test(
    "what takes the place of an entry that leaves has nothing of it, neither tags nor lifetime",
    arguments: [false, true], [false, true])
  func takesNothingOver(isTagged: Bool, isPlain: Bool) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 2, eviction: .lru, clock: clock)
    let terms = isTagged ? StoreTerms(tags: ["red"]) : StoreTerms(expiry: .after(.seconds(10)))
    try await level.store(1, forKey: 1, terms: terms)
    try await level.set(2, forKey: 2)
    if isPlain {
      try await level.set(3, forKey: 3)
    } else {
      try await level.store(3, forKey: 3, terms: StoreTerms(tags: ["blue"]))
    }
    #expect(try await keys(level) == [2, 3])
    #expect(flaw(level) == nil)
    // Nor is anything known of a key that has left.
    try await level.set(1, forKey: 1)
    #expect(try await level.removeAll(tagged: "red") == 0)
    clock.advance(by: .seconds(10))
    #expect(try await level.removeExpired() == 0)
    #expect(try await keys(level) == [1, 3])
    #expect(flaw(level) == nil)
  }
}
