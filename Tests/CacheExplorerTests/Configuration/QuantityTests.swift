import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct QuantityTests {
  @Test(
    "Sizes are read with and without units, spaces and fractions",
    arguments: [
      ("4096", 4_096), ("1", 1), ("1 B", 1), ("512 KiB", 524_288), ("512kib", 524_288), ("1.5GiB", 1_610_612_736),
      ("10 MB", 10_000_000), ("2 KB", 2_000), ("3 GB", 3_000_000_000), ("1 TB", 1_000_000_000_000),
      ("1 TiB", 1_099_511_627_776), (" 2 MiB\t", 2_097_152), ("1_000", 1_000), ("0.5 KiB", 512), ("1.", 1),
    ])
  func sizes(text: String, bytes: Int) throws {
    #expect(try Quantity.bytes(text) == bytes)
  }

  @Test(
    "A text that is no size is refused with what to write",
    arguments: [
      ("", "“” is not a quantity", "512 KiB"), ("-1 KiB", "negative", "512 KiB"), ("-0", "negative", "4096"),
      ("lots", "“lots” is not a quantity", "2 MiB"), ("nan", "not a quantity", "4096"),
      ("inf", "not a quantity", "4096"), ("infinity MiB", "not a quantity", "4096"), ("KiB", "not a quantity", "4096"),
      ("1.2.3", "not a quantity", "4096"), ("½ KiB", "not a quantity", "4096"), ("+1", "not a quantity", "4096"),
      ("5 s", "“s” is not a unit of size", "KiB"), ("1e3", "“e3” is not a unit of size", "KiB"),
      ("5 XiB", "“XiB” is not a unit of size", "GiB"), ("0", "at least 1 byte", "positive"),
      ("0.5", "at least 1 byte", "positive"), ("99999999 TiB", "more than can be counted", "8,000,000 TiB"),
      ("9223372036854775807", "more than can be counted", "8,000,000 TiB"),
      (String(repeating: "9", count: 400), "not a quantity", "512 KiB"),
    ])
  func badSizes(text: String, message: String, remedy: String) {
    expectProblem(message, remedy) { () throws(QuantityError) in _ = try Quantity.bytes(text) }
  }

  @Test(
    "Whole numbers are read with and without underscores", arguments: [("1000", 1_000), ("1_000", 1_000), ("0", 0)])
  func numbers(text: String, number: Int) throws {
    #expect(try Quantity.number(text, in: 0...1_000) == number)
  }

  @Test(
    "A text that is no whole number, or one out of range, is refused with what to write",
    arguments: [
      ("", "“” is not a whole number", "1000"), ("_", "“_” is not a whole number", "1000"),
      ("1e3", "“1e3” is not a whole number", "1000"), ("1_001", "1_001 is out of range", "from 0 to 1000"),
      ("99999999999999999999", "is out of range", "from 0 to 1000"),
    ])
  func badNumbers(text: String, message: String, remedy: String) {
    expectProblem(message, remedy) { () throws(QuantityError) in _ = try Quantity.number(text, in: 0...1_000) }
  }

  @Test(
    "Durations are read in every unit",
    arguments: [
      ("250ms", Duration.milliseconds(250)), ("30s", .seconds(30)), ("10m", .seconds(600)), ("10 min", .seconds(600)),
      ("1.5h", .seconds(5_400)), ("2d", .seconds(172_800)), ("7us", .microseconds(7)), ("7µs", .microseconds(7)),
      ("0s", .zero), ("0.1ms", .microseconds(100)), ("5 S", .seconds(5)),
    ])
  func durations(text: String, duration: Duration) throws {
    #expect(try Quantity.duration(text) == duration)
  }

  @Test(
    "A text that is no duration is refused with what to write",
    arguments: [
      ("30", "“30” has no unit", "ms, s, m"), ("0", "“0” has no unit", "ms, s, m"), ("-5s", "negative", "30s"),
      ("", "“” is not a quantity", "250ms"), ("s", "not a quantity", "250ms"), ("nan s", "not a quantity", "250ms"),
      ("inf", "not a quantity", "250ms"), ("3 weeks", "“weeks” is not a unit of time", "h or d"),
      ("5 KiB", "“KiB” is not a unit of time", "us, ms"), ("999999999d", "more than can be counted", "104,166 d"),
    ])
  func badDurations(text: String, message: String, remedy: String) {
    expectProblem(message, remedy) { () throws(QuantityError) in _ = try Quantity.duration(text) }
  }

  @Test(
    "Shares are read as percents and as fractions",
    arguments: [("1%", 0.01), ("0.25", 0.25), ("0", 0), ("100%", 1), ("1", 1), ("12.5 %", 0.125)])
  func shares(text: String, share: Double) throws {
    #expect(abs(try Quantity.probability(text) - share) < 1e-12)
  }

  @Test(
    "A text that is no share is refused with what to write",
    arguments: [
      ("101%", "101% is more than everything", "100%"), ("80", "80 is more than everything", "did you mean 80%?"),
      ("101", "101 is more than everything", "give at most 100%"), ("-1%", "negative", "1%"),
      ("5 s", "“s” is not a unit of a share", "%"), ("", "not a quantity", "0.01"),
      ("nan", "not a quantity", "0.01"), ("%", "not a quantity", "0.01"),
    ])
  func badShares(text: String, message: String, remedy: String) {
    expectProblem(message, remedy) { () throws(QuantityError) in _ = try Quantity.probability(text) }
  }

  @Test("Ranges have two ends, or one that stands for both")
  func ranges() throws {
    #expect(try Quantity.range("40ms..200ms", of: Quantity.duration) == .milliseconds(40)...(.milliseconds(200)))
    #expect(try Quantity.range("1 KiB .. 4 KiB", of: Quantity.bytes) == 1_024...4_096)
    #expect(try Quantity.range("5s", of: Quantity.duration) == .seconds(5)...(.seconds(5)))
    #expect(try Quantity.range("5s..5s", of: Quantity.duration) == .seconds(5)...(.seconds(5)))
  }

  @Test(
    "A range that is reversed or lacks an end is refused with what to write",
    arguments: [
      ("200ms..40ms", "200ms..40ms ends before it begins", "smaller value first"),
      ("..5s", "“” is not a quantity", "250ms"), ("5s..", "“” is not a quantity", "250ms"),
      ("5..6s", "“5” has no unit", "use us"), ("1s...2s", "1s...2s has too many dots", "two dots"),
      ("1s..2s..3s", "is not a unit of time", "use us"), ("-1s..2s", "negative", "250ms"),
    ])
  func badRanges(text: String, message: String, remedy: String) {
    expectProblem(message, remedy) { () throws(QuantityError) in
      _ = try Quantity.range(text, of: Quantity.duration)
    }
  }

  private func expectProblem(
    _ message: String, _ remedy: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws(QuantityError) -> Void
  ) {
    do {
      try body()
      Issue.record("it was accepted", sourceLocation: sourceLocation)
    } catch {
      #expect(error.message.contains(message), sourceLocation: sourceLocation)
      #expect(error.remedy.contains(remedy), sourceLocation: sourceLocation)
    }
  }
}
