import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct SwitchedLevelTests {
  let left = ScriptedLevel<String, Int>(name: "left")
  let right = ScriptedLevel<String, Int>(name: "right")

  private var lanes: SwitchedLevel<ScriptedLevel<String, Int>, ScriptedLevel<String, Int>> {
    switchLevels(left, right) { $0.hasPrefix("l") ? .first : .second }
  }

  @Test("C97 a read goes to the selected lane only, and its value or error comes back", arguments: ["l1", "r1"])
  func reads(key: String) async throws {
    let (chosen, other) = key == "l1" ? (left, right) : (right, left)
    try await chosen.set(1, forKey: key)
    #expect(try await lanes.get(key) == 1)
    #expect(try await lanes.lookup(key).entry?.level == chosen.name)
    #expect(other.calls.isEmpty)
    let broken = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    await #expect(throws: CacheError.self) { try await switchLevels(broken, right) { _ in .first }.get(key) }
  }

  @Test("C98 a write goes to the selected lane only, with its terms; success and error come back")
  func writes() async throws {
    try await lanes.set(1, forKey: "l1")
    try await lanes.store(2, forKey: "r1", terms: .backFill(deadline: nil))
    #expect(left.calls == [.set("l1", .set)])
    #expect(right.calls == [.set("r1", .backFill)])
    let broken = ScriptedLevel<String, Int>(onSet: { _, _ in throw CacheError(.simulated, "full") })
    await #expect(throws: CacheError.self) {
      try await switchLevels(left, broken) { _ in .second }.set(1, forKey: "a")
    }
  }

  @Test("C99 C100 removals, clears and warnings reach both lanes")
  func both() async throws {
    try await lanes.remove("l1")
    try await lanes.clear()
    await lanes.onMemoryWarning()
    #expect(left.calls == [.remove("l1"), .clear, .warn])
    #expect(right.calls == left.calls)
  }

  @Test("C99 a lane that fails to clear does not keep the other from it, and is named")
  func clearFails() async throws {
    let broken = BasicCache<String, Int>(
      name: "broken", get: { _ in nil }, set: { _, _ in }, remove: { _ in },
      clear: { throw CacheError(.simulated, "stuck") })
    let error = await #expect(throws: CacheError.self) { try await switchLevels(broken, right) { _ in .first }.clear() }
    #expect(error?.failures.map(\.level) == ["broken"])
    #expect(right.calls == [.clear])
  }

  @Test("C101 with a fetcher as a lane, a write that is sent there stores nothing, and clear reaches the other lane")
  func fetcherLane() async throws {
    let fetcher = BasicFetcher<String, Int> { $0.count }
    let mixed = switchLevels(fetcher, right) { $0.hasPrefix("l") ? .first : .second }
    try await mixed.set(100, forKey: "l1")
    #expect(try await mixed.get("l1") == 2)
    try await mixed.clear()
    #expect(right.calls == [.clear])
  }

  @Test("C102 the selector is asked for each call, so that the lane can change")
  func flips() async throws {
    let isOnWiFi = Mutex(true)
    let lanes = switchLevels(left, right) { _ in isOnWiFi.withLock { $0 } ? .first : .second }
    try await lanes.set(1, forKey: "a")
    isOnWiFi.withLock { $0 = false }
    #expect(try await lanes.get("a") == nil)
    try await lanes.set(2, forKey: "a")
    #expect(try await lanes.get("a") == 2)
    isOnWiFi.withLock { $0 = true }
    #expect(try await lanes.get("a") == 1)
  }

  @Test("a value in memory is seen at once through its lane")
  func peeks() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    try await memory.set(1, forKey: "l1")
    let lanes = switchLevels(memory, right) { $0.hasPrefix("l") ? .first : .second }
    #expect(lanes.peek("l1") == 1)
    #expect(lanes.peek("r1") == nil)
  }
}
