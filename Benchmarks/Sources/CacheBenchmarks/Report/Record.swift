import Foundation

/// Ratios that were measured once and that a later run must not exceed by much.
///
/// Ratios and not times, so that machines compare; each is of a row to the first row of its table, which is code that
/// never changes, by the quickest round of either. Only of work that the processor's caches hold: how long the memory
/// behind them takes is decided by whoever else uses it.
struct Record: Codable {
  static let tolerance = 1.1
  /// How often a table is measured before a row counts as slower.
  static let tries = 5

  var ratios: [String: [String: Double]] = [:]

  init(_ results: [Result]) {
    for result in results where result.isSteady {
      for row in result.rows.dropFirst() { ratios[result.title, default: [:]][row.name] = result.leastRatio(row) }
    }
  }

  init(file: String) throws {
    self = try JSONDecoder().decode(Record.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }

  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
  }

  /// The rows of a result that are slower than they were, in words.
  func regressions(in result: Result) -> [String] {
    result.rows.compactMap { row in
      let ratio = result.leastRatio(row)
      guard let recorded = ratios[result.title]?[row.name], ratio > recorded * Self.tolerance else { return nil }
      return "\(result.title): \(row.name): \(decimal(ratio, 2)) times the floor, was \(decimal(recorded, 2))"
    }
  }
}
