import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerState
import ExplorerText

/// The miss-ratio curves of a trace at a level, as a table with a plot, as JSON, and as a picture.
struct CurveReport: Sendable {
  let trace: String
  let format: TraceFormat?
  let requests: Int
  /// How many more there were that are no reads.
  let skipped: Int
  let distinct: Int
  /// The level that the capacities are of, with its own in the middle.
  let level: HitRatioObserver.Level
  /// What stands for the sizes that the trace does not tell; `nil` if it does, or if entries are counted.
  let assumedSize: Int?
  let curve: MissRatioCurve
  /// The order of columns and lines: the policy in use, the others, the optimum.
  let policies: [SimulatedPolicy]

  var inUse: SimulatedPolicy { policies.first ?? .lru }
  var now: Int { curve.capacities.firstIndex(of: level.capacity) ?? 0 }

  func ratio(_ policy: SimulatedPolicy, _ index: Int) -> Double { curve.hitRatios[policy]?[index] ?? 0 }

  /// A policy that could be used and gives the most where the capacity is that of now.
  var best: SimulatedPolicy {
    policies.filter { $0 != .optimum }.max { ratio($0, now) < ratio($1, now) } ?? inUse
  }

  /// The cheapest change that gains a point at least: another policy, else the smallest capacity.
  var advice: String {
    let here = ratio(inUse, now)
    let gain = { (ratio: Double) in "\(WhatIfText.gain(WhatIfText.points(from: here, to: ratio))) points" }
    if ratio(best, now) - here >= 0.01 {
      return
        "policy \(best.rawValue) in place of \(inUse.rawValue) would bring \(gain(ratio(best, now))), and costs nothing"
    }
    guard let more = curve.capacities.indices.first(where: { $0 > now && ratio(inUse, $0) - here >= 0.01 }) else {
      return "no change helps"
    }
    return
      "\(WhatIfText.capacity(curve.capacities[more], level)) in place of \(WhatIfText.capacity(level.capacity, level)) "
      + "would bring \(gain(ratio(inUse, more))); no other policy helps"
  }

  var text: String {
    let size = assumedSize.map { "; it has no sizes, so each value counts as \(Format.bytes($0))" } ?? ""
    let others = skipped > 0 ? "; \(Format.count(skipped)) skipped that are no reads" : ""
    let counts = "\(Format.counted(requests, "request")) of \(Format.counted(distinct, "key"))"
    let lines = [
      "\(StandardStreams.name(of: trace))\(format.map { " (\($0.rawValue))" } ?? ""): \(counts)\(others)\(size)",
      "\(level.name): \(inUse.rawValue) \(WhatIfText.capacity(level.capacity, level)), hit rate \(WhatIfText.percent(ratio(inUse, now)))",
      "▸ \(advice)", "",
    ]
    return (lines.map(harmless) + table + [""] + plot).joined(separator: "\n")
  }

  private var table: [String] {
    func lead(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(1, width - text.count)) + text
    }
    func line(_ first: String, _ cells: [String]) -> String { lead(first, 16) + cells.map { lead($0, 9) }.joined() }
    var lines = [line("hit rate in %", policies.map(\.rawValue))]
    for (index, capacity) in curve.capacities.enumerated() {
      let cells = policies.map { WhatIfText.tenths(100 * ratio($0, index)) }
      lines.append(line(WhatIfText.capacity(capacity, level), cells) + (index == now ? "  ◀ now" : ""))
    }
    return lines
  }

  /// Hit rates from 0 to 100 upwards, capacities by their logarithm to the right.
  private var plot: [String] {
    let (width, height) = (64, 16)
    let count = curve.capacities.count
    guard count > 1 else { return [] }
    var cells = Array(repeating: Array(repeating: Character(" "), count: width), count: height)
    for row in 0..<height { cells[row][now * (width - 1) / (count - 1)] = "┊" }
    let drawn: [(SimulatedPolicy, Character)] =
      [(.optimum, "·"), (best, "○"), (inUse, "●")].filter { $0.0 != inUse || $0.1 == "●" }
    for (policy, mark) in drawn where policies.contains(policy) {
      for column in 0..<width {
        let place = Double(column) / Double(width - 1) * Double(count - 1)
        let left = min(count - 2, Int(place))
        let share = place - Double(left)
        let value = ratio(policy, left) * (1 - share) + ratio(policy, left + 1) * share
        cells[height - 1 - min(height - 1, Int(value * Double(height)))][column] = mark
      }
    }
    var lines = cells.enumerated().map { row, cells in
      let label = row == 0 ? "100%" : row == height - 1 ? "0%" : row == height / 2 ? "50%" : ""
      return String(repeating: " ", count: 5 - label.count) + label + " │" + String(cells)
    }
    lines.append("      └" + String(repeating: "─", count: width))
    let (least, most) = (curve.capacities.first ?? 0, curve.capacities.last ?? 0)
    let (left, right) = (WhatIfText.capacity(least, level), WhatIfText.capacity(most, level))
    let gap = max(1, width - left.count - right.count)
    lines.append("       " + left + String(repeating: " ", count: gap) + right)
    let legend = drawn.reversed().filter { policies.contains($0.0) }.map { "\($0.1) \($0.0.rawValue)" }
    lines.append("       " + legend.joined(separator: "   ") + "   ┊ now")
    return lines
  }

  var json: String {
    JSONText.object([
      ("version", JSONText.version), ("trace", .text(trace)), ("requests", .number(requests)),
      ("keys", .number(distinct)),
      ("level", .text(level.name)), ("policy", .text(inUse.rawValue)), ("capacity", .number(level.capacity)),
      ("unit", .text(level.unit == .cost ? "bytes" : "entries")), ("assumedSize", assumedSize.map(JSONText.number)),
      ("hitRate", .fraction(ratio(inUse, now))), ("advice", .text(advice)),
      ("capacities", .array(curve.capacities.map(JSONText.number))),
      (
        "hitRates",
        .object(
          policies.map { policy in (policy.rawValue, .array((curve.hitRatios[policy] ?? []).map(JSONText.fraction))) })
      ),
    ]).line
  }
}
