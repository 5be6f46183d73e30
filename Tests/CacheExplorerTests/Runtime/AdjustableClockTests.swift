import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState

@Suite(.timeLimit(.minutes(10))) struct AdjustableClockTests {
  private let base = ManualClock()

  @Test("At its usual speed it shows what the clock below shows")
  func usual() {
    let clock = AdjustableClock(base)
    #expect(clock.now == base.now)
    base.advance(by: .milliseconds(1_234))
    #expect(clock.now == base.now)
    #expect(clock.timeSinceEpoch == base.timeSinceEpoch)
    #expect(clock.bootIdentifier == base.bootIdentifier)
  }

  @Test("Time passes as fast as told, from the moment it is told", arguments: [0.25, 0.5, 4.0])
  func speeds(speed: Double) {
    let clock = AdjustableClock(base)
    base.advance(by: .seconds(10))
    let then = clock.now
    clock.speed = speed
    #expect(clock.now == then)
    base.advance(by: .seconds(8))
    #expect(then.duration(to: clock.now) == .seconds(8) * speed)
    clock.speed = 1
    base.advance(by: .seconds(1))
    #expect(then.duration(to: clock.now) == .seconds(8) * speed + .seconds(1))
  }

  @Test("A speed that is out of bounds is held at them")
  func bounds() {
    let clock = AdjustableClock(base)
    clock.speed = 0
    #expect(clock.speed == 0.001)
    clock.speed = 1e9
    #expect(clock.speed == 1_000)
  }

  @Test("Who sleeps wakes when so much time has passed here, not below")
  func sleeps() async throws {
    let clock = AdjustableClock(base)
    clock.speed = 0.5
    let sleeper = Task { [clock] in
      try await clock.sleep(until: clock.now.advanced(by: .seconds(3)), tolerance: nil)
      return clock.now
    }
    let began = clock.now
    await base.waitForSleepers()
    base.advance(by: .seconds(5))
    await base.waitForSleepers()
    base.advance(by: .milliseconds(1_001))
    #expect(began.duration(to: try await sleeper.value) >= .seconds(3))
  }

  @Test("Moving the clock forwards wakes who is due, and nobody else, and moves the time of day")
  func advances() async throws {
    let clock = AdjustableClock(base)
    let (now, wall) = (clock.now, clock.timeSinceEpoch)
    let short = Task { [clock] in try await clock.sleep(until: now.advanced(by: .seconds(10)), tolerance: nil) }
    let long = Task { [clock] in try await clock.sleep(until: now.advanced(by: .seconds(90)), tolerance: nil) }
    await base.waitForSleepers()
    clock.advance(by: .seconds(60))
    try await short.value
    #expect(now.duration(to: clock.now) == .seconds(60))
    #expect(clock.timeSinceEpoch == wall + .seconds(60))
    await base.waitForSleepers()
    base.advance(by: .seconds(31))
    try await long.value
  }

  @Test("A change of speed reaches those who sleep already")
  func changes() async throws {
    let clock = AdjustableClock(base)
    clock.speed = 0.001
    let sleeper = Task { [clock] in
      try await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)
    }
    await base.waitForSleepers()
    clock.speed = 1_000
    await base.waitForSleepers()
    base.advance(by: .milliseconds(2))
    try await sleeper.value
  }

  @Test("Who sleeps can be cancelled, and then nothing waits below either")
  func cancels() async throws {
    let clock = AdjustableClock(base)
    let sleeper = Task { [clock] in
      try await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)
    }
    await base.waitForSleepers()
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    // Sleeping again needs a timer of its own, which it would not get if the old one counted.
    let again = Task { [clock] in
      try await clock.sleep(until: clock.now.advanced(by: .seconds(2)), tolerance: nil)
    }
    await base.waitForSleepers()
    base.advance(by: .seconds(2))
    try await again.value
  }

  @Test("It never goes back, whatever is done to its speed")
  func monotonic() async {
    let clock = AdjustableClock(HesitantClock())
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<3 {
        group.addTask { [clock] in
          var last = clock.now
          for _ in 0..<5_000 {
            let now = clock.now
            if now < last { return false }
            last = now
          }
          return true
        }
      }
      group.addTask { [clock] in
        for step in 0..<500 { clock.speed = step % 2 == 0 ? 0.01 : 100 }
        return true
      }
      for await isGood in group { #expect(isGood) }
    }
  }
}

/// The machine's clock, read by who then lets everybody else go first: what it tells is old by the time it is used.
private struct HesitantClock: CacheClock {
  private let base = SystemClock()

  var now: CacheInstant {
    let now = base.now
    sched_yield()
    return now
  }
  var timeSinceEpoch: Duration { base.timeSinceEpoch }
  var bootIdentifier: UInt64 { base.bootIdentifier }
  var minimumResolution: Duration { base.minimumResolution }
  func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    try await base.sleep(until: deadline, tolerance: tolerance)
  }
}
