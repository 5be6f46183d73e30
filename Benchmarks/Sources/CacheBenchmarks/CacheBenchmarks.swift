import CacheEngine
import Floor
import Foundation

@main
struct CacheBenchmarks {
  static func main() async throws {
    let options: Options
    do { options = try Options(Array(CommandLine.arguments.dropFirst())) } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(2)
    }
    // A task and not the main actor: that is where most callers are.
    let regressions = try await Task.detached { try await Self(options: options).run() }.value
    guard regressions.isEmpty else {
      FileHandle.standardError.write(
        Data(("error: slower than recorded\n" + regressions.joined(separator: "\n") + "\n").utf8))
      exit(1)
    }
  }

  let options: Options

  /// Measures what the options ask for, and returns what is slower than recorded.
  private func run() async throws -> [String] {
    let programs = options.peers.map(PeerPrograms.init(folder:))
    // Once before ours and once after, so that a slow hour does not meet one of them alone.
    let before = try programs?.run(rounds: options.rounds) ?? [:]
    let comparisons = try await comparisons().filter { options.filter.isEmpty || $0.title.contains(options.filter) }
    var results: [Result] = []
    for comparison in comparisons {
      let result = Result(
        title: comparison.title, isProcessorTime: !comparison.isByWallClock, rows: try await comparison.run())
      result.printTable()
      results.append(result)
    }
    if options.wants("footprint") {
      for entries in options.isHuge ? [1_000_000, 10_000_000] : [200_000] {
        results.append(try await Footprint.bytes(entries: entries))
        results.last?.printTable()
      }
      results.append(try await Footprint.allocations())
      results.last?.printTable()
    }
    if options.wants("async") {
      let (crowd, loads) = try await AsyncScenarios.crowd(callers: 10_000, rounds: options.rounds)
      crowd.printTable()
      print("  loads a round: \(loads)")
      results.append(crowd)
    }
    if options.wants("stack") {
      results.append(try await StackScenario.run(rounds: options.rounds))
      results.last?.printTable()
    }
    if let programs { results = merge(before, try programs.run(rounds: options.rounds), into: results, comparisons) }
    try await draw()
    if let file = options.record { try Record(results).write(to: file) }
    if let file = options.json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      try encoder.encode(results).write(to: URL(fileURLWithPath: file))
    }
    return try await check(results, comparisons)
  }

  private func comparisons() async throws -> [Comparison] {
    var comparisons: [Comparison] = []
    if options.wants("memory") {
      let text = MemoryScenarios(
        keyName: "String", keys: Workload.textKeys(100_000),
        strangers: Workload.textKeys(100_000, prefix: "user:strange:"),
        rounds: options.rounds, operations: 40_000, hasPeers: true)
      let numbers = MemoryScenarios(
        keyName: "Int", keys: Array(0..<100_000), strangers: Array(100_000..<200_000), rounds: options.rounds,
        operations: 40_000, hasPeers: false)
      let small = MemoryScenarios(
        keyName: "String", keys: Workload.textKeys(1_000), strangers: Workload.textKeys(1_000, prefix: "user:strange:"),
        rounds: options.rounds, operations: 40_000, hasPeers: false)
      for threads in [1, 2] {
        comparisons += try await text.comparisons(threads: threads)
        comparisons += try await numbers.comparisons(threads: threads)
        comparisons += try await small.comparisons(threads: threads)
      }
    }
    if options.wants("async") { comparisons.append(try await AsyncScenarios.hits(rounds: options.rounds)) }
    if options.wants("glue") {
      comparisons.append(try await Self.publishedHit(rounds: options.rounds))
      comparisons += try await CompositionBenchmarks.comparisons(rounds: options.rounds)
    }
    if options.wants("inspector") { comparisons += try await InspectorBenchmarks.comparisons(rounds: options.rounds) }
    if options.wants("eviction") { comparisons += try await EvictionBenchmarks.comparisons(rounds: options.rounds) }
    if options.wants("models") {
      comparisons += [
        try await modelChange(models: 1_000, rounds: options.rounds),
        try await modelChange(models: 100_000, rounds: options.rounds),
        try await modelScan(models: 100_000, rounds: options.isQuick ? 3 : 5),
      ]
    }
    return comparisons
  }

  private func merge(
    _ before: [String: [Comparison.Row]], _ after: [String: [Comparison.Row]], into results: [Result],
    _ comparisons: [Comparison]
  ) -> [Result] {
    let scenarios = Dictionary(comparisons.map { ($0.title, $0.scenario) }) { first, _ in first }
    print("\nbeside programs of their own, before and after:")
    return results.map { result in
      guard let scenario = scenarios[result.title] ?? nil, let rows = before[scenario] else { return result }
      var result = result
      result.rows += PeerPrograms.joined(rows, after[scenario] ?? [])
      result.printTable()
      return result
    }
  }

  private func draw() async throws {
    guard let folder = options.plots else { return }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for plot in try await Growth.plots(rounds: options.isQuick ? 3 : 7, isHuge: options.isHuge) {
      try Data(plot.svg.utf8).write(to: URL(fileURLWithPath: folder + "/" + plot.fileName))
      print("\(folder)/\(plot.fileName)")
    }
  }

  /// A row that seems slower is measured again before it counts: others use the machine too.
  private func check(_ results: [Result], _ comparisons: [Comparison]) async throws -> [String] {
    guard let file = options.check else { return [] }
    let record = try Record(file: file)
    var regressions: [String] = []
    for result in results {
      var found = record.regressions(in: result)
      guard let comparison = comparisons.first(where: { $0.title == result.title }) else { continue }
      for _ in 0..<3 where !found.isEmpty {
        let again = record.regressions(in: Result(title: result.title, rows: try await comparison.run()))
        found = found.filter { again.keys.contains($0.key) }
      }
      regressions += found.values
    }
    return regressions.sorted()
  }
}
