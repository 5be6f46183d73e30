import Foundation

/// One line of a table: what was measured, in one unit.
struct Row: Codable, Sendable {
  var name: String
  var samples: [Double]

  var median: Double { samples.sorted()[samples.count / 2] }
  var least: Double { samples.min() ?? .nan }
  var most: Double { samples.max() ?? .nan }
}

/// Rows that are compared with each other; the first one is what the others are compared with.
struct Table: Codable, Sendable {
  var title: String
  var unit: String
  var rows: [Row]

  func printed() -> String {
    let first = rows.first?.median ?? .nan
    var lines = ["", title, "  " + pad("", 34) + pad(unit, 12) + pad("min-max", 22) + "ratio"]
    for row in rows {
      lines.append(
        "  " + pad(row.name, 34) + pad(short(row.median), 12) + pad("\(short(row.least))-\(short(row.most))", 22)
          + String(format: "%.2f", row.median / first))
    }
    return lines.joined(separator: "\n")
  }
}

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }

func short(_ value: Double) -> String { String(format: value < 100 ? "%.2f" : "%.0f", value) }
