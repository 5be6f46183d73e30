import CacheEngine
package import ExplorerText

/// What an expectation was compared with: what is, and where that comes from.
package struct ExpectationReport: Sendable {
  package let expectation: Expectation
  /// `nil` if nothing was measured.
  package let actual: Double?
  /// What the figure is made of.
  package let counts: [(name: String, count: Int)]
  /// The counts in words, or why there are none.
  package let source: String
  /// How long was counted, by the cache's clock.
  package let window: Duration

  /// What was not measured holds nothing.
  package var holds: Bool { actual.map { expectation.comparison.holds($0, expectation.value) } ?? false }

  private var unit: ExpectedFigure.Unit { expectation.figure.unit }

  package var actualText: String { actual.map { unit.text($0, beside: expectation.value) } ?? Format.none }

  /// `at least 80%`.
  var expectedText: String { "\(expectation.comparison.words) \(expectation.valueText)" }

  var windowText: String {
    expectation.isLately
      ? "the last \(window.components.seconds) s"
      : "since the cache was opened, \(Format.behind(nanoseconds: window.clampedNanoseconds)) ago"
  }

  package init(
    expectation: Expectation, actual: Double?, counts: [(name: String, count: Int)], source: String, window: Duration
  ) {
    self.expectation = expectation
    self.actual = actual
    self.counts = counts
    self.source = source
    self.window = window
  }

  /// By how much it is missed: `38.8 points too low`.
  package var distance: String? {
    guard let actual, !holds else { return nil }
    let difference = actual - expectation.value
    guard difference != 0 else { return nil }
    let amount = unit.distance(difference.magnitude)
    switch (unit, expectation.comparison) {
    case (_, .equal): return "\(amount) \(difference < 0 ? "less" : "more")"
    case (.share, _): return "\(amount) too \(difference < 0 ? "low" : "high")"
    case (.time, _): return "\(amount) too \(difference < 0 ? "short" : "long")"
    default: return "\(amount) too \(difference < 0 ? "few" : "many")"
    }
  }

  /// One line: `memory.hit >= 80%: 93.8% (469 hits of 500 answered look-ups; since …)`.
  package var sentence: String {
    "\(expectation.text): \(actualText) (\(source); \(windowText))"
  }

  /// One line for where it failed.
  package var difference: String {
    "expected \(expectation.name) \(expectedText), is \(actualText)\(distance.map { ", \($0)" } ?? ""): \(source)"
  }

  /// What was expected, what is and where that comes from, a line each.
  package var lines: [String] {
    [
      "expected  \(expectedText)", "is        \(actualText)\(distance.map { ", \($0)" } ?? "")",
      "from      \(source)", "window    \(windowText)",
    ]
  }

  package var json: JSONText {
    .object([
      ("text", .text(expectation.text)), ("figure", .text(expectation.name)),
      ("comparison", .text(expectation.comparison.rawValue)), ("expected", unit.json(expectation.value)),
      ("actual", actual.map { unit.json($0) } ?? .null), ("unit", .text(unit.name)), ("holds", .flag(holds)),
      ("counts", .object(counts.map { ($0.name, .number($0.count)) })), ("from", .text(source)),
      ("windowMicroseconds", .microseconds(nanoseconds: window.clampedNanoseconds)),
    ])
  }
}

extension ExpectedFigure.Unit {
  fileprivate var name: String {
    switch self {
    case .share: "share"
    case .count: "count"
    case .bytes: "bytes"
    case .time: "microseconds"
    }
  }

  fileprivate func json(_ value: Double) -> JSONText {
    switch self {
    case .share: .decimal(value)
    case .count, .bytes: .number(Int(value))
    case .time: .decimal(value / 1_000)
    }
  }

  /// A value, precise enough to be told from another.
  fileprivate func text(_ value: Double, beside other: Double) -> String {
    switch self {
    case .count: return Format.count(Int(value))
    case .bytes:
      let text = Format.bytes(Int(value))
      return text == Format.bytes(Int(other)) && value != other ? "\(Format.count(Int(value))) B" : text
    case .time:
      let text = Format.latency(nanoseconds: Int64(value))
      guard text == Format.latency(nanoseconds: Int64(other)), value != other else { return text }
      return "\(Format.count(Int(value))) ns"
    case .share:
      var places = 1
      while places < 7, value != other, Self.percent(value, places) == Self.percent(other, places) { places += 1 }
      return Self.percent(value, places)
    }
  }

  fileprivate func distance(_ value: Double) -> String {
    switch self {
    case .count: return Format.count(Int(value))
    case .bytes: return Format.bytes(Int(value))
    case .time: return Format.latency(nanoseconds: Int64(value))
    case .share:
      let points = Self.percent(value, value < 0.000_5 ? 4 : 1).dropLast()
      return "\(points) \(points == "1" ? "point" : "points")"
    }
  }

  private static func percent(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = Int((value * 100 * scale).rounded())
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
    guard rest != 0 else { return "\(whole)%" }
    let digits = String(Int(scale) + rest).dropFirst()
    return "\(whole).\(digits)%"
  }
}
