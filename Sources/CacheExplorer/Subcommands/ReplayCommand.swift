#if Explorer
import ArgumentParser
import CacheEngineHitRatio
import ExplorerCommands
import ExplorerState
import ExplorerText

/// `cache-explorer replay CONFIG --trace FILE [--format text|json]`.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Drives a cache with a trace and prints the statistics of every level.",
    discussion: """
      A trace has one request per line: KEY, or KEY, a tab and SIZE; or it is the access log of a web server (common or \
      combined format), JSON with an object on each line, or one of the public cache traces. Lines that begin with # are \
      comments, and the trace may be compressed with gzip, zstd or xz. Requests other than reads are skipped. A missing value \
      is loaded from the configuration's own source; without a source, a value of SIZE bytes (1024 if the trace does not say) \
      is stored, as a client would do. Sizes above 64 MiB in a log count as 64 MiB.
      """)

  @Argument(help: .configuration, completion: .configuration) var config: String
  @Option(help: .taking("file", "The file with the requests; - for standard input."), completion: .file())
  var trace: String
  @Option(
    help: .taking("format", "The format of the trace: \(TraceFormat.names); recognised if not given."),
    completion: .list(TraceFormat.allCases.map(\.rawValue)), transform: TraceFormat.named)
  var traceFormat: TraceFormat?
  @Option(help: "The output format: text, or json with one object per line.") var format = ScriptRunner.Format.text
  @Option(help: .expect) var expect: [String] = []
  @Option(parsing: .unconditional, help: .taking("n", "How many requests to have under way at once, from 1 to 100000."))
  var clients = 1
  @Option(
    parsing: .unconditional,
    help: .taking(
      "factor",
      """
      How fast time passes for the cache, from 0.001 to 1000: 100 waits a hundredth of the time for a simulated origin.
      """))
  var speed = 1.0
  @Flag(help: "Send each request at its time in the trace; --speed shortens the waits.") var timed = false
  @Flag(help: .strict) var strict = false
  @Flag(
    help: "Print each policy's hit ratio at capacities from 1/64 to 8 times the configured one, by full simulation."
  )
  var whatIf = false
  @Option(help: "With --what-if: the level to simulate; by default the first with a capacity.") var level: String?
  @Option(
    help: .taking("file", "With --what-if: write the miss-ratio curves as a picture into this file."),
    completion: .file(extensions: ["svg"]))
  var svg: String?
  @Option(
    help: .taking("file", "With --what-if: write the curves as JSON into this file."),
    completion: .file(extensions: ["json"]))
  var json: String?

  func validate() throws {
    guard whatIf || (svg == nil && json == nil && level == nil) else {
      throw ValidationError("--level, --svg and --json belong to --what-if; add it, or leave them out")
    }
    guard svg != "-", json != "-" else {
      throw ValidationError("--svg and --json write files; name one, or give --format json for standard output")
    }
    if let svg, let json, FoundFile.areSame(svg, json) {
      throw ValidationError("--svg and --json name one file; give each its own")
    }
    for case (let option, let output?) in [("--svg", svg), ("--json", json)]
    where FoundFile.areSame(output, trace) || FoundFile.areSame(output, config) {
      throw ValidationError("\(option) would overwrite \(output), which is read; name another file")
    }
    guard !(whatIf && timed) else {
      throw ValidationError("--what-if asks no clock; leave --timed or --what-if out")
    }
    guard !whatIf || expect.isEmpty else {
      throw ValidationError("--expect judges a run, and --what-if makes none; leave one of them out")
    }
    guard !whatIf || (!strict && clients == 1 && speed == 1) else {
      throw ValidationError("--strict, --clients and --speed are for a run, and --what-if makes none; leave them out")
    }
    guard (1...100_000).contains(clients) else { throw ValidationError("give --clients from 1 to 100000") }
    guard Quantity.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
  }

  func run() async throws {
    let configuration = try Loaded.file(config)
    guard !whatIf else {
      return try await Session.curves(
        of: trace, as: traceFormat, on: configuration, level: level, svg: svg, json: json, format: format)
    }
    try await Session.replay(
      .trace(trace, as: traceFormat, isTimed: timed), drive: .init(clients: clients, speed: speed), on: configuration,
      file: config, format: format, isStrict: strict, expecting: try Loaded.expectations(expect, of: configuration))
  }
}

extension TraceFormat {
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// Understands an argument.
  static func named(_ name: String) throws -> TraceFormat {
    guard let format = TraceFormat(rawValue: name) else {
      throw ValidationError("there is no trace format “\(name)”; give one of \(names)")
    }
    return format
  }
}
#endif
