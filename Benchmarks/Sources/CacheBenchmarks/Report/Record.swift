import Foundation

/// Ratios that were measured once and that a later run must not exceed by much.
///
/// Ratios and not times, so that machines compare; each is of a row to the first row of its table, which is code that
/// never changes.
struct Record: Codable {
  static let tolerance = 1.1

  var ratios: [String: [String: Double]] = [:]

  init(_ results: [Result]) {
    for result in results where result.isProcessorTime {
      for row in result.rows.dropFirst() { ratios[result.title, default: [:]][row.name] = result.ratio(row) }
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
  func regressions(in result: Result) -> [String: String] {
    var found: [String: String] = [:]
    for row in result.rows {
      let ratio = result.ratio(row)
      guard let recorded = ratios[result.title]?[row.name], ratio > recorded * Self.tolerance else { continue }
      found[row.name] =
        "\(result.title): \(row.name): \(decimal(ratio, 2)) times the floor, was \(decimal(recorded, 2))"
    }
    return found
  }
}
