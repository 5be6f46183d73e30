import CacheEngine
import ExplorerCache
import ExplorerText

/// What two caches made of the same requests, and which differences matter.
struct ComparisonReport: Sendable {
  enum Verdict: String, Sendable {
    /// Nothing differed.
    case same
    /// The runs differ among themselves so much that the difference may be chance.
    case spread
    /// The runs differ among themselves, and are too few to tell chance from difference.
    case few
    /// Too little to matter.
    case small
    case first, second
    /// It differs, and neither is better.
    case differs
    /// Only one of them has it.
    case alone
  }

  /// The runs of one side.
  struct Values: Sendable, Equatable {
    let mean, least, most: Double

    init?(_ values: [Double]) {
      guard let least = values.min(), let most = values.max() else { return nil }
      mean = values.reduce(0, +) / Double(values.count)
      (self.least, self.most) = (least, most)
    }
  }

  struct Row: Sendable {
    let measure: ComparedMeasure
    let first, second: Values?
    /// How likely such a difference is between equal caches; `nil` if there are too few runs to say.
    let chance: Double?

    var verdict: Verdict {
      guard let first, let second else { return .alone }
      if first == second, first.least == first.most { return .same }
      guard let chance else { return first.mean == second.mean ? .spread : .few }
      if chance > ChanceOfDifference.most { return .spread }
      if measure.isSmall(first.mean, second.mean) { return .small }
      guard let wantsMore = measure.wantsMore else { return .differs }
      return (second.mean > first.mean) == wantsMore ? .second : .first
    }
  }

  let files: [String]
  let trace: String
  let requests: Int
  /// All runs read as many requests; a log that grows meanwhile gives more to the later ones.
  let isOfOneTrace: Bool
  let runs: Int
  let rows: [Row]

  /// `sides`: The runs of the one and of the other.
  init(files: [String], trace: String, sides: [[ComparedRun]]) {
    self.files = files
    self.trace = trace
    requests = sides.first?.first?.requests ?? 0
    isOfOneTrace = Set(sides.joined().map(\.requests)).count == 1
    runs = sides.first?.count ?? 0
    var measures: [ComparedMeasure] = []
    let known = Set(sides.flatMap { $0.flatMap { $0.values.keys } })
    var levels: [String?] = [nil]
    levels += Set(known.compactMap(\.level)).sorted()
    for level in levels {
      for kind in ComparedMeasure.Kind.allCases {
        let measure = ComparedMeasure(kind: kind, level: level)
        if known.contains(measure) { measures.append(measure) }
      }
    }
    let chances = ChanceOfDifference.between(sides, measures)
    rows = measures.map { measure in
      func values(_ side: Int) -> Values? { Values(sides[side].compactMap { $0.values[measure] }) }
      return Row(measure: measure, first: values(0), second: values(1), chance: chances[measure])
    }
  }

  /// What is better in one of them, the whole cache first.
  var findings: [String] {
    let found = rows.compactMap { row -> String? in
      guard let first = row.first, let second = row.second else { return nil }
      let isSecond = row.verdict == .second
      guard isSecond || row.verdict == .first else { return nil }
      let (better, worse) = isSecond ? (second, first) : (first, second)
      let saved = row.measure.kind == .sourceCalls ? ", \(Format.count(Int(abs(worse.mean - better.mean)))) saved" : ""
      return "\(isSecond ? "B" : "A") is better in \(row.measure.name): \(row.measure.text(better.mean)) and not "
        + "\(row.measure.text(worse.mean))\(saved)"
    }
    if rows.contains(where: { $0.verdict == .few }), runs < ChanceOfDifference.leastRuns {
      let least = ChanceOfDifference.leastRuns
      return found + ["\(runs) runs are too few to judge what differs from run to run; give --runs \(least) or more"]
    }
    return found.isEmpty ? ["no difference is larger than chance makes it, and large enough to matter"] : found
  }

  var text: String {
    func pad(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let counts = "\(Format.counted(requests, "request")), \(Format.counted(runs, "run")) of each in turn"
    var lines = [
      "\(StandardStreams.name(of: trace)): \(counts), each from empty", "A: \(files[0])",
      "B: \(files[1])", "",
    ]
    lines.append(pad("", 30) + pad("A", 20) + pad("B", 20) + pad("B − A", 22))
    for row in rows {
      let difference = row.first.flatMap { first in row.second.map { row.measure.difference(first.mean, $0.mean) } }
      lines.append(
        pad(row.measure.name, 30) + pad(Self.text(row.first, row.measure), 20)
          + pad(Self.text(row.second, row.measure), 20) + pad(difference ?? "", 22) + Self.text(row.verdict))
    }
    return (lines + [""] + findings.map { "▸ " + $0 }).map(harmless).joined(separator: "\n")
  }

  /// `61.2% ±0.1%`: the mean, and half of what lies between the least and the most.
  private static func text(_ values: Values?, _ measure: ComparedMeasure) -> String {
    guard let values else { return Format.none }
    let half = (values.most - values.least) / 2
    return half == 0 ? measure.text(values.mean) : "\(measure.text(values.mean)) ±\(measure.text(half))"
  }

  private static func text(_ verdict: Verdict) -> String {
    switch verdict {
    case .same: "the same"
    case .spread: "may be chance"
    case .few: "too few runs to tell"
    case .small: "too little to matter"
    case .first: "A is better"
    case .second: "B is better"
    case .differs: "differs"
    case .alone: "only one has it"
    }
  }

  var json: String {
    func number(_ measure: ComparedMeasure, _ value: Double) -> JSONText {
      measure.kind == .hitRate ? .fraction(value) : .number(Int(value.rounded()))
    }
    func side(_ measure: ComparedMeasure, _ values: Values?) -> JSONText? {
      values.map { values in
        .object([
          ("mean", number(measure, values.mean)), ("least", number(measure, values.least)),
          ("most", number(measure, values.most)),
        ])
      }
    }
    return JSONText.object([
      ("version", JSONText.version), ("trace", .text(trace)), ("requests", .number(requests)), ("runs", .number(runs)),
      ("a", .text(files[0])),
      ("b", .text(files[1])),
      (
        "measures",
        .array(
          rows.map { row in
            .object([
              ("measure", .text(row.measure.kind.name)), ("level", row.measure.level.map(JSONText.text)),
              ("unit", .text(row.measure.kind.unit)), ("a", side(row.measure, row.first)),
              ("b", side(row.measure, row.second)), ("verdict", .text(row.verdict.word)),
            ])
          })
      ),
      ("findings", .array(findings.map(JSONText.text))),
    ]).line
  }
}

extension ComparisonReport.Verdict {
  /// The word in the JSON.
  fileprivate var word: String {
    switch self {
    case .first: "a"
    case .second: "b"
    default: rawValue
    }
  }
}

extension ComparedMeasure.Kind {
  /// The name in the JSON.
  fileprivate var name: String {
    switch self {
    case .hitRate: "hitRate"
    case .sourceCalls: "sourceCalls"
    case .failures: "failures"
    case .entries: "entries"
    case .bytes: "bytes"
    case .median: "p50"
    case .slowest: "p99"
    case .time: "time"
    }
  }

  fileprivate var unit: String {
    switch self {
    case .hitRate: "share"
    case .bytes: "bytes"
    case .median, .slowest, .time: "nanoseconds"
    case .sourceCalls, .failures, .entries: "count"
    }
  }
}
