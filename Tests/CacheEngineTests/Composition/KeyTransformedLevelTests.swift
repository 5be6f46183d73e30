import CacheEngine
import CacheEngineTesting
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
}
