import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SimulatedOriginTests {
  /// Notes how long it was to be slept, and sleeps not at all.
  private final class HurriedClock: CacheClock {
    private let last = Mutex(Duration.zero)

    var slept: Duration { last.withLock { $0 } }
    var now: CacheInstant { CacheInstant(nanoseconds: 0) }
    var timeSinceEpoch: Duration { .zero }
    var bootIdentifier: UInt64 { 1 }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
      last.withLock { $0 = .nanoseconds(deadline.nanoseconds) }
    }
  }

  private let clock = ManualClock()

  @Test("The value of a key is readable, has the size asked for, and is the same each time")
  func values() async throws {
    let origin = SimulatedOrigin(size: 100...100, clock: clock)
    let value = try await origin.require("avatar")
    #expect(value.count == 100)
    #expect(String(decoding: value, as: UTF8.self).hasPrefix("key=avatar size=100\nkey=avatar"))
    #expect(try await origin.require("avatar") == value)
    #expect(try await SimulatedOrigin(size: 100...100, clock: clock).require("avatar") == value)
  }

  @Test("A value is valid text at every size, whatever the key")
  func sizes() async throws {
    for size in 0...40 {
      let value = try await SimulatedOrigin(size: size...size, clock: clock).require("日本🇩🇪é")
      #expect(value.count == size)
      #expect(String(validating: value, as: UTF8.self) != nil)
    }
  }

  @Test("Sizes spread over their range and depend on seed and key alone")
  func spreadSizes() async throws {
    func sizes(seed: UInt64) async throws -> [Int] {
      let origin = SimulatedOrigin(size: 10...1_000, seed: seed, clock: clock)
      var sizes: [Int] = []
      for index in 0..<50 { sizes.append(try await origin.require("key \(index)").count) }
      return sizes
    }
    let first = try await sizes(seed: 1)
    #expect(try await sizes(seed: 1) == first)
    #expect(try await sizes(seed: 2) != first)
    #expect(first.allSatisfy((10...1_000).contains) && Set(first).count > 30)
  }

  @Test("An answer comes when its latency has passed on the clock, and not before")
  func latency() async throws {
    let origin = SimulatedOrigin(latency: .milliseconds(200) ... .milliseconds(200), clock: clock)
    let task = Task { try await origin.get("a") }
    await clock.waitForSleepers()
    #expect(origin.inFlightCount == 1)
    clock.advance(by: .milliseconds(199))
    #expect(origin.inFlightCount == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await task.value != nil)
    #expect(origin.inFlightCount == 0)
  }

  @Test("Failures follow from seed, key and how often it was asked")
  func failures() async throws {
    func outcomes(seed: UInt64) async -> [Bool] {
      let origin = SimulatedOrigin(failures: 0.5, seed: seed, clock: clock)
      var outcomes: [Bool] = []
      for _ in 0..<64 { outcomes.append((try? await origin.require("a")) != nil) }
      return outcomes
    }
    let first = await outcomes(seed: 3)
    #expect(await outcomes(seed: 3) == first)
    #expect(await outcomes(seed: 4) != first)
    #expect(Set(first).count == 2)
  }

  @Test("How long a request takes follows neither from how the one before it ended nor from the size of the value")
  func independence() async throws {
    let clock = HurriedClock()
    let origin = SimulatedOrigin(
      latency: .milliseconds(1) ... .milliseconds(1_000), failures: 0.1, size: 1...1_000, seed: 7, clock: clock)
    var retries: [Duration] = []
    var hasFailed = false
    for _ in 0..<2_000 {
      let isThere = (try? await origin.get("a")) != nil
      if hasFailed { retries.append(clock.slept) }
      hasFailed = !isThere
    }
    #expect(retries.count > 100)
    #expect((.milliseconds(400) ... .milliseconds(600)).contains(retries.reduce(.zero, +) / retries.count))
    var alike = 0
    for index in 0..<200 {
      guard let value = try? await origin.get("key \(index)") else { continue }
      alike += (value.count > 500) == (clock.slept > .milliseconds(500)) ? 1 : 0
    }
    #expect((60...120).contains(alike))
  }

  @Test("A failure is a simulated one, after the latency, and names the origin")
  func failureKind() async throws {
    let origin = SimulatedOrigin(
      name: "far", latency: .seconds(1) ... .seconds(1), failures: 1, clock: clock)
    let task = Task { try await origin.get("a") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    let error = try #require(await #expect(throws: CacheError.self) { try await task.value })
    #expect(error.code == .simulated)
    #expect(error.level == "far")
    #expect(origin.inFlightCount == 0)
  }

  @Test("A probability of zero never fails and of one always does")
  func certainties() async throws {
    let (never, always) = (SimulatedOrigin(clock: clock), SimulatedOrigin(missing: 1, clock: clock))
    for index in 0..<100 {
      #expect(try await never.get("\(index)") != nil)
      #expect(try await always.get("\(index)") == nil)
    }
  }

  @Test("Missing keys are misses, and the same ones each time")
  func missing() async throws {
    let origin = SimulatedOrigin(missing: 0.5, seed: 9, clock: clock, isMissing: { $0.hasPrefix("no") })
    #expect(try await origin.lookup("none").missReason == .absent)
    var found: [[Bool]] = []
    for _ in 0..<2 {
      var round: [Bool] = []
      for index in 0..<40 { round.append(try await origin.get("\(index)") != nil) }
      found.append(round)
    }
    #expect(found[0] == found[1])
    #expect(Set(found[0]).count == 2)
  }

  @Test("Requests are counted, together and for each key")
  func counts() async throws {
    let origin = SimulatedOrigin(clock: clock)
    for key in ["a", "b", "a", "caf\u{E9}", "a", "cafe\u{301}"] { _ = try await origin.get(key) }
    #expect(origin.requestCount == 6)
    #expect(["a", "b", "c", "caf\u{E9}"].map(origin.requestCount(for:)) == [3, 1, 0, 2])
  }

  @Test("A cancelled request ends at once and is in flight no more")
  func cancellation() async throws {
    let origin = SimulatedOrigin(latency: .seconds(9) ... .seconds(9), clock: clock)
    let task = Task { try await origin.get("a") }
    await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(origin.inFlightCount == 0)
  }

  @Test("P18 Keys that are equal as strings behave alike")
  func canonicalForm() async throws {
    let origin = SimulatedOrigin(size: 0...10_000, clock: clock)
    #expect(try await origin.require("caf\u{E9}") == origin.require("cafe\u{301}"))
  }
}
