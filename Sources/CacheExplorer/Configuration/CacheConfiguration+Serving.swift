package import ExplorerCommands
import ExplorerText

extension CacheConfiguration {
  /// What of it has no meaning where the responses of an HTTP server are kept.
  ///
  /// `file`: Where it was read.
  package func problemsOfServing(in file: String) -> [ConfigurationProblem] {
    func problem(_ message: String, _ remedy: String, _ place: Place?) -> ConfigurationProblem {
      ConfigurationProblem(file: file, place: place, message: message, remedy: remedy)
    }
    var problems: [ConfigurationProblem] = []
    if workload != nil {
      problems.append(
        problem("clients make the requests of a proxy", "leave “workload” out", workloadOrigins.places[""]))
    }
    if models != nil { problems.append(problem("a proxy keeps no models", "leave “models” out", nil)) }
    for level in allLevels {
      if let (message, remedy) = level.whyNotServed { problems.append(problem(message, remedy, level.place)) }
      if level.name == "http" {
        problems.append(
          problem("“http” is what figures of the proxy itself are called", "give the level another name", level.place))
      }
      if let place = level.origins.places["keepExpired"] {
        problems.append(
          problem(
            "HTTP says how long what has expired may be used", "leave “keepExpired” of \(level.name) out", place))
      }
    }
    guard problems.isEmpty else { return problems }
    guard let room = largestCapacity else {
      return [
        problem(
          "no level keeps anything", "put a level with room first, as in `- memory: { capacity: 64 MiB }`",
          levels.first?.place)
      ]
    }
    guard room >= Self.leastRoom else {
      return [
        problem(
          "no level has room for a response", "give one a capacity of \(Format.bytes(Self.leastRoom)) or more",
          levels.first?.place)
      ]
    }
    return []
  }

  /// A page with its fields.
  private static let leastRoom = 16 << 10

  /// The bytes of the level that has most room for them; `nil` if none keeps anything.
  package var largestCapacity: Int? {
    allLevels.compactMap { level in
      switch level.kind {
      case .memory(let memory): memory.capacity
      case .disk(let disk): disk.capacity
      default: nil
      }
    }.max()
  }
}

extension LevelSpecification {
  /// Why it has no place where responses are kept, and what to do.
  fileprivate var whyNotServed: (message: String, remedy: String)? {
    switch kind {
    case .disk(let disk) where disk.isShared:
      ("another process would lose what this one stores for the same address", "leave “sharing” of \(name) out")
    case .memory, .disk, .empty, .lanes: nil
    case .network, .origin: ("what is missing is asked of --origin, and not of “\(word)”", "leave \(name) out")
    case .redis:
      ("another process would lose what this one stores for the same address", "leave \(name) out")
    case .defaults: ("settings are rewritten whole with every response", "keep responses in memory or on a disk")
    case .stale: ("HTTP says itself which stale answers are allowed", "put the levels of \(name) in its place")
    case .around(let operation, _):
      switch operation {
      case .pooled, .capped, .conditioned, .expiry, .maximumAge, .negative, .timeout, .retry, .breaker: nil
      case .transformKeys:
        ("two addresses with one key would get each other's answers", "put the levels of \(name) in its place")
      case .transformValues, .postProcess:
        ("a response goes out as the server sent it", "put the levels of \(name) in its place")
      case .fallback: ("a text is no response", "put the levels of \(name) in its place")
      }
    }
  }
}
