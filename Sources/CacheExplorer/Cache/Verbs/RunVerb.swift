import CacheEngine
package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct RunVerb: Verb {
  package static let syntax = VerbSyntax(
    "run WORKLOAD [--rate N|max] [--requests N] [--seed S] [--keys N] [--key K] [--skew X] [--file F]",
    "run a workload", [.choice(WorkloadTable.names)],
    [
      VerbSyntax.Option("--rate", "N|max"), VerbSyntax.Option("--requests", "N"), VerbSyntax.Option("--seed", "S"),
      VerbSyntax.Option("--keys", "N"), VerbSyntax.Option("--key", "K", .key), VerbSyntax.Option("--skew", "X"),
      VerbSyntax.Option("--file", "F", .file),
    ], details: WorkloadTable.all.map { "\n  \($0.name): \($0.line)" }.joined())

  package var workload: WorkloadRequest

  package init(_ workload: WorkloadRequest) { self.workload = workload }

  package init(_ words: ParsedWords) throws(CommandError) {
    let name = try words.choice(words.arguments[0], among: WorkloadTable.names, "workload")
    for option in WorkloadTable.ownOptions {
      _ = try words.read("--\(option)") { (_) throws(QuantityError) in try WorkloadTable.check(option, of: name) }
    }
    let file = words.text("--file")
    if name == "trace", file == nil { throw words.missing("run trace needs a file", "write run trace --file FILE") }
    workload = WorkloadRequest(
      name: name, rate: try words.read("--rate", WorkloadTable.rate),
      requests: try words.number("--requests", in: 1...1_000_000_000), seed: try words.seed(),
      keys: try words.number("--keys", in: 1...10_000_000), key: words.text("--key"),
      skew: try words.read("--skew", WorkloadTable.skew), file: file)
  }

  package var touched: Touched { workload.name == "mixed" ? .contents : .requests }

  /// Of these alone, a cache without a source answers none for ever.
  private func warning(_ live: LiveCache) -> String {
    let stores = workload.name == "mixed" || workload.file != nil
    let answers = live.hasSource || live.operators.contains { $0.kind == "fallback" }
    return answers || stores ? "" : "; it only reads, and no level makes what is missing"
  }

  package func run(in session: Interpreter) async -> CommandResult {
    let stream: Workload
    do { stream = try Workload(workload) } catch { return failure(error) }
    switch session.mode {
    case .interactive:
      let rate = workload.rate ?? stream.defaultRate
      do { try session.start(stream, workload, rate: rate) } catch { return failure(error) }
      let pace = rate.isFinite ? "at \(Format.number(rate)) requests a second" : "as fast as it can"
      return answer("\(workload.name) runs \(pace); “stop” ends it\(warning(session.live))")
    case .script:
      let began = session.live.clock.now
      let report = await session.play(stream, workload)
      if let problem = report.problem { return failure(problem) }
      let made = Format.counted(report.requests, "request", isGrouped: false)
      var result = answer("\(made), \(report.failures) failed")
      result.microseconds = Double(began.duration(to: session.live.clock.now).clampedNanoseconds) / 1_000
      return result
    }
  }
}
