import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheCore

@Suite struct ExpiryTests {
  let clock = ManualClock()

  @Test("P8 a lifetime at the ends of its type saturates instead of overflowing")
  func saturates() {
    #expect(Expiry.after(.seconds(Int64.max)).deadline(by: clock)?.nanoseconds == .max)
    let past = Expiry.after(.seconds(Int64.min)).deadline(by: clock)
    #expect(past.map { $0 < clock.now } == true)
  }

  @Test("H1 a date is a deadline as far from now as it is from the time of day")
  func dates() {
    let date = Date(timeIntervalSince1970: 1_767_225_600 + 90)
    #expect(Expiry.date(date).deadline(by: clock) == clock.now.advanced(by: .seconds(90)))
    #expect(Expiry.never.deadline(by: clock) == nil)
  }

  @Test("P8 dates that are no time at all are defined", arguments: [Double.nan, .infinity, -.infinity, 1e308])
  func oddDates(seconds: Double) throws {
    let deadline = try #require(Expiry.date(Date(timeIntervalSince1970: seconds)).deadline(by: clock))
    #expect(seconds > 0 ? deadline > clock.now : deadline <= clock.now)
  }

  @Test("the system's clock goes forwards and knows its boot")
  func systemClock() {
    let clock = SystemClock()
    let first = clock.now
    #expect(first <= clock.now)
    #expect(clock.bootIdentifier == SystemClock().bootIdentifier)
  }

  @Test("what is ahead of the system's clock lies after what it said before, and what is not before what it says after")
  func ahead() async {
    let clock = SystemClock()
    await withTaskGroup(of: Void.self) { group in
      for seed in 0..<4 as Range<UInt64> {
        group.addTask {
          var (random, wrong) = (SeededGenerator(seed: seed), 0)
          for round in 0..<100_000 {
            // Those that are far ahead do not read the exact clock, and make the last reading older.
            let reach =
              round.isMultiple(of: 1_000)
              ? Int64.random(in: -4_000_000...2_000_000, using: &random) : 2_500_000_000 + Int64(round)
            let before = clock.now
            let moment = before.advanced(by: .nanoseconds(reach))
            let isAhead = SystemClock.isAhead(moment)
            if isAhead ? moment <= before : moment > clock.now { wrong += 1 }
          }
          #expect(wrong == 0)
        }
      }
    }
    #expect(SystemClock.isAhead(CacheInstant(nanoseconds: .max)))
    #expect(!SystemClock.isAhead(CacheInstant(nanoseconds: .min)))
  }

  @Test("a boot that cannot be told at first is asked for again, and then never more")
  func lateNumber() {
    let number = LateNumber()
    #expect([0, 7, 8].map { found in number.found { found } } == [0, 7, 7])
  }
}
