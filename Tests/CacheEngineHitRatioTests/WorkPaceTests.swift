import CacheEngine
@testable import CacheEngineHitRatio
import Testing

@Suite struct WorkPaceTests {
  @Test("what takes as long as usual counts whole, and an interruption counts as twice the usual")
  func interruptions() {
    var pace = WorkPace()
    for _ in 0..<20 { #expect(pace.spent(on: 100, took: 50_000) == 50_000) }
    #expect(pace.spent(on: 100, took: 10_000_000) == 100_000)
    #expect(pace.spent(on: 10, took: 5_000) == 5_000)
    #expect(pace.spent(on: 0, took: 5_000) == 0)
    #expect(pace.spent(on: 10, took: -1) == 0)
  }

  @Test("work that has become slower counts whole after a while")
  func slower() {
    var pace = WorkPace()
    for _ in 0..<20 { _ = pace.spent(on: 100, took: 50_000) }
    for _ in 0..<8 { _ = pace.spent(on: 100, took: 500_000) }
    #expect(pace.spent(on: 100, took: 500_000) == 500_000)
  }
}
