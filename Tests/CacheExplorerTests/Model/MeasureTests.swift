import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState

struct MeasureTests {
  @Test(
    "A percentile is 6 % too long at most and never too short",
    arguments: [1, 15, 16, 999, 18_000, 1_140_000, 82_000_000, 9_000_000_000])
  func percentile(nanoseconds: Int64) throws {
    var histogram = LatencyHistogram()
    histogram.record(.nanoseconds(nanoseconds))
    histogram.record(.nanoseconds(nanoseconds * 100))
    let median = try #require(histogram.nanoseconds(0.5))
    #expect(0...0.0625 ~= Double(median) / Double(nanoseconds) - 1)
    #expect(histogram.longest == nanoseconds * 100)
  }

  @Test("Of ninety-nine quick answers and one slow, p99 is quick and the longest slow")
  func tail() throws {
    var histogram = LatencyHistogram()
    for _ in 0..<99 { histogram.record(.nanoseconds(1_000)) }
    histogram.record(.nanoseconds(1_000_000))
    #expect(try #require(histogram.nanoseconds(0.99)) < 1_100)
    #expect(histogram.longest == 1_000_000)
    #expect(LatencyHistogram().nanoseconds(0.5) == nil)
    #expect(LatencyHistogram().longest == nil)
  }

  @Test("Columns of the histogram hold every measurement, in the order of time")
  func columns() {
    var histogram = LatencyHistogram()
    for value: Int64 in [1, 150, 20_000, 3_000_000, .max] { histogram.record(.nanoseconds(value)) }
    let columns = histogram.columns(16, decades: 8, from: 100)
    #expect(columns.reduce(0, +) == 5)
    #expect(columns.first == 2)
    #expect(columns.last == 1)
  }

  private func instant(_ seconds: Double) -> CacheInstant { CacheInstant(nanoseconds: Int64(seconds * 1e9)) }

  @Test("A rate is the mean of the last whole seconds, and nothing before anything happened")
  func rate() {
    var ring = SecondRing()
    #expect(ring.rate(at: instant(10)) { $0.hits } == nil)
    for second in 10..<20 {
      for _ in 0..<second { ring.note(at: instant(Double(second) + 0.5)) { $0.hits += 1 } }
    }
    #expect(ring.rate(at: instant(10.9)) { $0.hits } == 10)
    #expect(ring.rate(at: instant(12.1)) { $0.hits } == 10.5)
    #expect(ring.rate(at: instant(20)) { $0.hits } == 17)
    #expect(ring.rate(at: instant(90)) { $0.hits } == 0)
  }

  @Test("What is older than the ring does not come back a minute later")
  func forgets() {
    var ring = SecondRing()
    ring.note(at: instant(1)) { $0.hits += 1 }
    #expect(ring.last(60, at: instant(60)).reduce(0) { $0 + $1.hits } == 1)
    #expect(ring.last(60, at: instant(65)).reduce(0) { $0 + $1.hits } == 0)
    ring.note(at: instant(65)) { $0.misses += 1 }
    ring.note(at: instant(1)) { $0.hits += 1 }
    #expect(ring.last(60, at: instant(65)).reduce(0) { $0 + $1.hits } == 0)
  }

  @Test("The log keeps its last lines under their numbers and says how many were lost")
  func logRing() {
    var log = LogRing(capacity: 10)
    for number in 0..<55 {
      log.append([LogLine(time: .zero, level: .info, source: "", text: "\(number)")], lost: number == 7 ? 3 : 0)
    }
    #expect(log.numbers == 45..<55)
    #expect(log[45]?.text == "45")
    #expect(log[44] == nil)
    #expect(log.lost == 3)
  }

  @Test("A search knows no case, finds whatever a key may hold, and turns round with !")
  func search() {
    #expect(TextSearch("USER").matches("my user"))
    #expect(!TextSearch("USER").matches("us er"))
    #expect(TextSearch("本").matches("日本語"))
    #expect(TextSearch("!user").matches("other"))
    #expect(!TextSearch("!user").matches("user"))
    #expect(TextSearch("!").matches("wow!"))
    #expect(TextSearch("").matches(""))
    #expect(!TextSearch("a").matches(""))
  }
}
