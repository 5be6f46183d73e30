import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct FormatTests {
  @Test(
    "Latencies read as a person says them",
    arguments: [
      (0, "0ns"), (640, "640ns"), (18_000, "18µs"), (4_250, "4.3µs"), (310_000, "310µs"), (1_140_000, "1.1ms"),
      (9_800_000, "9.8ms"), (82_000_000, "82ms"), (999_999_999, "1s"), (999_700, "1ms"),
      (999_499, "999µs"), (999_700_000, "1s"), (999, "999ns"), (1_000, "1µs"), (2_900_000_000, "2.9s"),
      (48_000_000_000, "48s"), (240_000_000_000, "4m"), (7_200_000_000_000, "2h"), (-5, "0ns"),
    ] as [(Int64, String)])
  func latency(nanoseconds: Int64, text: String) {
    #expect(Format.latency(nanoseconds: nanoseconds) == text)
  }

  @Test(
    "Sizes have one decimal below a hundred",
    arguments: [
      (0, "0 B"), (212, "212 B"), (4_200, "4.1 KiB"), (90_112, "88 KiB"), (1_992_294, "1.9 MiB"),
      (64_172_851, "61.2 MiB"), (268_435_456, "256 MiB"), (1_048_575, "1 MiB"), (Int.max, "8 EiB"), (-1, "0 B"),
    ])
  func bytes(count: Int, text: String) {
    #expect(Format.bytes(count) == text)
  }

  @Test("An exact size is not said twice", arguments: [(4, "4 B"), (1_023, "1023 B"), (4_200, "4.1 KiB = 4200 B")])
  func exactBytes(count: Int, text: String) {
    #expect(Format.exactBytes(count) == text)
  }

  @Test(
    "A whole number has no fraction, and one that is larger than any count is written as it is",
    arguments: [(4, "4"), (0.25, "0.25"), (-3, "-3"), (1e308, "1e+308"), (.infinity, "inf")] as [(Double, String)])
  func number(value: Double, text: String) {
    #expect(Format.number(value) == text)
  }

  @Test("Counts are grouped by thousands", arguments: [(0, "0"), (931, "931"), (18_231, "18 231"), (-1_204, "-1 204")])
  func count(value: Int, text: String) {
    #expect(Format.count(value) == text)
  }

  @Test("All of it is 100, almost all of it is not, and a part of nothing is a dash")
  func percent() {
    #expect(Format.percent(881, of: 1_000) == "88.1")
    #expect(Format.percent(5, of: 5) == "100")
    #expect(Format.percent(99_999, of: 100_000) == "99.9")
    #expect(Format.percent(1, of: 100_000) == "0.1")
    #expect(Format.percent(0, of: 3) == "0.0")
    #expect(Format.percent(0, of: 0) == "—")
  }

  @Test("Rates: whole from ten, one decimal below, a dash for not measured")
  func rate() {
    #expect(Format.rate(274.6) == "275")
    #expect(Format.rate(2.4) == "2.4")
    #expect(Format.rate(3) == "3")
    #expect(Format.rate(0) == "0")
    #expect(Format.rate(nil) == "—")
    #expect(Format.rate(.infinity) == "—")
  }

  @Test("The time of day goes round midnight and before 1970")
  func clock() {
    #expect(Format.clock(seconds: 43_471) == "12:04:31")
    #expect(Format.clock(milliseconds: 86_400_000 + 1) == "00:00:00.001")
    #expect(Format.clock(milliseconds: -1) == "23:59:59.999")
  }

  @Test("Ages and times left move in steps where a second more or less tells nothing")
  func calm() {
    #expect(
      [0, 4, 9, 10, 19, 59, 60, 99, 119, 120, 7_200].map { Format.age(seconds: $0) }
        == ["<5s", "<5s", "5s", "10s", "10s", "50s", "1m", "1m", "1m", "2m", "2h"])
    #expect(
      [0, 1, 17, 20, 21, 25, 26, 61, 119, 121, 180, 301, 600, 601, 5_300, 6_000, 7_200, 40_000, 432_000, .max].map {
        Format.timeLeft(seconds: $0)
      }
        == [
          "0s", "1s", "17s", "20s", "22s", "26s", "26s", "65s", "120s", "130s", "180s", "330s", "10m", "11m", "89m",
          "1.7h", "2h", "12h", "5d", Format.span(seconds: .max),
        ])
  }

  @Test("What is left is never shown as less than it is, nor as a tenth more")
  func honest() {
    for seconds in Array(0...10_000) + stride(from: 10_000, to: 3_000_000, by: 997) as [Int64] {
      let shown = Format.steppedTimeLeft(seconds: seconds)
      #expect(shown >= seconds)
      #expect((shown - seconds) * 10 <= seconds)
      // What is written says just that, to the second.
      let text = Format.timeLeft(seconds: seconds)
      let unit: Double = ["s": 1, "m": 60, "h": 3_600, "d": 86_400][text.last ?? "s"] ?? 0
      #expect(abs((Double(text.dropLast()) ?? -1) * unit - Double(shown)) < 0.5, "\(seconds): \(text)")
      #expect(text.count <= 5)
    }
  }
}
