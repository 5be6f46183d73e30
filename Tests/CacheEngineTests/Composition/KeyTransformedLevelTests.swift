import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite struct KeyTransformedLevelTests {
  struct NotANumber: Error {}

  let level = ScriptedLevel<Int, String>()

  private var cache: some CacheLevel<String, String> {
    level.transformKeys { (key: String) in
      guard let number = Int(key) else { throw NotANumber() }
      return number
    }
  }

  @Test("C45 C47 C50 reads, writes and removals use the transformed key")
  func transforms() async throws {
    try await cache.set("one", forKey: "1")
    #expect(try await cache.get("1") == "one")
    try await cache.remove("1")
    #expect(level.calls == [.set(1, .set), .get(1), .remove(1)])
  }

  @Test("C46 C48 a key that cannot be transformed fails the call, and the level is not asked")
  func fails() async {
    await #expect(throws: NotANumber.self) { try await cache.get("x") }
    await #expect(throws: NotANumber.self) { try await cache.lookup("x") }
    await #expect(throws: NotANumber.self) { try await cache.set("x", forKey: "x") }
    await #expect(throws: NotANumber.self) { try await cache.remove("x") }
    #expect(level.calls.isEmpty)
  }

  @Test("C49 clear and warnings are handed on once")
  func handsOn() async throws {
    try await cache.clear()
    await cache.onMemoryWarning()
    #expect(level.calls == [.clear, .warn])
  }

  @Test(
    "C51 C52 in a composition a level whose transform fails is passed over, and one key can feed levels of two types")
  func composes() async throws {
    let names = ScriptedLevel<String, String> { key in .hit(Entry("name \(key)")) }
    let both = cache.compose(names, observer: nil)
    #expect(try await both.get("x") == "name x")
    #expect(try await both.get("7") == "name 7")
    #expect(level.stored(7)?.value == "name 7")
  }

  @Test("a removal by condition ends however fast new keys come, which count as stored after it")
  func removalAmongNewKeys() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let rounds = Mutex(0)
    let busy = HookedLevel(
      base: memory,
      onClear: {
        let round = rounds.withLock { rounds in
          rounds += 1
          return rounds
        }
        if round < 100 { try await memory.set(0, forKey: "\(100 + round)") }
      })
    let numbers = busy.transformKeys(
      TwoWayTransformationBox<Int, String>(
        transform: { String($0) },
        inverseTransform: { text in
          guard let number = Int(text) else { throw CacheError(.invalidCachedData, "no number") }
          return number
        }))
    for key in 1...10 { try await numbers.set(key, forKey: key) }
    #expect(try await numbers.removeAll { $0 <= 5 } == 5)
    #expect(rounds.withLock { $0 } == 8)
    #expect(try await numbers.get(5) == nil)
    #expect(try await numbers.get(6) == 6)
  }
}
