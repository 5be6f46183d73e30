/// An endless stream of requests, the same for the same seed.
struct Workload: Sendable {
  /// One thing to do to the cache.
  enum Step: Equatable, Sendable {
    case get(String)
    case set(String, bytes: Int)
  }

  private enum Pattern: Sendable {
    case uniform
    case zipf(Zipf)
    case scan
    case loop
    case burst
    case mixed(Zipf)
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
  ]

  /// The requests a second that may be asked for: from one in a quarter of an hour up to more than any cache answers.
  static let rates = 0.001...10_000_000

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
  private var generator: SplitMix64
  private var position = 0

  /// - Returns: `nil` if there is no workload of that name.
  init?(_ request: WorkloadRequest) {
    guard let description = Self.descriptions.first(where: { $0.name == request.name }) else { return nil }
    keys = max(1, request.keys ?? description.keys)
    defaultRate = description.rate
    fixedKey = request.key
    generator = SplitMix64(seed: request.seed ?? 1)
    pattern =
      switch request.name {
      case "uniform": .uniform
      case "scan": .scan
      case "loop": .loop
      case "burst": .burst
      case "mixed": .mixed(Zipf(count: keys, skew: 0.99))
      default: .zipf(Zipf(count: keys, skew: 0.99))
      }
  }

  mutating func next() -> Step {
    defer { position += 1 }
    switch pattern {
    case .uniform: return .get(key(Int.random(in: 0..<keys, using: &generator)))
    case .zipf(let zipf): return .get(key(zipf.rank(using: &generator)))
    case .scan: return .get(key(position))
    case .loop: return .get(key(position % keys))
    case .burst: return .get(key(0))
    case .mixed(let zipf):
      let key = key(zipf.rank(using: &generator))
      guard Int.random(in: 0..<20, using: &generator) == 0 else { return .get(key) }
      return .set(key, bytes: Int.random(in: 256...8_192, using: &generator))
    }
  }

  private func key(_ number: Int) -> String { fixedKey ?? "key:\(number)" }
}
