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
    pace.drew(2_200, at: start)
    #expect(
      pace.wait(isAsked: false, at: start + .milliseconds(100)) == .milliseconds(900), "what is large comes less often")
    pace.drew(1_000_000, at: start)
    #expect(pace.wait(isAsked: false, at: start) == .seconds(2))
    pace.note(0, in: .seconds(1))
    #expect(pace.wait(isAsked: false, at: start + .milliseconds(100)) == nil)
  }
}
