import CacheEngine
import CacheEngineHitRatio
import Foundation

/// Hit ratios by trace, capacity and policy, and what they come to.
struct HitRatioTable {
  struct Row {
    let trace: String
    let capacity: Int
    let requests: Int
    let ratios: [Double]
    /// The processor's time for each policy, which other programs change less than the clock on the wall.
    let nanoseconds: [Double]
  }

  let policies: [SimulatedPolicy]
  private(set) var rows: [Row] = []

  init(policies: [SimulatedPolicy]) { self.policies = policies }

  mutating func add(_ name: String, _ trace: RequestTrace, _ capacities: [Double]) {
    for capacity in capacities {
      let entries = max(1, Int((capacity <= 1 ? capacity * Double(trace.distinct) : capacity).rounded()))
      var ratios: [Double] = []
      var nanoseconds: [Double] = []
      for policy in policies {
        let began = clock()
        ratios.append(HitRatio.simulate(policy: policy, capacity: entries, trace: trace).value * 100)
        nanoseconds.append(Double(clock() - began) * 1_000_000_000 / Double(CLOCKS_PER_SEC))
      }
      rows.append(
        Row(trace: name, capacity: entries, requests: trace.keys.count, ratios: ratios, nanoseconds: nanoseconds))
    }
  }

  /// The table, the means, and by how much each policy loses at worst against the best that knows no future.
  func text(recorded: Int) -> String {
    var lines = [line("trace", "capacity", policies.map(\.rawValue))]
    for row in rows { lines.append(line(row.trace, String(row.capacity), row.ratios.map { decimal($0) })) }
    for (title, part) in [("recorded", rows.prefix(recorded)), ("generated", rows.dropFirst(recorded))]
    where !part.isEmpty {
      lines.append(line("mean, \(title)", "", mean(part).map { decimal($0) }))
      lines.append(line("worst loss, \(title)", "", losses(part).map { decimal($0) }))
    }
    return lines.joined(separator: "\n")
  }

  /// The cells in which the default loses more than so many points to the best of the others, most first.
  func losses(above points: Double) -> String {
    guard let adaptive = policies.firstIndex(of: .adaptive) else { return "" }
    let losing = rows.map { (row: $0, loss: best($0) - $0.ratios[adaptive]) }.filter { $0.loss > points }
      .sorted { $0.loss > $1.loss }
    let lines = losing.map { row, loss in
      let winner = zip(policies, row.ratios).first { $0.0 != .optimum && $0.1 == best(row) }?.0.rawValue ?? ""
      return line(row.trace, String(row.capacity), [decimal(loss), winner])
    }
    return (["\(losing.count) of \(rows.count) cells lose more than \(decimal(points)) points"] + lines)
      .joined(separator: "\n")
  }

  /// Millions of requests a second of the processor's time, over everything that was replayed.
  var speed: String {
    let requests = rows.reduce(0) { $0 + $1.requests }
    let speeds = policies.indices.map { policy in
      decimal(Double(requests) / rows.reduce(0) { $0 + $1.nanoseconds[policy] } * 1_000)
    }
    return line("million requests/s", "", speeds)
  }

  var json: String {
    let objects = rows.map { row in
      let ratios = zip(policies, row.ratios).map { "\"\($0.rawValue)\": \(decimal($1, 4))" }.joined(separator: ", ")
      return
        "  {\"trace\": \"\(row.trace)\", \"capacity\": \(row.capacity), \"requests\": \(row.requests), \"hits\": {\(ratios)}}"
    }
    return "[\n\(objects.joined(separator: ",\n"))\n]"
  }

  private func mean(_ part: ArraySlice<Row>) -> [Double] {
    policies.indices.map { policy in part.reduce(0) { $0 + $1.ratios[policy] } / Double(part.count) }
  }

  private func losses(_ part: ArraySlice<Row>) -> [Double] {
    policies.indices.map { policy in part.map { max(0, best($0) - $0.ratios[policy]) }.max() ?? 0 }
  }

  private func best(_ row: Row) -> Double {
    zip(policies, row.ratios).filter { $0.0 != .optimum }.map(\.1).max() ?? 0
  }

  private func line(_ trace: String, _ capacity: String, _ cells: [String]) -> String {
    let cells = cells.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
    return pad(trace, 24) + String(repeating: " ", count: max(0, 8 - capacity.count)) + capacity + cells
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func decimal(_ value: Double, _ digits: Int = 2) -> String {
    let scale = digits == 2 ? 100 : 10_000
    let scaled = Int((value * Double(scale)).rounded())
    let fraction = String(abs(scaled) % scale)
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / scale)." + String(repeating: "0", count: digits - fraction.count)
      + fraction
  }
}
