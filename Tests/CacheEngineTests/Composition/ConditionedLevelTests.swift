import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct ConditionedLevelTests {
  let level = ScriptedLevel<String, Int>()

  @Test("C37 where the condition holds, reads are handed on with their key")
  func holds() async throws {
    try await level.set(1, forKey: "a")
    #expect(try await level.conditioned { $0 == "a" }.get("a") == 1)
    let broken = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    await #expect(throws: CacheError.self) { try await broken.conditioned { _ in true }.get("a") }
  }

  @Test("C38 where it does not, the level is not asked, and require says that the condition was not satisfied")
  func refuses() async throws {
    let conditioned = level.conditioned { _ in false }
    #expect(try await conditioned.get("a") == nil)
    #expect(try await conditioned.lookup("a").missReason == .refused)
    let error = await #expect(throws: CacheError.self) { try await conditioned.require("a") }
    #expect(error?.code == .conditionNotSatisfied)
    #expect(level.calls.isEmpty)
  }

  @Test("C39 C44 a condition that fails fails the read with its own error")
  func fails() async {
    struct Broken: Error {}
    let conditioned = level.conditioned { _ in throw Broken() }
    await #expect(throws: Broken.self) { try await conditioned.get("a") }
    #expect(level.calls.isEmpty)
  }

  @Test("C40 while the condition takes its time the level is not asked")
  func waits() async throws {
    let gate = Gate()
    let conditioned = level.conditioned { _ in
      try await gate.pass()
      return true
    }
    async let answer = conditioned.get("a")
    await gate.arrivals(1)
    #expect(level.calls.isEmpty)
    gate.open()
    #expect(try await answer == nil)
    #expect(level.calls == [.get("a")])
  }

  @Test("C41 writes, clears and warnings ignore the condition")
  func writesPass() async throws {
    let conditioned = level.conditioned { _ in false }
    try await conditioned.set(1, forKey: "a")
    try await conditioned.remove("a")
    try await conditioned.clear()
    await conditioned.onMemoryWarning()
    #expect(level.calls == [.set("a", .set), .remove("a"), .clear, .warn])
  }

  @Test("C42 in a composition a refused level is passed over")
  func composes() async throws {
    let below = ScriptedLevel<String, Int> { _ in .hit(Entry(2)) }
    try await level.set(1, forKey: "a")
    #expect(try await level.conditioned { _ in false }.compose(below).get("a") == 2)
  }

  @Test("C43 the condition is evaluated anew for every read")
  func evaluatesAnew() async throws {
    let asked = Mutex(0)
    let conditioned = level.conditioned { _ in
      asked.withLock { count in
        count += 1
        return count > 1
      }
    }
    #expect(try await conditioned.lookup("a").missReason == .refused)
    #expect(try await conditioned.lookup("a").missReason == .absent)
  }
}
