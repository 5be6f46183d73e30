import CacheEngineTesting
import ExplorerCache

/// How likely the differences between two sides would be if both were equal.
///
/// A permutation test of all measures at once, with the largest of their t statistics (P. Westfall, S. Young,
/// Resampling-based multiple testing, 1993): were the sides equal, every split of the runs in two halves would be as likely as
/// the one that was seen. So of 100 comparisons of equal caches at most 5 name anything better, whatever the times are
/// distributed like and however the measures hang together.
///
/// What is counted and never differs from run to run needs no such test. Equal caches that have one of two counts by chance look
/// so, and differ, in at most 1 of 32 comparisons of 3 runs, but in 1 of 8 of 2 runs.
enum ChanceOfDifference {
  /// What is less likely is called a difference.
  static let most = 0.05
  /// With fewer runs of each side not even the clearest difference is that unlikely: of the 20 splits of twice 3 runs, 2 are
  /// as clear.
  static let leastRuns = 4
  private static let leastRunsOfCounts = 3
  /// More splits are not looked at; instead so many are drawn.
  private static let mostSplits = 20_000

  /// The chance of every measure that both sides have in all runs, and that can be told.
  static func between(_ sides: [[ComparedRun]], _ measures: [ComparedMeasure]) -> [ComparedMeasure: Double] {
    guard let runs = sides.first?.count, runs > 1, sides.count == 2, sides[1].count == runs else { return [:] }
    var chances: [ComparedMeasure: Double] = [:]
    var varying: [(measure: ComparedMeasure, values: [Double])] = []
    for measure in measures {
      let values = sides.map { $0.compactMap { $0.values[measure] } }
      guard values.allSatisfy({ $0.count == runs }) else { continue }
      // Counted, and the same in every run. A time that happens to be the same twice proves nothing.
      if measure.isCounted, values.allSatisfy({ Set($0).count == 1 }) {
        let areEqual = values[0][0] == values[1][0]
        if areEqual || runs >= leastRunsOfCounts { chances[measure] = areEqual ? 1 : 0 }
      } else {
        varying.append((measure, values[0] + values[1]))
      }
    }
    guard runs >= leastRuns, !varying.isEmpty else { return chances }
    let seen = varying.map { statistic(of: $0.values, first: Array(0..<runs)) }
    var (splits, asLarge) = (0, Array(repeating: 0, count: varying.count))
    forEachSplit(of: runs) { first in
      let largest = varying.reduce(0.0) { max($0, statistic(of: $1.values, first: first)) }
      splits += 1
      for index in asLarge.indices where largest >= seen[index] * (1 - 1e-9) { asLarge[index] += 1 }
    }
    for (index, measure) in varying.map(\.measure).enumerated() {
      chances[measure] = Double(asLarge[index]) / Double(splits)
    }
    return chances
  }

  /// The size of Student's t of a split; without end where both halves vary in nothing but differ.
  private static func statistic(of values: [Double], first: [Int]) -> Double {
    let count = Double(first.count)
    let (all, half) = (values.reduce(0, +), first.reduce(0.0) { $0 + values[$1] })
    let means = (half / count, (all - half) / count)
    let isFirst = Set(first)
    let squares = values.indices.reduce(0.0) { sum, index in
      let distance = values[index] - (isFirst.contains(index) ? means.0 : means.1)
      return sum + distance * distance
    }
    let difference = abs(means.0 - means.1)
    // What is left of rounding is no difference, and no spread.
    let scale = values.reduce(0.0) { max($0, abs($1)) } * 1e-12
    guard difference > scale else { return 0 }
    return squares > scale * scale ? difference / (squares * 2 / (count * 2 * (count - 1))).squareRoot() : .infinity
  }

  /// Every split of twice so many runs in two halves, of which the first run is in the first; or many that are drawn, and
  /// the one that was seen.
  private static func forEachSplit(of runs: Int, _ body: ([Int]) -> Void) {
    // A split and its mirror image do not differ.
    var count = 1.0
    for step in 1..<runs { count = count * Double(2 * runs - step) / Double(step) }
    guard count > Double(mostSplits) else { return split(from: 1, chosen: [0], of: runs, body) }
    var random = SeededGenerator(seed: 1)
    body(Array(0..<runs))
    for _ in 1..<mostSplits { body(Array((0..<2 * runs).shuffled(using: &random).prefix(runs))) }
  }

  private static func split(from next: Int, chosen: [Int], of runs: Int, _ body: ([Int]) -> Void) {
    guard chosen.count < runs else { return body(chosen) }
    guard next < 2 * runs, 2 * runs - next >= runs - chosen.count else { return }
    split(from: next + 1, chosen: chosen + [next], of: runs, body)
    split(from: next + 1, chosen: chosen, of: runs, body)
  }
}
