import CacheEngineTesting
import CacheEngine
import CacheEngineHitRatio

/// A stream of requests, the same for the same seed; endless but for a trace.
struct Workload: Sendable {
  /// One thing to do to the cache.
  enum Step: Equatable, Sendable {
    case get(String)
    case set(String, bytes: Int)
    /// A get of a value that has so many bytes, which the client stores if no level had it or could fetch it.
    case load(String, bytes: Int?)
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

  private struct Description: Sendable {
    let name: String
    let line: String
    /// Requests a second.
    let rate: Double
    let keys: Int
  }

  private static let descriptions = [
    Description(name: "zipf", line: "a few keys are asked for often, most seldom (skew 0.99)", rate: 20, keys: 1_000),
    Description(name: "uniform", line: "every key is as likely as any other", rate: 20, keys: 1_000),
    Description(name: "scan", line: "every key once, in order, and never again", rate: 50, keys: 1_000_000),
    Description(name: "loop", line: "all keys in order, round and round", rate: 50, keys: 500),
    Description(name: "burst", line: "everybody wants one key at the same time", rate: 100, keys: 1),
    Description(name: "mixed", line: "zipf, and every twentieth request is a set", rate: 20, keys: 1_000),
    Description(name: "trace", line: "the requests of a file, given with --file", rate: 50, keys: 1),
  ]

  /// The requests a second that may be asked for: from one in a quarter of an hour up to more than any cache answers.
  static let rates = 0.001...10_000_000

  /// Stands for a rate: as fast as the cache answers.
  static let fastest = "max"

  /// How much more often the first keys of a Zipf distribution are asked for, if nobody says otherwise.
  private static let skew = 0.99

  /// Requests a second, or `max` for infinitely many.
  static func rate(_ text: String) throws(QuantityError) -> Double {
    if text == fastest { return .infinity }
    guard let rate = Double(text), rates.contains(rate) else {
      throw QuantityError("“\(text)” is not a rate", "write requests a second, such as 100, or \(fastest)")
    }
    return rate
  }

  /// The exponent of a Zipf distribution.
  static func skew(_ text: String) throws(QuantityError) -> Double {
    guard let skew = Double(text), (0...10).contains(skew) else {
      throw QuantityError("“\(text)” is not a skew", "write a number from 0 (uniform) to 10, such as 0.99")
    }
    return skew
  }

  /// How many keys a workload asks for again and again; `nil` where it never comes back to one, or a file tells.
  static func keys(of request: WorkloadRequest) -> Int? {
    guard !["scan", "trace"].contains(request.name) else { return nil }
    return request.keys ?? descriptions.first { $0.name == request.name }?.keys
  }

  static var names: [String] { descriptions.map(\.name) }

  /// One line for each workload, for `help run`.
  static var lines: [(name: String, line: String)] { descriptions.map { ($0.name, $0.line) } }

  /// Requests a second, if nobody asks for another rate.
  let defaultRate: Double
  /// The requests come all at once, not one after the other.
  var isHerd: Bool { if case .burst = pattern { true } else { false } }

  private let pattern: Pattern
  private let keys: Int
  private let fixedKey: String?
  private var generator: SeededGenerator
  private var position = 0

  /// - Throws: ``CommandFailure`` if there is no workload of that name; ``TraceProblem`` if its file cannot be read.
  init(_ request: WorkloadRequest) throws {
    guard let description = Self.descriptions.first(where: { $0.name == request.name }) else {
      throw CommandFailure(message: "there is no workload “\(request.name)”")
    }
    keys = max(1, request.keys ?? description.keys)
    defaultRate = description.rate
    fixedKey = request.key
    generator = SeededGenerator(seed: request.seed ?? 1)
    let skew = request.skew ?? Self.skew
    pattern =
      switch request.name {
      case "uniform": .uniform
      case "scan": .scan
      case "loop": .loop
      case "burst": .burst
      case "mixed": .mixed(Zipf(count: keys, skew: skew))
      case "trace": .trace(try Self.trace(request.file))
      default: .zipf(Zipf(count: keys, skew: skew))
      }
  }

  private static func trace(_ file: String?) throws -> TraceReader {
    guard let file else {
      throw CommandFailure(message: "the workload trace needs a file; write run trace --file FILE")
    }
    return try TraceReader(path: file)
  }

  /// Gives the next request; `nil` at the end of a trace.
  ///
  /// - Throws: ``TraceProblem`` if the trace cannot be read any further.
  mutating func next() throws(TraceProblem) -> Step? {
    defer { position += 1 }
    switch pattern {
    case .uniform: return .get(key(Int.random(in: 0..<keys, using: &generator)))
    case .zipf(let zipf): return .get(key(zipf.rank(using: &generator)))
    case .scan: return .get(key(position))
    case .loop: return .get(key(position % keys))
    case .burst: return .get(key(0))
    case .trace(let reader):
      return try reader.next().map { .load($0.key, bytes: $0.size) }
    case .mixed(let zipf):
      let key = key(zipf.rank(using: &generator))
      guard Int.random(in: 0..<20, using: &generator) == 0 else { return .get(key) }
      return .set(key, bytes: Int.random(in: 256...8_192, using: &generator))
    }
  }

  private func key(_ number: Int) -> String { fixedKey ?? "key:\(number)" }
}
