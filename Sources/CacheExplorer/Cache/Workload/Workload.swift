package import CacheEngineHitRatio
import CacheEngine
import CacheEngineTesting
package import ExplorerCommands
import ExplorerState

/// A stream of requests, the same for the same seed; endless but for a trace.
package struct Workload: Sendable {
  /// One thing to do to the cache.
  package enum Step: Equatable, Sendable {
    case get(String)
    case set(String, bytes: Int)
    /// A get of a value that has so many bytes, which the client stores if no level had it or could fetch it.
    ///
    /// `time`: When it is due, from the first one on; `nil` for at the rate of the others.
    case load(String, bytes: Int?, time: Duration? = nil)
  }

  private enum Pattern: Sendable {
    case uniform
    case zipf(Zipf)
    case scan
    case loop
    case burst
    case mixed(Zipf)
    case trace(TraceReader)
  }

  /// Requests a second, if nobody asks for another rate.
  package let defaultRate: Double
  /// The requests come all at once, not one after the other.
  var isHerd: Bool { if case .burst = pattern { true } else { false } }

  /// How many requests of a trace were passed over because they are no reads.
  package var skipped: Int { if case .trace(let reader) = pattern { reader.skipped } else { 0 } }

  /// How a trace is written; `nil` until its first request was read.
  package var format: TraceFormat? { if case .trace(let reader) = pattern { reader.format } else { nil } }

  private let pattern: Pattern
  private let keys: Int
  private let fixedKey: String?
  private var generator: SeededGenerator
  private var position = 0
  /// When the first request of a trace came.
  private var firstTime: Duration?

  /// - Throws: ``CommandFailure`` if there is no workload of that name; ``TraceProblem`` if its file cannot be read.
  package init(_ request: WorkloadRequest) throws {
    guard let description = WorkloadTable.named(request.name) else {
      throw CommandFailure(message: "there is no workload “\(request.name)”")
    }
    keys = max(1, request.keys ?? description.keys)
    defaultRate = description.rate
    fixedKey = request.key
    generator = SeededGenerator(seed: request.seed ?? 1)
    let skew = request.skew ?? WorkloadTable.usualSkew
    pattern =
      switch request.name {
      case "uniform": .uniform
      case "scan": .scan
      case "loop": .loop
      case "burst": .burst
      case "mixed": .mixed(Zipf(count: keys, skew: skew))
      case "trace": .trace(try Self.trace(request))
      default: .zipf(Zipf(count: keys, skew: skew))
      }
  }

  private static func trace(_ request: WorkloadRequest) throws -> TraceReader {
    guard let file = request.file else {
      throw CommandFailure(message: "the workload trace needs a file; write run trace --file FILE")
    }
    return try TraceReader(path: file, format: request.traceFormat, isTimed: request.isTimed)
  }

  /// Gives the next request; `nil` at the end of a trace.
  ///
  /// - Throws: ``TraceProblem`` if the trace cannot be read any further.
  package mutating func next() throws(TraceProblem) -> Step? {
    defer { position += 1 }
    switch pattern {
    case .uniform: return .get(key(Int.random(in: 0..<keys, using: &generator)))
    case .zipf(let zipf): return .get(key(zipf.rank(using: &generator)))
    case .scan: return .get(key(position))
    case .loop: return .get(key(position % keys))
    case .burst: return .get(key(0))
    case .trace(let reader):
      guard let request = try reader.next() else { return nil }
      let time = request.time.map { time in
        firstTime = firstTime ?? time
        return time - (firstTime ?? time)
      }
      return .load(request.key, bytes: request.size, time: time)
    case .mixed(let zipf):
      let key = key(zipf.rank(using: &generator))
      guard Int.random(in: 0..<20, using: &generator) == 0 else { return .get(key) }
      return .set(key, bytes: Int.random(in: 256...8_192, using: &generator))
    }
  }

  private func key(_ number: Int) -> String { fixedKey ?? "key:\(number)" }
}
