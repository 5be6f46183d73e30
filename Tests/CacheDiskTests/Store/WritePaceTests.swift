import CacheEngine
import Testing
@testable import CacheDisk

@Suite struct WritePaceTests {
  private let millisecond: Int64 = 1_000_000

  @Test("quick writes are followed by others at once")
  func quick() {
    var pace = WritePace()
    #expect(pace.allows(at: 0))
    pace.note(from: 0, to: WritePace.slow - 1)
    #expect(pace.allows(at: WritePace.slow - 1))
  }

  @Test("after a slow write there is a pause, twice as long each time that the next one is slow again")
  func slow() {
    var pace = WritePace()
    var now: Int64 = 0
    var pauses: [Int64] = []
    for _ in 0..<12 {
      pace.note(from: now, to: now + WritePace.slow)
      now += WritePace.slow
      let resumes = (0...1_000).map { now + Int64($0) * 10 * millisecond }.first { pace.allows(at: $0) }
      pauses.append(((resumes ?? .max) - now) / millisecond)
      now = resumes ?? now
    }
    #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_000, 10_000])
  }

  @Test("a quick write after the pause makes the next pause a short one again")
  func recovers() {
    var pace = WritePace()
    pace.note(from: 0, to: WritePace.slow)
    let later = WritePace.slow + WritePace.shortestPause
    #expect(!pace.allows(at: later - 1))
    pace.note(from: later, to: later + 1)
    #expect(pace == WritePace() || pace.allows(at: later + 1))
    pace.note(from: later + 1, to: later + 1 + WritePace.slow)
    #expect(pace.allows(at: later + 1 + WritePace.slow + WritePace.shortestPause))
  }
}
