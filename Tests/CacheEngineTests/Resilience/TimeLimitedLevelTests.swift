import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct TimeLimitedLevelTests {
  let clock = ManualClock()
  let observer = RecordingObserver()

  @Test("what is answered in time comes through: value, miss, error")
  func inTime() async throws {
    let level = ScriptedLevel<String, Int> { key in
      if key == "down" { throw CacheError(.simulated, "down") }
      return key == "a" ? .hit(Entry(1)) : .miss(.absent)
    }
    let cache = level.timeout(after: .seconds(1), clock: clock)
    #expect(try await cache.get("a") == 1)
    #expect(try await cache.lookup("b").missReason == .absent)
    let error = await #expect(throws: CacheError.self) { try await cache.get("down") }
    #expect(error?.code == .simulated)
  }

  @Test("a level that takes longer fails the read at the limit, and its work is cancelled")
  func tooLate() async throws {
    let gate = Gate()
    let cancelled = Gate()
    let level = ScriptedLevel<String, Int>(name: "slow") { _ in
      do { try await gate.pass() } catch {
        cancelled.open()
        throw error
      }
      return .hit(Entry(1))
    }
    let cache = level.timeout(after: .seconds(1), observer: observer, clock: clock)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: CacheError.self) { try await reader.value }
    #expect(error?.code == .timedOut)
    #expect(error?.level == "slow")
    #expect(error?.message == "no answer within 1 s")
    try await cancelled.pass()
    #expect(observer.events.contains { if case .operated(.timedOut(.seconds(1))) = $0.kind { true } else { false } })
  }

  @Test("work that does not heed its cancellation holds nobody up")
  func stubborn() async throws {
    let (stream, finish) = AsyncStream<Void>.makeStream()
    let level = ScriptedLevel<String, Int> { _ in
      let stubborn = Task { for await _ in stream {} }
      await stubborn.value
      return .hit(Entry(1))
    }
    let cache = level.timeout(after: .seconds(1), clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await #expect(throws: CacheError.self) { try await reader.value }
    finish.finish()
  }

  @Test("a caller that is cancelled returns at once")
  func cancelled() async throws {
    let gate = Gate()
    let level = ScriptedLevel<String, Int> { _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = level.timeout(after: .seconds(1), clock: clock)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    let early = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await cache.get("a")
    }
    await #expect(throws: CancellationError.self) { try await early.value }
  }

  @Test("writes are not limited")
  func writes() async throws {
    let level = ScriptedLevel<String, Int>()
    let cache = level.timeout(after: .zero, clock: clock)
    try await cache.set(1, forKey: "a")
    try await cache.remove("a")
    #expect(level.calls == [.set("a", .set), .remove("a")])
  }
}
