import Testing

@testable import CacheExplorer

/// How many pictures are drawn of what happens, and what they weigh.
struct PicturePaceTests {
  private let start = ContinuousClock.now

  @Test("What can be read is shown at once, more of it twice a second, and what a key asks for always at once")
  func pace() {
    var pace = PicturePace()
    #expect(pace.wait(isAsked: false, at: start) == nil)
    pace.drew(200, at: start)
    pace.note(1, in: .milliseconds(50))
    #expect(pace.wait(isAsked: false, at: start) == nil)
    pace.note(20, in: .milliseconds(50))
    #expect(pace.wait(isAsked: false, at: start + .milliseconds(100)) == .milliseconds(400))
    #expect(pace.wait(isAsked: true, at: start + .milliseconds(100)) == nil)
    #expect(pace.wait(isAsked: false, at: start + .milliseconds(500)) == nil)
    pace.drew(1_000_000, at: start + .milliseconds(500))
    #expect(pace.wait(isAsked: false, at: start + .milliseconds(500)) == .seconds(2))
    pace.note(0, in: .seconds(1))
    #expect(pace.wait(isAsked: false, at: start + .milliseconds(600)) == .milliseconds(1_900), "whatever happens")
    #expect(pace.wait(isAsked: true, at: start + .milliseconds(600)) == nil)
  }

  @Test(
    "Pictures that nobody asked for take no more than the budget, and all of it", arguments: [100, 1_000, 2_400],
    [1, 200])
  func budget(size: Int, events: Int) {
    var pace = PicturePace()
    pace.note(events, in: .seconds(1))
    var written = 0
    for step in 0..<600 {
      let now = start + .milliseconds(100) * step
      guard pace.wait(isAsked: false, at: now) == nil else { continue }
      pace.drew(size, at: now)
      written += size
    }
    let most = PicturePace.budget.perSecond * 60 + PicturePace.budget.most + Double(size)
    #expect(Double(written) <= most)
    // Small ones never reach it, be it ten a second or two.
    let wanted = events > 1 ? Double(size) * 120 : Double(size) * 600
    #expect(Double(written) >= min(wanted, PicturePace.budget.perSecond * 60) * 0.9)
  }

  @Test("What a key asks for costs nothing of the budget")
  func asked() {
    var pace = PicturePace()
    for _ in 0..<100 { pace.drew(10_000, isAsked: true, at: start) }
    #expect(pace.wait(isAsked: false, at: start) == nil)
  }
}
