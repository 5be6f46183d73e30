import CFloor
import CacheEngine
import Floor
import Foundation

@main
struct CacheBenchmarks {
  static func main() async throws {
    // A table is seen when it is measured, into a file as well.
    cfloor_write_lines()
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
    let comparisons = try await comparisons().filter {
      (options.filter.isEmpty || $0.title.contains(options.filter)) && (!options.judges || $0.isInProcessorCaches)
    }
    var results: [Result] = []
    for comparison in comparisons {
      let result = Result(
        title: comparison.title, isSteady: comparison.isInProcessorCaches && !comparison.isByWallClock,
        rows: try await comparison.run())
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
    if options.wants("async"), !options.judges {
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
    if options.wants("memory") { comparisons += try await memoryComparisons() }
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

  private func memoryComparisons() async throws -> [Comparison] {
    let small = scenarios("String", Workload.textKeys(1_000), Workload.textKeys(1_000, prefix: "user:strange:"))
    let fewNumbers = scenarios("Int", Array(0..<1_000), Array(1_000..<2_000))
    guard !options.judges else {
      return try await small.comparisons(threads: 1) + fewNumbers.comparisons(threads: 1)
    }
    let text = scenarios(
      "String", Workload.textKeys(100_000), Workload.textKeys(100_000, prefix: "user:strange:"), hasPeers: true)
    let numbers = scenarios("Int", Array(0..<100_000), Array(100_000..<200_000))
    var comparisons: [Comparison] = []
    for threads in [1, 2] {
      comparisons += try await text.comparisons(threads: threads)
      comparisons += try await numbers.comparisons(threads: threads)
      comparisons += try await small.comparisons(threads: threads)
      comparisons += try await fewNumbers.comparisons(threads: threads)
    }
    return comparisons + (try await OtherProcess.comparisons(rounds: options.rounds))
  }

  private func scenarios<Key>(
    _ keyName: String, _ keys: [Key], _ strangers: [Key], hasPeers: Bool = false
  ) -> MemoryScenarios<Key> {
    MemoryScenarios(
      keyName: keyName, keys: keys, strangers: strangers, rounds: options.rounds,
      operations: options.judges ? 10_000 : 40_000, hasPeers: hasPeers)
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
      result.rows += Comparison.Row.joined(rows, after[scenario] ?? [])
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

  /// A table with a row that seems slower is measured again before it counts: others use the machine too.
  private func check(_ results: [Result], _ comparisons: [Comparison]) async throws -> [String] {
    guard let file = options.check else { return [] }
    let record = try Record(file: file)
    var regressions: [String] = []
    for result in results {
      guard let comparison = comparisons.first(where: { $0.title == result.title }) else { continue }
      var result = result
      for _ in 1..<Record.tries where !record.regressions(in: result).isEmpty {
        result = result.joined(try await comparison.run())
      }
      regressions += record.regressions(in: result)
    }
    return regressions.sorted()
  }
}
