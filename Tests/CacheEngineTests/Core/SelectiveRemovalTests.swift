import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct SelectiveRemovalTests {
  @Test("entries are removed by what their keys look like, from every level")
  func byKey() async throws {
    let folder = DiskFolder()
    let memory = MemoryCacheLevel<String, Data>()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 4 << 20)
    let fetcher = BasicFetcher<String, Data> { _ in nil }
    let cache = memory.compose(disk).pooled().compose(fetcher)
    for key in ["user:1", "user:2", "image:1"] { try await cache.set(Data(key.utf8), forKey: key) }
    #expect(try await cache.removeAll(withPrefix: "user:") == 4)
    #expect(try await cache.get("user:1") == nil)
    #expect(try await cache.get("image:1") == Data("image:1".utf8))
    #expect(try await cache.removeAll { $0.hasSuffix("1") } == 2)
    #expect(disk.usage.count == 0)
  }

  @Test("a prefix is found in whatever normal form the keys are")
  func normalForms() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    try await memory.set(1, forKey: "cafe\u{301}/menu")
    #expect(try await memory.removeAll(withPrefix: "caf\u{e9}/") == 1)
    // What is another letter is no beginning of it.
    try await memory.set(1, forKey: "cafe\u{301}")
    #expect(try await memory.removeAll(withPrefix: "cafe") == 0)
  }

  @Test(
    "a prefix is found before whatever follows it, even what `String` takes for a part of its last character",
    arguments: ["\u{301}x", "🏻", "\u{200d}", "\u{fe0f}", "plain"])
  func combining(rest: String) async throws {
    let memory = MemoryCacheLevel<String, Int>()
    try await memory.set(1, forKey: "user:" + rest)
    #expect(try await memory.removeAll(withPrefix: "user:") == 1)
  }

  @Test("a removal by key is not undone by a read that travelled meanwhile")
  func noReturn() async throws {
    let gate = Gate()
    let below = MemoryCacheLevel<String, Int>(name: "below")
    try await below.set(1, forKey: "a")
    let slow = below.postProcess { value in
      try await gate.pass()
      return value
    }
    let memory = MemoryCacheLevel<String, Int>()
    let cache = memory.compose(slow)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    try await cache.removeAll { _ in true }
    gate.open()
    #expect(try await reader.value == 1)
    #expect(memory.usage.count == 0)
  }

  @Test("tagged entries go by their tag, and a tag goes with its entry")
  func tags() async throws {
    let memory = MemoryCacheLevel<String, Int>(countLimit: 3)
    try await memory.set(1, forKey: "a", tags: ["red", "round"])
    try await memory.set(2, forKey: "b", tags: ["red"])
    try await memory.set(3, forKey: "c")
    #expect(try await memory.lookup("a").entry?.tags == ["red", "round"])
    try await memory.set(4, forKey: "b")
    #expect(try await memory.removeAll(tagged: "red") == 1)
    #expect(try await memory.get("a") == nil)
    #expect(try await memory.get("b") == 4)
    #expect(try await memory.removeAll(tagged: "round") == 0)
  }

  @Test("tags travel upwards with what is copied, and a removal by tag reaches both levels")
  func tagsTravel() async throws {
    let (upper, lower) = (MemoryCacheLevel<String, Int>(), MemoryCacheLevel<String, Int>(name: "lower"))
    let cache = upper.compose(lower)
    try await cache.set(1, forKey: "a", tags: ["red"])
    try await upper.clear()
    #expect(try await cache.get("a") == 1)
    #expect(try await cache.removeAll(tagged: "red") == 2)
    #expect(try await cache.get("a") == nil)
  }

  @Test("tags of evicted, expired, replaced and cleared entries are forgotten")
  func tagsAreForgotten() async throws {
    let clock = ManualClock()
    let removed = Mutex<[String]>([])
    let memory = MemoryCacheLevel<String, Int>(
      countLimit: 2, clock: clock, removalListener: { removal in removed.withLock { $0.append(removal.key) } })
    for key in ["a", "b", "c"] { try await memory.set(1, forKey: key, tags: ["t"], expiry: .after(.seconds(5))) }
    #expect(removed.withLock { $0 } == ["a"])
    clock.advance(by: .seconds(5))
    try await memory.removeExpired()
    #expect(try await memory.removeAll(tagged: "t") == 0)
    try await memory.set(1, forKey: "d", tags: ["t"])
    try await memory.clear()
    #expect(try await memory.removeAll(tagged: "t") == 0)
  }
}
