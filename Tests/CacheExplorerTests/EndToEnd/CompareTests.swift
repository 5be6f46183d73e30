import CacheEngineTesting
import Foundation
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

@Suite struct ComparisonReportTests {
  private static let hitRate = ComparedMeasure(kind: .hitRate)
  private static let bytes = ComparedMeasure(kind: .bytes, level: "memory")
  private static let slowest = ComparedMeasure(kind: .slowest)
  private static let calls = ComparedMeasure(kind: .sourceCalls)

  private func report(_ first: [[ComparedMeasure: Double]], _ second: [[ComparedMeasure: Double]]) -> ComparisonReport {
    func runs(_ values: [[ComparedMeasure: Double]]) -> [ComparedRun] {
      values.map { ComparedRun(requests: 1_000, values: $0) }
    }
    return ComparisonReport(files: ["a.yaml", "b.yaml"], trace: "t", sides: [runs(first), runs(second)])
  }

  private func verdict(_ measure: ComparedMeasure, _ first: [Double], _ second: [Double]) -> ComparisonReport.Verdict? {
    report(first.map { [measure: $0] }, second.map { [measure: $0] }).rows.first?.verdict
  }

  @Test("a difference that chance may have made is called so, however far the means are apart")
  func spread() {
    #expect(verdict(Self.slowest, [100, 200, 300, 250], [240, 500, 900, 310]) == .spread)
    #expect(verdict(Self.slowest, [100, 110, 120, 105], [310, 320, 315, 330]) == .first)
    #expect(verdict(Self.slowest, [310, 320, 315, 330], [100, 110, 120, 105]) == .second)
    #expect(verdict(Self.hitRate, [0.5, 0.5], [0.5, 0.5]) == .same)
  }

  @Test("three runs are too few to judge what differs from run to run, but not what is counted and never differs")
  func few() {
    #expect(verdict(Self.slowest, [100, 101, 102], [900, 901, 902]) == .few)
    #expect(verdict(Self.slowest, [100, 100, 100], [900, 900, 900]) == .few, "a time is not counted")
    #expect(verdict(Self.hitRate, [0.5, 0.5, 0.5], [0.6, 0.6, 0.6]) == .second)
    // Every eighth pair of equal caches that have one of two outcomes looks so.
    #expect(verdict(Self.hitRate, [0.5, 0.5], [0.6, 0.6]) == .few)
    let report = report([[Self.slowest: 1], [Self.slowest: 2]], [[Self.slowest: 8], [Self.slowest: 9]])
    #expect(
      report.findings == ["2 runs are too few to judge what differs from run to run; give --runs 4 or more"])
  }

  /// Times as runs of one and the same cache have them.
  enum Noise: CaseIterable {
    case normal, skewed, bimodal, coarse

    func time(_ random: inout SeededGenerator) -> Double {
      func uniform() -> Double { Double.random(in: 0..<1, using: &random) }
      let bell = (0..<12).reduce(-6.0) { sum, _ in sum + uniform() }
      return switch self {
      case .normal: 1_000 + 100 * bell
      case .skewed: 1_000 / (1.001 - uniform())
      case .bimodal: (uniform() < 0.5 ? 1_000 : 9_000) + bell
      // As from a histogram: neighbours are six percent apart.
      case .coarse: (uniform() < 0.5 ? 1_000 : 1_062)
      }
    }
  }

  @Test(
    "of equal caches at most one comparison in twenty calls one better, whatever their times are like",
    arguments: Noise.allCases, [4, 5])
  func chance(noise: Noise, runs: Int) {
    var random = SeededGenerator(seed: 7)
    let measures = ["memory", "disk", "origin"].flatMap { level in
      [ComparedMeasure.Kind.median, .slowest].map { ComparedMeasure(kind: $0, level: level) }
    }
    let comparisons = 300
    var wrong = 0
    for _ in 0..<comparisons {
      let sides = (0..<2).map { _ in
        (0..<runs).map { _ in
          // A slow machine slows everything.
          let pace = Double.random(in: 1..<1.3, using: &random)
          return Dictionary(uniqueKeysWithValues: measures.map { ($0, pace * noise.time(&random)) })
        }
      }
      let verdicts = report(sides[0], sides[1]).rows.map(\.verdict)
      wrong += verdicts.contains(.first) || verdicts.contains(.second) ? 1 : 0
    }
    // One in twenty, and three times the spread of such a count.
    #expect(wrong <= 15 + 11, "\(wrong) of \(comparisons)")
  }

  @Test("more hits and fewer calls are better, more bytes are neither, and hardly anything does not matter")
  func directions() {
    #expect(verdict(Self.hitRate, [0.5, 0.51, 0.5, 0.51], [0.6, 0.61, 0.6, 0.6]) == .second)
    #expect(verdict(Self.calls, [500, 510, 505, 502], [400, 410, 402, 407]) == .second)
    #expect(verdict(Self.bytes, [500, 510, 505, 502], [400, 410, 402, 407]) == .differs)
    #expect(verdict(Self.hitRate, [0.5, 0.5, 0.5], [0.500_9, 0.500_9, 0.500_9]) == .small)
    #expect(verdict(Self.calls, [1_000, 1_000, 1_000], [1_009, 1_009, 1_009]) == .small)
  }

  @Test("runs that read more requests than others are told apart: they say nothing of the caches")
  func changedTrace() {
    func isOfOneTrace(_ first: [Int], _ second: [Int]) -> Bool {
      let sides = [first, second].map { $0.map { ComparedRun(requests: $0) } }
      return ComparisonReport(files: ["a.yaml", "b.yaml"], trace: "t", sides: sides).isOfOneTrace
    }
    #expect(isOfOneTrace([7, 7], [7, 7]))
    #expect(!isOfOneTrace([7, 7], [7, 8]))
  }

  @Test("what only one of them has is no difference, and findings name what is saved")
  func findings() {
    let report = report(
      [500, 502, 500, 502].map { [Self.calls: $0, Self.bytes: 10] }, [400, 402, 400, 402].map { [Self.calls: $0] })
    #expect(report.rows.map(\.verdict) == [.second, .alone])
    #expect(report.findings == ["B is better in calls to the source: 401 and not 501, 100 saved"])
    #expect(report.text.contains("501 ±1"))
    #expect(report.text.contains("−100 (−20.0%)"))
    #expect(report.text.contains("only one has it"))
  }
}

/// `cache-explorer compare` as a process.
@Suite(.timeLimit(.minutes(10))) struct CompareTests {
  private static func yaml(capacity: Int) -> String {
    """
    levels:
      - memory: { count: \(capacity), policy: lru }
      - disk: { directory: ./disk, capacity: 1 MiB }
      - pooled: { origin: { latency: 0s, size: 100 B, seed: 7 } }
    """
  }

  private static let loop = (0..<3_000).map { "key:\($0 % 60)\n" }.joined()

  @Test("the same requests through two caches: the larger one has the hits, and the spread is told")
  func compares() async throws {
    let folder = try TemporaryFolder()
    let small = try folder.write(Self.yaml(capacity: 50), to: "a.yaml")
    let large = try folder.write(Self.yaml(capacity: 70), to: "b.yaml")
    let arguments = ["compare", small, large, "--trace", "-", "--runs", "3"]
    let run = try await Program.run(arguments + ["--format", "json"], input: Self.loop)
    #expect(run.status == 0, "\(run.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(object["requests"] as? Int == 3_000)
    let measures = try #require(object["measures"] as? [[String: Any]])
    func measure(_ name: String, _ level: String?) throws -> [String: Any] {
      try #require(measures.first { $0["measure"] as? String == name && $0["level"] as? String == level })
    }
    let memory = try measure("hitRate", "memory")
    #expect((memory["a"] as? [String: Double])?["mean"] == 0)
    #expect((memory["b"] as? [String: Double])?["mean"] == 0.98)
    #expect(memory["verdict"] as? String == "b")
    // The disk has everything, in a folder of its own: nothing is asked of the source but once, by each.
    #expect((try measure("sourceCalls", nil)["a"] as? [String: Int])?["mean"] == 60)
    #expect(try measure("sourceCalls", nil)["verdict"] as? String == "same")
    #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "disk").path()))
    let text = try await Program.run(arguments, input: Self.loop)
    #expect(text.output.contains("standard input: 3 000 requests, 3 runs of each in turn, each from empty"))
    #expect(text.output.contains("▸ B is better in memory hit rate: 98.0% and not 0.0%"))
  }

  @Test("two caches that are the same differ in nothing that matters")
  func same() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { count: 50 }\n", to: "a.yaml")
    let run = try await Program.run(["compare", file, file, "--trace", "-", "--runs", "2"], input: Self.loop)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("the same"))
    #expect(!run.output.contains("better in hit rate"))
  }

  @Test("without a trace --run drives both caches on one screen, and both are asked before they are left")
  func beside() async throws {
    let folder = try TemporaryFolder()
    let first = try folder.write(
      "name: small\nlevels:\n  - memory: { count: 5, policy: lru }\n  - origin: { latency: 0s }\n", to: "a.yaml")
    let second = try folder.write(
      "name: large\nlevels:\n  - memory: { count: 50 }\n  - origin: { latency: 0s }\n", to: "b.yaml")
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["compare", first, second, "--run", "loop --rate 200 --keys 20"], width: 120, height: 40,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": folder.url.path()])
    // Twenty keys in turn: five are never enough, fifty always.
    try await terminal.wait(for: "what both have answered") {
      let header = $0.screen.rows[0]
      return header.contains("A small") && header.contains("B large") && header.contains("0.0%")
        && $0.screen.rows.contains { $0.components(separatedBy: "key:").count > 2 }
    }
    // A file is written by one of them.
    terminal.send("\u{1b}OQ:record \(folder.url.path())/a.rec\r")
    try await terminal.wait(forText: "● REC")
    terminal.send("\u{1b}OS")
    try await terminal.wait(for: "both again") { $0.screen.rows[0].contains("B large") }
    terminal.send("q")
    try await terminal.wait(for: "both questions") {
      $0.screen.rows.contains { $0.components(separatedBy: "the workload loop runs").count == 3 }
    }
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)
    #expect(!terminal.sight.screen.isAlternate)
    #expect(terminal.sight.screen.contains("watch it with cache-explorer --replay"))

    let cases: [([String], Int32, String)] = [
      (["--run", "zipff"], 2, "zipf"), (["--run", "zipf", "--trace", "-"], 2, "exclude each other"),
      (["--run", "zipf"], 4, "two caches side by side need a terminal"),
    ]
    for (options, status, part) in cases {
      let run = try await Program.run(["compare", first, second] + options)
      #expect(run.status == status, "\(options) \(run.errors)")
      #expect(run.errors.contains(part), "\(run.errors)")
    }
  }

  @Test("what cannot be compared is told, with the status that it has elsewhere")
  func problems() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { count: 50 }\n", to: "a.yaml")
    let bad = try folder.write("levels:\n  - memry: { count: 50 }\n", to: "b.yaml")
    let writes = try folder.write("key,op,size\na,SET,1\n", to: "writes.csv")
    let cases: [([String], Int32, String)] = [
      ([file, bad, "--trace", "-"], 3, "memry"), ([file, file, "--trace", "/no/such/trace"], 2, "/no/such/trace"),
      ([file, file, "--trace", "-", "--runs", "1"], 2, "spread"),
      ([file, file, "--trace", "-"], 2, "standard input:1"),
      ([file, file, "--trace", writes, "--runs", "2"], 2, "none of its requests is a read"),
      ([file, file, "--trace", "/dev/stdin"], 2, "pipe it in with --trace -"),
      ([file, file], 4, "--trace"), ([file, file, "--plain"], 2, "--trace"),
      ([file, file, "--runs", "3"], 2, "belong to --trace"),
      ([file, file, "--format", "json"], 2, "belong to --trace"),
    ]
    for (arguments, status, part) in cases {
      let run = try await Program.run(["compare"] + arguments, input: "a\tbig\n")
      #expect(run.status == status, "\(arguments) \(run.errors)")
      #expect(run.errors.contains(part), "\(run.errors)")
    }
  }
}
