import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// A level that is divided by the hashes of its keys: the same promises, but for the order in which entries leave.
@Suite struct MemoryPartsTests {
  let clock = ManualClock()

  private func level<Value>(
    dividedAt: Int = 8, capacity: Int = .max, countLimit: Int? = nil, eviction: Eviction = .adaptive,
    keepsExpired: Duration = .zero, timeToIdle: Duration? = nil,
    removalListener: (@Sendable (Removal<Int>) -> Void)? = nil, cost: (@Sendable (Int, Value) -> Int)? = nil
  ) -> MemoryCacheLevel<Int, Value> {
    MemoryCacheLevel(
      "memory", capacity, countLimit, eviction, .never, keepsExpired, timeToIdle, clock, removalListener, cost,
      division: LevelDivision(parts: 4, mostUndivided: dividedAt))
  }

  private func texts(_ entries: [EntrySummary<Int>]) -> Set<String> { Set(entries.map { "\($0)" }) }

  @Test("everything that was held is held after the division, with its lifetime, tags, pin, age and cost")
  func keepsAll() async throws {
    let level: MemoryCacheLevel<Int, Int> = level(dividedAt: 40, cost: { $1 + 1 })
    var undivided: [EntrySummary<Int>] = []
    for key in 0..<40 {
      if key == 39 {
        level.pin(3)
        undivided = try await level.contents()
      }
      let terms = StoreTerms(
        expiry: key % 3 == 0 ? .after(.seconds(Int64(key + 1))) : nil, tags: key % 2 == 0 ? ["even"] : [])
      try await level.store(key, forKey: key, terms: terms)
      clock.advance(by: .milliseconds(1))
    }
    #expect(level.parts.count == 4)
    let divided = try await level.contents()
    #expect(texts(divided.filter { $0.key != 39 }) == texts(undivided))
    #expect((0..<40).allSatisfy { level.peek($0) == $0 })
    #expect(level.isPinned(3) && !level.isPinned(4))
    #expect(level.usage.count == 40 && level.usage.cost == (0..<40).reduce(0) { $0 + $1 + 1 })
    #expect(level.counts.stored == 40)
    clock.advance(by: .seconds(20))
    #expect(try await level.removeExpired() == 7)
    #expect(try await level.removeAll(tagged: "even") == 16)
    #expect(level.flaw == nil)
  }

  @Test("what goes unread still expires, at the moment at which it would have without the division")
  func idle() async throws {
    let level: MemoryCacheLevel<Int, Int> = level(timeToIdle: .seconds(10))
    for key in 0..<7 { level[key] = key }
    clock.advance(by: .seconds(6))
    #expect(level[2] == 2)
    for key in 7..<9 { level[key] = key }
    #expect(level.parts.count == 4)
    clock.advance(by: .seconds(5))
    #expect((0..<9).filter { level.contains($0) } == [2, 7, 8])
    #expect(level.flaw == nil)
  }

  @Test(
    "nothing leaves before both limits are reached, however keys fall to parts; then one leaves for one",
    arguments: Eviction.all)
  func limits(eviction: Eviction) async throws {
    let level: MemoryCacheLevel<Int, Int> = level(capacity: 1_000, countLimit: 100, eviction: eviction, cost: { $1 })
    for key in 0..<100 { level[key] = 3 }
    #expect(level.usage == LevelUsage(count: 100, cost: 300, capacity: 1_000, countLimit: 100))
    #expect(level.counts.evicted == 0)
    for key in 100..<200 {
      level[key] = 3
      #expect(level[key] == 3)
    }
    #expect(level.usage.count == 100 && level.counts.evicted == 100)
    for key in 200..<300 { level[key] = 30 }
    #expect(level.usage.cost <= 1_000 && level.usage.count <= 100)
    #expect(level.flaw == nil)
  }

  @Test("an entry too heavy for its part gets room of all parts, and empties none of them")
  func heavy() async throws {
    let level: MemoryCacheLevel<Int, Int> = level(capacity: 4_000, cost: { $1 })
    for key in 0..<400 { level[key] = 10 }
    level[1_000] = 2_000
    #expect(level[1_000] == 2_000)
    #expect(level.usage.cost <= 4_000 && level.usage.count > 190)
    for number in 0..<4 {
      let count = unsafe level.parts[number].pointee.withLock { entries, _ in entries.table.count }
      #expect((25...75).contains(count))
    }
    // So does what gets heavier; what cannot fit is not kept, and nothing leaves for it.
    level[1_000] = 3_900
    #expect(level[1_000] == 3_900 && level.usage.cost <= 4_000)
    let count = level.usage.count
    level[2_000] = 4_001
    #expect(level[2_000] == nil && level.usage.count == count)
    #expect(level.flaw == nil)
  }

  @Test("pinned entries stay in all parts, and an update that gets heavier loses neither its pin nor a write")
  func pins() async throws {
    let level: MemoryCacheLevel<Int, Int> = level(capacity: 100, cost: { $1 })
    for key in 0..<20 { level[key] = 5 }
    for key in 0..<10 { level.pin(key) }
    for key in 100..<200 { level[key] = 5 }
    #expect((0..<10).allSatisfy { level[$0] == 5 })
    level.update(0) { ($0 ?? 0) + 50 }
    #expect(level[0] == 55 && level.isPinned(0))
    #expect((0..<10).allSatisfy { level.isPinned($0) } && level.usage.cost <= 100)
    // All that is held is pinned: nothing else is kept.
    level[300] = 5
    #expect(level[300] == nil && level.usage.count == 10)
    for key in 0..<10 { level.unpin(key) }
    level[300] = 5
    #expect(level[300] == 5)
    #expect(level.flaw == nil)
  }

  @Test("what is pinned in any part and has expired leaves room for what comes, and does so in one step")
  func expiredPins() async throws {
    let told = Mutex<[RemovalCause: Int]>([:])
    let level: MemoryCacheLevel<Int, Int> = level(
      countLimit: 8, removalListener: { removal in told.withLock { $0[removal.cause, default: 0] += 1 } })
    for key in 0..<8 { try await level.store(key, forKey: key, terms: StoreTerms(expiry: .after(.seconds(1)))) }
    #expect(level.parts.count == 4)
    for key in 0..<8 { level.pin(key) }
    level[100] = 1
    #expect(level[100] == nil && level.usage.count == 8)
    clock.advance(by: .seconds(1))
    #expect(try await level.store(1, forKey: 100, terms: StoreTerms(), if: .absent))
    #expect(level[100] == 1 && level.usage.count == 1)
    #expect(told.withLock { $0 } == [.evicted: 1, .expired: 8])
    #expect(level.flaw == nil)
  }

  @Test("a value that gets heavier makes others leave and never itself: an update and a replacement see it")
  func growsInPlace() async throws {
    for replaces in [false, true] {
      // In order of arrival the first key would be the first to leave its part.
      let level: MemoryCacheLevel<Int, Int> = level(capacity: 80, eviction: .fifo, cost: { $1 })
      for key in 0..<16 { level[key] = 5 }
      #expect(level.parts.count == 4 && level.usage.cost == 80)
      if replaces {
        #expect(try await level.store(35, forKey: 0, terms: StoreTerms(), if: .present))
      } else {
        var seen: [Int?] = []
        level.update(0) { present in
          seen.append(present)
          return (present ?? 0) + 30
        }
        #expect(seen == [5])
      }
      #expect(level[0] == 35 && level.usage.cost == 80 && level.counts.evicted == 6)
      #expect(level.flaw == nil)
    }
  }

  @Test("an update calls its closure once although other parts have to make room for what it stores")
  func updatesOnce() {
    let level: MemoryCacheLevel<Int, Int> = level(countLimit: 8)
    for key in 0..<20 { level[key] = key }
    #expect(level.parts.count == 4 && level.usage.count == 8)
    for key in 100..<110 {
      var calls = 0
      level.update(key) { _ in
        calls += 1
        return key
      }
      #expect(calls == 1 && level[key] == key)
    }
    #expect(level.usage.count == 8 && level.flaw == nil)
  }

  @Test("limits that get lower hold at once, and those that get higher are used")
  func resizes() async throws {
    let told = Mutex(0)
    let level: MemoryCacheLevel<Int, Int> = level(countLimit: 200, removalListener: { _ in told.withLock { $0 += 1 } })
    for key in 0..<200 { level[key] = key }
    level.resize(countLimit: 30)
    #expect(level.usage.count == 30 && told.withLock { $0 } == 170 && level.usage.countLimit == 30)
    level.resize(capacity: 7, countLimit: nil)
    #expect(level.usage.count == 7)
    // Fewer than one for each part: a part without entries takes its room from others.
    level.resize(capacity: 2)
    for key in 300..<340 {
      level[key] = key
      #expect(level[key] == key && level.usage.count == 2)
    }
    level.resize(capacity: 50)
    for key in 400..<450 { level[key] = key }
    #expect(level.usage.count == 50)
    try await level.clear()
    #expect(level.usage.count == 0 && level.flaw == nil)
    for key in 500..<550 { level[key] = key }
    #expect(level.usage.count == 50 && level.flaw == nil)
  }

  @Test("no order of operations brings limits out of order, or gives what was not stored", arguments: Eviction.all)
  func random(eviction: Eviction) async throws {
    var generator = SeededGenerator(seed: 7)
    let held = Mutex<[Int: Int]>([:])
    let level: MemoryCacheLevel<Int, Int> = level(
      capacity: 300, countLimit: 60, eviction: eviction, keepsExpired: .seconds(2), timeToIdle: .seconds(40),
      removalListener: { removal in held.withLock { $0[removal.key, default: 0] -= 1 } }, cost: { $1 % 100 })
    var last: [Int: Int] = [:]
    for step in 0..<6_000 {
      let key = Int.random(in: 0..<120, using: &generator)
      switch Int.random(in: 0..<16, using: &generator) {
      case 0: level.pin(key)
      case 1: level.unpin(key)
      case 2: level[key] = nil
      case 3 where step % 50 == 0:
        level.resize(
          capacity: [0, 5, 100, 300].randomElement(using: &generator) ?? 0,
          countLimit: [nil, 3, 60].randomElement(using: &generator) ?? nil)
      case 4: clock.advance(by: .seconds(Int.random(in: 0..<4, using: &generator)))
      case 5: try await level.expire(key)
      case 6: try await level.removeExpired()
      case 7 where step % 400 == 0: try await level.clear()
      case 8, 9:
        if let value = try await level.get(key) { #expect(last[key] == value) }
      default:
        let value = step * 100 + Int.random(in: 0..<30, using: &generator)
        held.withLock { $0[key, default: 0] += 1 }
        last[key] = value
        try await level.store(
          value, forKey: key, terms: StoreTerms(expiry: step % 5 == 0 ? .after(.seconds(9)) : nil))
      }
      if let flaw = level.flaw {
        Issue.record("step \(step): \(flaw)")
        return
      }
    }
    #expect(level.parts.count == 4)
    // Every entry that left was told of once.
    let there = Set(try await level.contents().map(\.key))
    #expect(
      held.withLock { $0.filter { $0.value != 0 }.mapValues { $0 } }
        == Dictionary(uniqueKeysWithValues: there.map { ($0, 1) }))
  }

  @Test("a thread that writes while the level is divided finds what it wrote")
  func concurrentDivision() async {
    for round in 0..<40 {
      let level: MemoryCacheLevel<Int, Int> = level(dividedAt: 100 + round * 7)
      level.openStripes(after: 1)
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for step in 0..<200 {
              let key = worker * 1_000 + step
              level[key] = step
              if level.peek(key) != step { Issue.record("\(key) is not found once it was stored") }
              let early = worker * 1_000 + step / 2
              if step / 2 % 20 != 19, level[early] != step / 2 { Issue.record("\(early) is found no more") }
              if step % 10 == 0 { level.update(9_999) { ($0 ?? 0) + 1 } }
              if step % 20 == 19 { level[key] = nil }
            }
          }
        }
      }
      #expect(level.parts.count == 4 && level.flaw == nil)
      #expect(level.usage.count == 4 * 190 + 1 && level[9_999] == 80)
    }
  }

  @Test("threads that write together keep the limits, and every part its order")
  func concurrentWriters() async {
    let level: MemoryCacheLevel<Int, Int> = level(capacity: 2_000, countLimit: 300, cost: { $1 })
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(worker))
          for step in 0..<5_000 {
            let key = Int.random(in: 0..<1_000, using: &generator)
            switch step % 8 {
            case 0: level[key] = nil
            case 1...4: level[key] = Int.random(in: 1..<12, using: &generator)
            case 5: level[key] = step % 400 == 5 ? 700 : 3
            default: _ = level.peek(key)
            }
            if step % 50 == 0 {
              let usage = level.usage
              if usage.cost > 2_000 || usage.count > 300 { Issue.record("holds \(usage)") }
            }
            if step % 1_000 == 0 { try? await level.clear() }
          }
        }
      }
    }
    #expect(level.flaw == nil)
  }

  @Test("a level stays whole where the exact order of use is asked for, or where it is small")
  func whole() {
    let lru = MemoryCacheLevel<Int, Int>(countLimit: 1_000_000, eviction: .lru)
    let small = MemoryCacheLevel<Int, Int>(countLimit: 2_000)
    #expect(lru.parts.most == 1 && small.parts.most == 1)
    #expect(LevelDivision(100_000, 5_000, .adaptive, isWeighted: false).parts <= 4)
  }

  @Test("what was pinned when everything was cleared takes up no room any more")
  func clearsPins() async throws {
    let level: MemoryCacheLevel<Int, Int> = level(capacity: 20)
    for key in 0..<20 {
      try await level.set(key, forKey: key)
      level.pin(key)
    }
    #expect(level.parts.count == 4)
    try await level.clear()
    for key in 20..<40 { try await level.set(key, forKey: key) }
    #expect(level.usage.count == 20)
    #expect(level.flaw == nil)
  }
}
