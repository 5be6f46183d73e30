import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct RetriedLevelTests {
  let clock = ManualClock()
  let observer = RecordingObserver()

  /// Fails so many times, then has a value.
  private func flaky(_ failures: Int, _ error: CacheError = CacheError(.unreachable, "down")) -> ScriptedLevel<
    String, Int
  > {
    let left = Mutex(failures)
    return ScriptedLevel { _ in
      try left.withLock { left in
        left -= 1
        if left >= 0 { throw error }
      }
      return .hit(Entry(1))
    }
  }

  @Test("a failed read is tried again after delays that grow, until it succeeds")
  func retries() async throws {
    let level = flaky(2)
    let cache = level.retry(
      RetryPolicy(attempts: 3, initialDelay: .seconds(1), jitter: 0), observer: observer, clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers()
    #expect(level.calls.count == 2)
    clock.advance(by: .milliseconds(1_999))
    #expect(level.calls.count == 2)
    clock.advance(by: .milliseconds(1))
    #expect(try await reader.value == 1)
    let delays = observer.events.compactMap { event -> Duration? in
      if case .operated(.retried(_, let delay, _)) = event.kind { delay } else { nil }
    }
    #expect(delays == [.seconds(1), .seconds(2)])
  }

  @Test("when the attempts are used up the last error comes through")
  func givesUp() async throws {
    let level = flaky(9)
    let cache = level.retry(RetryPolicy(attempts: 2, initialDelay: .zero), clock: clock)
    let error = await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(error?.code == .unreachable)
    #expect(level.calls.count == 2)
  }

  @Test("hits and misses are not tried again, nor is what will fail the same way")
  func notWorthIt() async throws {
    let empty = ScriptedLevel<String, Int>()
    #expect(try await empty.retry(clock: clock).get("a") == nil)
    #expect(empty.calls.count == 1)
    var notFound = CacheError(.status, "not found")
    notFound.status = 404
    for error in [notFound, CacheError(.invalidAddress, "no"), CacheError(.circuitOpen, "open")] {
      let level = flaky(1, error)
      await #expect(throws: CacheError.self) { try await level.retry(clock: clock).get("a") }
      #expect(level.calls.count == 1)
    }
    var busy = CacheError(.status, "too many requests")
    busy.status = 429
    #expect(RetryPolicy.mayPass(busy))
  }

  @Test("a caller that is cancelled between attempts ends at once")
  func cancelled() async throws {
    let level = flaky(9)
    let cache = level.retry(RetryPolicy(attempts: 5, initialDelay: .seconds(60)), clock: clock)
    let reader = Task { try await cache.get("a") }
    await clock.waitForSleepers()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(level.calls.count == 1)
  }

  @Test("writes are tried once")
  func writes() async throws {
    let level = ScriptedLevel<String, Int>(onSet: { _, _ in throw CacheError(.simulated, "full") })
    await #expect(throws: CacheError.self) { try await level.retry(clock: clock).set(1, forKey: "a") }
    #expect(level.calls.count == 1)
  }

  @Test(
    "delays grow by the factor up to the maximum, and chance takes its part of them",
    arguments: [
      (1, 1.0, 100), (2, 1.0, 300), (3, 1.0, 900), (4, 1.0, 1_000), (60, 1.0, 1_000), (1, 0.0, 50), (3, 0.5, 675),
    ])
  func delays(retry: Int, chance: Double, milliseconds: Int) {
    let policy = RetryPolicy(initialDelay: .milliseconds(100), factor: 3, maximumDelay: .seconds(1), jitter: 0.5)
    let delay = policy.delay(before: retry, chance: chance)
    #expect(abs(delay / .milliseconds(1) - Double(milliseconds)) < 1e-6)
  }

  @Test(
    "P2 a delay is one whatever the policy",
    arguments: [
      RetryPolicy(initialDelay: .zero, factor: .infinity), RetryPolicy(factor: 1),
      RetryPolicy(initialDelay: .seconds(Int64.max), factor: 1e308, maximumDelay: .seconds(Int64.max)),
      RetryPolicy(initialDelay: .nanoseconds(1), factor: .infinity, maximumDelay: .seconds(Int64.max)),
    ])
  func extremePolicies(policy: RetryPolicy) {
    for retry in [0, 1, 2, 3, 1_000, .max] {
      #expect(policy.delay(before: retry, chance: 0.999) >= .zero)
    }
  }
}
