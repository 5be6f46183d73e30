import Foundation

/// What a run has measured, as it is printed and written.
struct Result: Codable {
  let title: String
  var unit = "ns/op"
  /// Whether the rows are processor time of work that the processor's caches hold, whose ratios another run finds again.
  var isSteady = false
  var rows: [Comparison.Row]

  var floor: Double { rows.first?.median ?? .nan }

  /// How much slower a row is than the first one, by the median of the rounds.
  ///
  /// Both were measured in the same rounds, so that a round in which the machine was slow is slow for both.
  func ratio(_ row: Comparison.Row) -> Double {
    guard let first = rows.first, first.samples.count == row.samples.count else { return row.median / floor }
    return zip(row.samples, first.samples).map { $0 / $1 }.sorted()[row.samples.count / 2]
  }

  /// The same by the quickest rounds, which others on the machine have disturbed least.
  func leastRatio(_ row: Comparison.Row) -> Double { row.least / (rows.first?.least ?? .nan) }

  /// The rows with the samples of another run of the same comparison.
  func joined(_ other: [Comparison.Row]) -> Result {
    var result = self
    result.rows = Comparison.Row.joined(rows, other)
    return result
  }

  func printTable() {
    print("\n\(title)")
    print("  \(pad("", 46)) \(pad(unit, 10)) \(pad("min-max", 19)) ratio")
    for row in rows {
      print(
        "  \(pad(row.name, 46)) \(pad(decimal(row.median), 10))",
        pad("\(decimal(row.least))-\(decimal(row.most))", 19), decimal(ratio(row), 2))
    }
  }
}

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

func decimal(_ value: Double, _ digits: Int = 1) -> String {
  guard value.isFinite else { return "-" }
  return String(format: "%.\(digits)f", value)
}
