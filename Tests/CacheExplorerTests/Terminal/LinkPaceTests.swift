import Testing

@testable import CacheExplorer
@testable import ExplorerTerminal

/// How much a terminal is sent, decided without one.
@Suite("Pace of a terminal")
struct LinkPaceTests {
  private let start = ContinuousClock.now

  private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  /// Outside of the macro, which cannot change what it looks at.
  private func wrote(_ pace: inout LinkPace, _ write: (inout LinkPace) -> Bool) -> Bool { write(&pace) }

  /// A line whose first picture of 4 KB took a second, and a question before it 20 ms.
  private func slow() -> LinkPace {
    var pace = LinkPace()
    pace.ask(at: at(0))
    pace.answered(at: at(20))
    #expect(wrote(&pace) { $0.write(4_000, at: at(20)) })
    pace.answered(at: at(1_040))
    return pace
  }

  @Test("a line is measured by the time from what was written to the answer, without the way there and back")
  func measured() {
    #expect(slow().rate.map { abs($0 - 4_000) < 10 } == true)
  }

  @Test("the first picture goes at once, and nothing behind it before its answer")
  func firstPicture() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    #expect(pace.room(at: at(1)) == .whole)
    pace.answered(at: at(2))
    #expect(pace.room(at: at(2)) == .whole)
    #expect(wrote(&pace) { $0.write(8_000, at: at(2)) })
    pace.noteKey(at: at(3))
    #expect(pace.room(at: at(3)) == .wait(.seconds(1)))
    pace.answered(at: at(4))
    #expect(pace.room(at: at(4)) == .whole)
  }

  @Test("on a slow line no more is on its way than it carries in a moment")
  func window() {
    var pace = slow()
    pace.noteKey(at: at(1_050))
    guard case .bytes(let room) = pace.room(at: at(1_050)) else { return #expect(Bool(false)) }
    #expect((500...600).contains(room))
    #expect(wrote(&pace) { $0.write(room, isPart: true, at: at(1_050)) })
    #expect(pace.room(at: at(1_060)) == .wait(.seconds(1)))
    pace.answered(at: at(1_200))
    guard case .bytes = pace.room(at: at(1_200)) else { return #expect(Bool(false)) }
  }

  @Test("a slow line gets four pictures a second that nobody asked for, and one after a key at once")
  func interval() {
    var pace = slow()
    _ = pace.write(100, at: at(2_000))
    #expect(pace.room(at: at(2_050)) == .wait(.milliseconds(200)))
    pace.noteKey(at: at(2_060))
    #expect(pace.room(at: at(2_060)) != .wait(.milliseconds(190)))
    #expect(pace.room(at: at(2_400)) != .wait(.milliseconds(1)))
  }

  @Test("one answer that the program was too busy to see makes no line slow")
  func busy() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    pace.answered(at: at(1))
    for (sent, answered) in [(10, 11), (20, 90), (100, 170)] {
      pace.ask(at: at(sent))
      _ = pace.write(4_096, at: at(sent))
      pace.answered(at: at(sent))
      pace.answered(at: at(answered))
    }
    #expect(pace.rate.map { $0 > 1_000_000 } == true)
  }

  @Test("a terminal that never answers is sent whole pictures: what follows a key at once, the rest within a budget")
  func silent() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    var (bytes, pictures, now) = (0, 0, 0)
    while now < 20_000 {
      switch pace.room(at: at(now)) {
      case .whole:
        let asks = pace.write(2_000, at: at(now))
        #expect(!asks || now < 100)
        (bytes, pictures) = (bytes + 2_000, pictures + 1)
        now += 50
      case .bytes: #expect(Bool(false), "a part of a picture that nobody would complete")
      case .wait(let delay): now += Int(delay / .milliseconds(1)) + 1
      }
    }
    #expect((60_000...80_000).contains(bytes), "3 KB/s and what may go at once, and not \(bytes) bytes")
    pace.noteKey(at: at(now))
    #expect(pace.room(at: at(now)) == .whole)
    #expect(pace.unanswered(at: at(now)) == 0, "leaving does not wait for it")
  }

  @Test("however much keys asked for, what nobody asked for waits a second at most")
  func afterKeys() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    pace.noteKey(at: at(2_000))
    for moment in 2_000..<2_010 {
      #expect(pace.room(at: at(moment)) == .whole)
      _ = pace.write(8_000, at: at(moment))
    }
    guard case .wait(let delay) = pace.room(at: at(2_400)) else { return #expect(Bool(false)) }
    #expect(delay <= .seconds(1))
    #expect(pace.room(at: at(3_700)) == .whole)
  }

  @Test("what was written before a slow line had answered is asked about, and never waited for in vain")
  func lateFirst() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    #expect(wrote(&pace) { $0.write(5_000, at: at(20)) })
    #expect(!wrote(&pace) { $0.write(3_000, at: at(30)) })
    #expect(!wrote(&pace) { $0.answered(at: at(400)) })
    #expect(wrote(&pace) { $0.answered(at: at(800)) })
    let rate = pace.rate
    #expect(rate.map { (5_000...20_000).contains($0) } == true)
    #expect(pace.room(at: at(810)) == .wait(.seconds(1)))
    #expect(!wrote(&pace) { $0.answered(at: at(820)) })
    #expect(pace.rate == rate, "what was written long before the question tells nothing of the line")
    #expect(pace.room(at: at(820)) != .wait(.seconds(1)))
  }

  @Test("an answer that does not come any more is not waited for")
  func lost() {
    var pace = slow()
    pace.ask(at: at(2_000))
    _ = pace.write(600, isPart: true, at: at(2_000))
    pace.noteKey(at: at(5_100))
    guard case .bytes = pace.room(at: at(5_100)) else { return #expect(Bool(false)) }
  }

  @Test("no answer is waited for longer than ten seconds, however much was written before it")
  func lostFirst() {
    var pace = LinkPace()
    pace.ask(at: at(0))
    pace.answered(at: at(20))
    _ = pace.write(40_000, at: at(20))
    #expect(pace.room(at: at(9_900)) == .wait(.seconds(1)))
    #expect(pace.room(at: at(10_100)) == .whole)
  }
}
