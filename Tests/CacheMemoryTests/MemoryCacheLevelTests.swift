import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

@Suite struct MemoryCacheLevelTests {
  let clock = ManualClock()

  @Test("C123 an unknown key misses, and a set under another key changes nothing")
  func misses() async throws {
    let level = MemoryCacheLevel<String, Int>()
    try await level.set(1, forKey: "b")
    #expect(try await level.lookup("a").missReason == .absent)
  }

  @Test("C124 a set is read back, and a second one overwrites")
  func overwrites() async throws {
    let level = MemoryCacheLevel<String, Int>()
    try await level.set(1, forKey: "a")
    try await level.set(2, forKey: "a")
    #expect(try await level.get("a") == 2)
    #expect(level.usage.count == 1)
  }

  @Test("C125 H12 the total cost never exceeds the capacity, and the oldest leaves first")
  func boundsCost() async throws {
    let level = MemoryCacheLevel<Int, String>(capacity: 10, eviction: .lru)
    for key in 0..<20 {
      try await level.set("abc", forKey: key)
      #expect(level.usage.cost <= 10)
    }
    #expect(Set(try await level.contents().map(\.key)) == [17, 18, 19])
  }

  @Test("to keep what has expired for less than no time ends nothing before its time")
  func keepsForNoTime() async throws {
    let level = MemoryCacheLevel<Int, Int>(
      expiry: .after(.seconds(10)), keepsExpired: .seconds(-60), clock: clock)
    level[0] = 0
    clock.advance(by: .seconds(9))
    level[1] = 1
    #expect(try await level.removeExpired() == 0)
    #expect(level[0] == 0)
    clock.advance(by: .seconds(1))
    #expect(try await level.lookupIncludingExpired(0).missReason == .expired)
  }

  @Test("H11 a count limit holds, and the newest survives")
  func boundsCount() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 3, eviction: .lru)
    for key in 0..<10 { try await level.set(key, forKey: key) }
    #expect(Set(try await level.contents().map(\.key)) == [7, 8, 9])
  }

  @Test("C135 reading counts as use")
  func readingIsUse() async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 2, eviction: .lru)
    try await level.set(1, forKey: 1)
    try await level.set(2, forKey: 2)
    _ = try await level.get(1)
    try await level.set(3, forKey: 3)
    #expect(Set(try await level.contents().map(\.key)) == [1, 3])
  }

  @Test("C126 clear and a memory warning empty the level")
  func empties() async throws {
    let level = MemoryCacheLevel<Int, Int>()
    try await level.set(1, forKey: 1)
    try await level.clear()
    #expect(level.usage == LevelUsage(count: 0, cost: 0, capacity: 100_000))
    try await level.set(1, forKey: 1)
    await level.onMemoryWarning()
    #expect(try await level.get(1) == nil)
  }

  @Test("C127 removing makes the key miss, and removing an absent key succeeds")
  func removes() async throws {
    let level = MemoryCacheLevel<Int, Int>()
    try await level.set(1, forKey: 1)
    try await level.remove(1)
    try await level.remove(1)
    #expect(try await level.get(1) == nil)
  }

  @Test("C128 text costs its bytes, numbers and values without a cost are counted, and the capacity has the same unit")
  func costs() async throws {
    let texts = MemoryCacheLevel<Int, String>()
    try await texts.set("äöü", forKey: 1)
    #expect(texts.usage.cost == 6)
    #expect(texts.usage.capacity == 50 << 20)
    // One character of many scalars, which a count of characters takes for next to nothing.
    let accents = "e" + String(repeating: "\u{301}", count: 100_000)
    #expect(accents.cost == 200_001)
    #expect(URL(string: "https://example.org/ä")?.cost == 26)
    let numbers = MemoryCacheLevel<Int, Int>()
    try await numbers.set(1_000, forKey: 1)
    #expect(numbers.usage.cost == 1)
    #expect(numbers.usage.capacity == 100_000)
  }

  @Test("C129 an entry heavier than the capacity is not kept and nothing leaves for it but its own old value")
  func refusesTooHeavy() async throws {
    let level = MemoryCacheLevel<Int, String>(capacity: 10)
    try await level.set("abc", forKey: 1)
    try await level.set("abc", forKey: 2)
    try await level.set(String(repeating: "x", count: 11), forKey: 2)
    #expect(try await level.get(1) == "abc")
    #expect(try await level.get(2) == nil)
    try await level.set(String(repeating: "x", count: 10), forKey: 3)
    #expect(try await level.get(3) != nil)
    // Whoever stores on a condition is told of that, and of nothing else.
    #expect(try await level.setIfAbsent(String(repeating: "x", count: 11), forKey: 4))
    #expect(try await level.get(4) == nil)
    #expect(try await !level.replace("abc", forKey: 4))
  }

  @Test("C130 keys of a custom type never collapse into one entry")
  func customKeys() async throws {
    struct Place: Hashable { var x: Int; var y: Int }
    let level = MemoryCacheLevel<Place, Int>()
    for x in 0..<10 { for y in 0..<10 { try await level.set(x * 10 + y, forKey: Place(x: x, y: y)) } }
    for x in 0..<10 { for y in 0..<10 { #expect(try await level.get(Place(x: x, y: y)) == x * 10 + y) } }
  }

  @Test("H3 H6 the deadline is fixed when stored, counted from each store")
  func deadlines() async throws {
    let level = MemoryCacheLevel<Int, Int>(expiry: .after(.seconds(60)), clock: clock)
    clock.advance(by: .seconds(100))
    try await level.set(1, forKey: 1)
    let deadline = clock.now.advanced(by: .seconds(60))
    clock.advance(by: .seconds(59))
    #expect(try await level.lookup(1).entry?.deadline == deadline)
    clock.advance(by: .seconds(1))
    #expect(level.peek(1) == nil)
    #expect(try await level.lookup(1).missReason == .expired)
    #expect(try await level.lookup(1).missReason == .absent)
  }

  @Test("H2 a lifetime of zero, or a negative one, is over at once", arguments: [0, -5])
  func expiredAtOnce(seconds: Int) async throws {
    let level = MemoryCacheLevel<Int, Int>(clock: clock)
    try await level.set(1, forKey: 1, expiry: .after(.seconds(seconds)))
    #expect(try await level.get(1) == nil)
  }

  @Test("H5 an expiry given at the store goes before the level's own")
  func explicitExpiry() async throws {
    let level = MemoryCacheLevel<Int, Int>(expiry: .after(.seconds(1)), clock: clock)
    try await level.set(1, forKey: 1, expiry: .never)
    clock.advance(by: .seconds(3_600))
    #expect(try await level.get(1) == 1)
  }

  @Test("H10 removing what has expired leaves the rest")
  func removesExpired() async throws {
    let level = MemoryCacheLevel<Int, Int>(clock: clock)
    for key in 0..<10 { try await level.set(key, forKey: key, expiry: .after(.seconds(key))) }
    clock.advance(by: .seconds(4))
    #expect(try await level.removeExpired() == 5)
    #expect(Set(try await level.contents().map(\.key)) == [5, 6, 7, 8, 9])
  }

  @Test("an entry that is told to expire is found expired")
  func expires() async throws {
    let level = MemoryCacheLevel<Int, Int>(clock: clock)
    try await level.set(1, forKey: 1)
    try await level.expire(1)
    try await level.expire(2)
    #expect(try await level.lookup(1).missReason == .expired)
  }

  @Test("every entry that leaves is reported once with its cause")
  func reportsRemovals() async throws {
    let causes = Mutex<[String]>([])
    let level = MemoryCacheLevel<Int, String>(
      capacity: 2, clock: clock,
      removalListener: { removal in causes.withLock { $0.append("\(removal.key) \(removal.cause) \(removal.cost)") } })
    try await level.set("a", forKey: 1)
    try await level.set("b", forKey: 1)
    try await level.set("c", forKey: 2)
    try await level.set("d", forKey: 3)
    try await level.remove(2)
    try await level.set("e", forKey: 4, expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    _ = try await level.get(4)
    await level.onMemoryWarning()
    try await level.set("f", forKey: 5)
    try await level.clear()
    #expect(
      causes.withLock { $0 } == [
        "1 replaced 1", "1 evicted 1", "2 removed 1", "4 expired 1", "3 memoryWarning 1", "5 cleared 1",
      ])
  }

  @Test("a listener may use the level that calls it")
  func reentrantListener() async throws {
    let box = Mutex<MemoryCacheLevel<Int, Int>?>(nil)
    let seen = Mutex<[Int]>([])
    let level = MemoryCacheLevel<Int, Int>(
      countLimit: 1, removalListener: { _ in seen.withLock { $0.append(box.withLock { $0 }?.usage.count ?? -1) } })
    box.withLock { $0 = level }
    try await level.set(1, forKey: 1)
    try await level.set(2, forKey: 2)
    box.withLock { $0 = nil }
    #expect(seen.withLock { $0 } == [1])
  }

  @Test("random operations agree with a dictionary and a list", arguments: 0..<8)
  func agreesWithModel(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let level = MemoryCacheLevel<Int, Int>(countLimit: 20, eviction: .lru)
    var model: [(key: Int, value: Int)] = []  // the most recently used last
    for step in 0..<3_000 {
      let key = Int.random(in: 0..<40, using: &generator)
      let position = model.firstIndex { $0.key == key }
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        #expect(try await level.get(key) == position.map { model[$0].value })
        if let position { model.append(model.remove(at: position)) }
      case 5..<9:
        try await level.set(step, forKey: key)
        if let position { model.remove(at: position) }
        model.append((key, step))
        if model.count > 20 { model.removeFirst() }
      default:
        try await level.remove(key)
        if let position { model.remove(at: position) }
      }
      #expect(level.usage.count == model.count)
    }
    #expect(Set(try await level.contents().map(\.key)) == Set(model.map(\.key)))
  }

  @Test("H82 mixed operations from many tasks lose no key that nobody removes")
  func concurrent() async throws {
    let level = MemoryCacheLevel<Int, Int>()
    await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for step in 0..<2_000 {
            try await level.set(step, forKey: worker)
            #expect(try await level.get(worker) == step)
            if step % 50 == 0 { _ = try await level.removeExpired() }
          }
        }
      }
    }
    #expect(level.usage.count == 8)
  }

  @Test("P17 tags of keys that do not equal themselves are not kept beyond their entries")
  func tagsOfUnequalKeys() async throws {
    let level = MemoryCacheLevel<Double, Int>(countLimit: 1)
    for number in 0..<10 { try await level.set(number, forKey: .nan, tags: ["x"]) }
    #expect(level.usage.count == 1)
    #expect(level.parts.withLock(of: 0) { entries, _ in entries.tags.isEmpty })
  }

}
