import ExplorerState

/// Finds shared levels whose changes cannot be heard where copies are held.
///
/// A shared level tells the composition that it is the lower part of, as `CacheBuilder` joins them: keys must be the same there,
/// and one can be told by one.
struct CoherenceCheck {
  private let file: String
  private(set) var problems: [ConfigurationProblem] = []
  /// Shared levels that have nobody above to tell.
  private(set) var unheard: [LevelSpecification] = []

  init(_ levels: [LevelSpecification], file: String) {
    self.file = file
    unheard = tellers(in: levels)
  }

  /// The shared levels among these that somebody above has to hear.
  private mutating func tellers(in levels: [LevelSpecification]) -> [LevelSpecification] {
    var unheard: [LevelSpecification] = []
    for (place, level) in levels.enumerated() {
      let below = tellers(in: level)
      if place == 0 {
        unheard = below
      } else if below.count > 1 {
        report(
          below[1],
          "\(below[1].name) and \(below[0].name) cannot both tell \(levels[place - 1].name) what others change")
      }
    }
    return unheard
  }

  private mutating func tellers(in level: LevelSpecification) -> [LevelSpecification] {
    switch level.kind {
    case .redis(let redis): return redis.isCoherent ? [level] : []
    case .disk(let disk): return disk.isShared ? [level] : []
    case .around(.transformKeys, let inner):
      for redis in tellers(in: inner) {
        report(
          redis,
          "\(redis.name) has other keys than the levels above \(level.name), which cannot hear what others change")
      }
      return []
    case .stale(_, let holding, let source):
      for redis in tellers(in: source) {
        report(redis, "\(level.name) refreshes from \(redis.name) and does not hear what others change there")
      }
      return tellers(in: holding)
    case .lanes(_, let then, let otherwise): return tellers(in: then) + tellers(in: otherwise)
    default: return tellers(in: level.inner)
    }
  }

  private mutating func report(_ level: LevelSpecification, _ message: String) {
    problems.append(
      ConfigurationProblem(
        file: file, place: level.place, message: message,
        remedy: "put a memory right above \(level.name), or write coherence: false"))
  }
}
