import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// What comes between a look at the clock and what is then done: staged, one step at a time.
@Suite(.timeLimit(.minutes(5))) struct MemoryRaceTests {
  /// A clock that lets something happen right after it was looked at.
  private final class HeldUpClock: CacheClock {
    let clock = ManualClock()
    private let next = Mutex((looks: 0, body: (@Sendable () -> Void)?.none))

    func after(_ looks: Int = 1, _ body: @escaping @Sendable () -> Void) { next.withLock { $0 = (looks, body) } }

    var now: CacheInstant {
      let now = clock.now
      let body = next.withLock { next -> (@Sendable () -> Void)? in
        next.looks -= 1
        guard next.looks == 0 else { return nil }
        defer { next.body = nil }
        return next.body
      }
      body?()
      return now
    }
    var timeSinceEpoch: Duration { clock.timeSinceEpoch }
    var bootIdentifier: UInt64 { clock.bootIdentifier }
    var minimumResolution: Duration { clock.minimumResolution }
    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
      try await clock.sleep(until: deadline, tolerance: tolerance)
    }
  }

  private let clock = HeldUpClock()

  private static let reads: [String: @Sendable (MemoryCacheLevel<String, Int>) async throws -> Int?] = [
    "get": { try await $0.get("a") }, "peek": { $0.peek("a") }, "lookup": { try await $0.lookup("a").entry?.value },
    "subscript": { $0["a"] },
  ]

  @Test("a reader that is held up after its look at the clock takes nothing from what others have put off since")
  func lateUse() async throws {
    let level = MemoryCacheLevel<String, Int>(timeToIdle: .seconds(10), clock: clock)
    try await level.set(1, forKey: "a")
    clock.after { [clock] in
      clock.clock.advance(by: .seconds(9))
      #expect(level.peek("a") == 1)
    }
    _ = level.peek("a")
    clock.clock.advance(by: .seconds(9))
    #expect(level.peek("a") == 1)
  }

  @Test(
    "what has expired is not given because another value, or none, stands in its place a moment later",
    arguments: reads.keys.sorted(), ["set", "remove"])
  func lateReplacement(_ read: String, _ write: String) async throws {
    let level = MemoryCacheLevel<String, Int>(timeToIdle: .seconds(10), clock: clock)
    try await level.set(1, forKey: "a")
    clock.clock.advance(by: .seconds(10))
    clock.after { level["a"] = write == "set" ? 2 : nil }
    let ask = try #require(Self.reads[read])
    let found = try await ask(level)
    #expect(found == nil || (write == "set" && found == 2))
    #expect(try await level.lookup("a").entry?.value == (write == "set" ? 2 : nil))
    #expect(level.flaw == nil)
  }

  @Test("nothing leaves for what is restored, whenever somebody else takes the room", arguments: 1...5)
  func restoring(looks: Int) async throws {
    let old = MemoryCacheLevel<String, Data>(clock: clock.clock)
    try await old.set(Data([1]), forKey: "a")
    let path = FileManager.default.temporaryDirectory.appending(path: "race-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await old.snapshot(to: path, keys: .utf8, values: .data)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let departed = Mutex(0)
    let level = MemoryCacheLevel<String, Data>(
      countLimit: 2, eviction: .fifo, clock: clock, removalListener: { _ in departed.withLock { $0 += 1 } })
    try await level.set(Data([2]), forKey: "b")
    clock.after(looks) { level["c"] = Data([3]) }
    let report = try level.restore(bytes, keys: .utf8, values: .data)
    #expect(report.restored + report.left == 1)
    // Who comes after it may take its room, as anybody may; it takes nobody's.
    #expect(level.usage.count == 2 && departed.withLock { $0 } == 0)
  }

  @Test("an entry that was changed and changed back while an update worked was changed")
  func changedBack() {
    let level = MemoryCacheLevel<String, Int>()
    level["a"] = 1
    var seen: [Int?] = []
    level.update("a") { present in
      seen.append(present)
      if seen.count == 1 {
        level["a"] = nil
        level["a"] = 1
      }
      return (present ?? 0) + 1
    }
    #expect(seen == [1, 1] && level["a"] == 2)
  }

  @Test("no cost, pin, limit or lifetime brings limits out of order", arguments: Eviction.all)
  func extremes(eviction: Eviction) async throws {
    var generator = SeededGenerator(seed: 41)
    let level = MemoryCacheLevel<Int, Int>(
      capacity: .max, eviction: eviction, timeToIdle: .seconds(50), clock: clock, cost: { $1 })
    let costs = [0, 1, 5, .max, .max - 1, .max / 2, -3]
    for _ in 0..<4_000 {
      let key = Int.random(in: 0..<40, using: &generator)
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: level.pin(key)
      case 1: level.unpin(key)
      case 2: level[key] = nil
      case 3:
        level.resize(
          capacity: [0, 1, 100, .max].randomElement(using: &generator) ?? 0,
          countLimit: Bool.random(using: &generator) ? nil : [0, 3, Int.max].randomElement(using: &generator))
      case 4: clock.clock.advance(by: .seconds(Int.random(in: 0..<30, using: &generator)))
      case 5: try await level.expire(key)
      case 6: level.update(key) { $0.map { $0 / 2 } ?? 7 }
      case 7: _ = level.peek(key)
      default: level[key] = costs.randomElement(using: &generator) ?? 0
      }
      if let flaw = level.flaw {
        Issue.record(Comment(rawValue: flaw))
        return
      }
    }
    await level.onMemoryWarning()
    #expect(level.usage.count == 0)
    level.resize(capacity: 10, countLimit: nil)
    level[1] = 10
    #expect(level.peek(1) == 10 && !level.isPinned(1))
  }
}
