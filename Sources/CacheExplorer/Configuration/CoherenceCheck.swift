import ExplorerCommands

/// Finds shared levels whose changes cannot be heard where copies are held.
///
/// A shared level tells the composition that it is the lower part of, as `CacheBuilder` joins them, and what that is made of: keys
/// must be the same there, one can be told by one, and nobody above it hears anything.
struct CoherenceCheck {
  /// A shared level that tells what others change.
  private struct Teller {
    var level: LevelSpecification
    var isHeard = false
  }

  private let file: String
  private(set) var problems: [ConfigurationProblem] = []
  /// Shared levels that have nobody above to tell.
  private(set) var unheard: [LevelSpecification] = []

  init(_ levels: [LevelSpecification], file: String) {
    self.file = file
    unheard = tellers(in: levels).filter { !$0.isHeard }.map(\.level)
  }

  /// The shared levels among these.
  private mutating func tellers(in levels: [LevelSpecification]) -> [Teller] {
    var tellers: [Teller] = []
    for (place, level) in levels.enumerated() {
      var below = self.tellers(in: level)
      if place > 0 {
        let told = below.filter { !$0.isHeard }.map(\.level)
        if told.count > 1 {
          report(
            told[1],
            "\(told[1].name) and \(told[0].name) cannot both tell \(levels[place - 1].name) what others change")
        }
        if let upper = levels[..<place].flatMap(\.withInner).last(where: { $0.lifetime != nil }) {
          report(below, missedBy: upper, "has copies")
        }
        for teller in below.indices { below[teller].isHeard = true }
      }
      tellers += below
    }
    return tellers
  }

  private mutating func tellers(in level: LevelSpecification) -> [Teller] {
    switch level.kind {
    case .redis(let redis): return redis.isCoherent ? [Teller(level: level)] : []
    case .disk(let disk): return disk.isShared ? [Teller(level: level)] : []
    case .around(.transformKeys, let inner):
      let below = tellers(in: inner)
      for redis in below.filter({ !$0.isHeard }).map(\.level) {
        report(
          redis,
          "\(redis.name) has other keys than the levels above \(level.name), which cannot hear what others change")
      }
      return below.filter(\.isHeard)
    case .around(.negative, let inner):
      let below = tellers(in: inner)
      report(below, missedBy: level, "remembers what is missing")
      return below
    case .stale(_, let holding, let source):
      for redis in tellers(in: source).map(\.level) {
        report(redis, "\(level.name) refreshes from \(redis.name) and does not hear what others change there")
      }
      return tellers(in: holding)
    case .lanes(_, let then, let otherwise): return tellers(in: then) + tellers(in: otherwise)
    default: return tellers(in: level.inner)
    }
  }

  private mutating func report(_ tellers: [Teller], missedBy upper: LevelSpecification, _ what: String) {
    for redis in tellers.filter(\.isHeard).map(\.level) {
      report(
        redis,
        "\(upper.name) \(what) and is not told what others change in \(redis.name), which tells only the list that it is in",
        remedy: "put \(upper.name) into that list, or write coherence: false")
    }
  }

  private mutating func report(_ level: LevelSpecification, _ message: String, remedy: String? = nil) {
    problems.append(
      ConfigurationProblem(
        file: file, place: level.place, message: message,
        remedy: remedy ?? "hold copies right above \(level.name) only, or write coherence: false"))
  }
}
