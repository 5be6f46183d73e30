import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// Writes that wait for nothing, and values made of those before.
@Suite(.timeLimit(.minutes(5))) struct MemoryUpdatingTests {
  let level = MemoryCacheLevel<String, Int>()

  @Test("a subscript reads, writes and removes at once, and counts as the calls do that it stands for")
  func subscripts() async throws {
    #expect(level["a"] == nil)
    level["a"] = 1
    #expect(level["a"] == 1)
    #expect(try await level.get("a") == 1)
    level["a"] = nil
    #expect(try await level.lookup("a").missReason == .absent)
    #expect(level.counts == MemoryCounts(hits: 2, misses: 2, stored: 1))
  }

  @Test("an update sees what is there and puts its value in place; nil removes")
  func updates() {
    #expect(level.update("a") { ($0 ?? 0) + 1 } == 1)
    #expect(level.update("a") { ($0 ?? 0) + 1 } == 2)
    #expect(level["a"] == 2)
    #expect(level.update("a") { _ in nil } == nil)
    #expect(level.usage.count == 0)
    #expect(level.update("a") { $0 } == nil)
  }

  @Test("no increment of many tasks is lost, while others write other keys")
  func concurrent() async {
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { [level] in
          for step in 0..<1_000 {
            level.update(step % 2 == 0 ? "a" : "b") { ($0 ?? 0) + 1 }
            level["\(task)"] = step
          }
        }
      }
    }
    #expect(level["a"] == 4_000)
    #expect(level["b"] == 4_000)
    #expect(level.parts.withLock(of: 0) { entries, _ in entries.updates.isEmpty })
  }

  @Test(
    "whatever is written between the look and the store, the closure is called anew with what there is then",
    arguments: ["set", "remove", "insertion", "nothing"])
  func disturbed(by write: String) async throws {
    level["a"] = write == "insertion" ? nil : 10
    var seen: [Int?] = []
    let result = level.update("a") { present in
      seen.append(present)
      if seen.count == 1 {
        switch write {
        case "set", "insertion": level["a"] = 20
        case "remove": level["a"] = nil
        default: break
        }
      }
      return (present ?? 0) + 1
    }
    switch write {
    case "set": #expect(seen == [10, 20] && result == 21)
    case "insertion": #expect(seen == [nil, 20] && result == 21)
    case "remove": #expect(seen == [10, nil] && result == 1)
    default: #expect(seen == [10] && result == 11)
    }
    #expect(level["a"] == result)
  }

  @Test("a clear, an expiry or an eviction in between is seen")
  func disturbedFromOutside() async {
    for end in ["clear", "expire", "evict"] {
      let level = MemoryCacheLevel<String, Int>(countLimit: 1)
      level["a"] = 10
      let looked = AsyncStream<Void>.makeStream()
      let ended = Mutex(false)
      let seen = Mutex<[Int?]>([])
      let work = Task.detached {
        level.update("a") { present in
          let isFirst = seen.withLock {
            $0.append(present)
            return $0.count == 1
          }
          if isFirst {
            looked.continuation.finish()
            while !ended.withLock({ $0 }) {}
          }
          return (present ?? 0) + 1
        }
      }
      for await _ in looked.stream {}
      switch end {
      case "clear": try? await level.clear()
      case "expire": try? await level.expire("a")
      default: level["b"] = 1
      }
      ended.withLock { $0 = true }
      #expect(await work.value == 1)
      #expect(seen.withLock { $0 } == [10, nil])
    }
  }

  @Test("a closure that throws changes nothing, and may use the level otherwise")
  func throwing() {
    struct Refused: Error {}
    level["a"] = 1
    #expect(throws: Refused.self) {
      try level.update("a") { _ in
        level["b"] = 2
        throw Refused()
      }
    }
    #expect(level["a"] == 1 && level["b"] == 2)
    #expect(level.parts.withLock(of: 0) { entries, _ in entries.updates.isEmpty })
  }

  @Test("what has expired is nothing to an update, whose value lives by terms of its own")
  func expired() {
    let clock = ManualClock()
    let level = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(10)), clock: clock)
    level["a"] = 1
    clock.advance(by: .seconds(10))
    var calls = 0
    level.update("a", terms: StoreTerms(expiry: .after(.seconds(2)))) { present in
      calls += 1
      return (present ?? 100) + 1
    }
    #expect(level["a"] == 101)
    #expect(calls == 1)
    clock.advance(by: .seconds(2))
    #expect(level["a"] == nil)
  }
}
