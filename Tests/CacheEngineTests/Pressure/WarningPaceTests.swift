import CacheEngine
import Testing
@testable import CacheCore

@Suite final class WarningPaceTests {
  private var pace = WarningPace(interval: .seconds(5))

  private func came() -> Bool { pace.pressureCame() }
  private func next(_ number: Int64) -> WarningPace.Next { pace.next(at: second(number)) }
  private func second(_ number: Int64) -> CacheInstant { CacheInstant(nanoseconds: number * 1_000_000_000) }

  @Test("Without pressure there is nothing to do")
  func rests() {
    #expect(next(0) == .rest)
  }

  @Test("The first pressure is a warning at once, and only its first witness begins to warn")
  func first() {
    #expect(came())
    #expect(!came())
    #expect(next(0) == .warn)
    #expect(next(0) == .rest)
  }

  @Test("However much pressure comes while one warning is handled, it becomes one further warning")
  func coalesces() {
    #expect(came())
    #expect(next(0) == .warn)
    for _ in 0..<10 { #expect(!came()) }
    #expect(next(7) == .warn)
    #expect(next(20) == .rest)
  }

  @Test("Pressure soon after a warning waits until the interval is over, not longer")
  func waits() {
    #expect(came())
    #expect(next(10) == .warn)
    #expect(next(11) == .rest)
    #expect(came())
    #expect(next(12) == .wait(until: second(15)))
    #expect(!came())
    #expect(next(15) == .warn)
    #expect(next(15) == .rest)
    #expect(came())
    #expect(next(20) == .warn)
  }
}
