import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct BasicCacheTests {
  @Test("C103 normalising a basic level returns the same instance")
  func sameInstance() {
    let basic = ScriptedLevel<String, Int>().normalize()
    #expect(basic.normalize() === basic)
    let opaque: some CacheLevel<String, Int> = basic
    #expect(opaque.normalize() === basic)
  }

  @Test("C104 a normalised level forwards everything")
  func forwards() async throws {
    let level = ScriptedLevel<String, Int>(name: "x")
    let basic = level.normalize()
    try await basic.set(1, forKey: "a")
    #expect(try await basic.get("a") == 1)
    #expect(try await basic.lookup("a").entry?.level == "x")
    try await basic.remove("a")
    try await basic.clear()
    await basic.onMemoryWarning()
    #expect(level.calls == [.set("a", .set), .get("a"), .get("a"), .remove("a"), .clear, .warn])
    #expect(basic.name == "x")
  }

  @Test("C1 C2 C3 C5 C7 C8 C9 closures are handed what was asked, and their answers and errors come back")
  func closures() async throws {
    let calls = Mutex<[String]>([])
    @Sendable func note(_ call: String) { calls.withLock { $0.append(call) } }
    let basic = BasicCache<String, Int>(
      get: { key in
        note("get \(key)")
        if key == "bad" { throw CacheError(.simulated, "bad") }
        return key == "a" ? 1 : nil
      },
      set: { note("set \($1) \($0)") }, remove: { note("remove \($0)") }, clear: { note("clear") },
      onMemoryWarning: { note("warn") })
    #expect(try await basic.get("a") == 1)
    #expect(try await basic.get("b") == nil)
    await #expect(throws: CacheError.self) { try await basic.get("bad") }
    try await basic.set(2, forKey: "c")
    try await basic.remove("c")
    try await basic.clear()
    await basic.onMemoryWarning()
    #expect(calls.withLock { $0 } == ["get a", "get b", "get bad", "set c 2", "remove c", "clear", "warn"])
  }

  @Test("C10 C11 writing to a fetcher succeeds and stores nothing")
  func fetcher() async throws {
    struct Length: Fetcher {
      func get(_ key: String) async throws -> Int? { key.count }
    }
    let fetcher = Length()
    try await fetcher.set(7, forKey: "abc")
    try await fetcher.remove("abc")
    try await fetcher.clear()
    await fetcher.onMemoryWarning()
    #expect(try await fetcher.get("abc") == 3)
  }
}
