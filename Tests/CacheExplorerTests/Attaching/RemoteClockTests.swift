import CacheEngine
import Testing

@testable import ExplorerCache

/// How the moments of another process are told by our clock.
@Suite struct RemoteClockTests {
  private func instant(_ seconds: Int64) -> CacheInstant { CacheInstant(nanoseconds: seconds * 1_000_000_000) }

  @Test("a process that takes its time to answer has our clock still", arguments: [100, 101, 111, 160])
  func slow(now: Int64) {
    let clock = RemoteClock(now: instant(now), asked: instant(100), answered: instant(160))
    #expect(clock.here(instant(42)) == instant(42))
  }

  @Test("one with a clock of its own is told by ours, however near it is", arguments: [-1_000, 99, 103, 5_000])
  func other(now: Int64) {
    let clock = RemoteClock(now: instant(now), asked: instant(100), answered: instant(102))
    #expect(clock.here(instant(now)) == instant(102))
    #expect(clock.here(instant(now + 7)) == instant(109))
  }
}
