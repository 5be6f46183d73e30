import CacheEngine

/// The names of levels, and the reasons for misses, in what an app tells.
///
/// They come from there, and may be without end: those beyond a number of them are one.
struct ToldNames {
  /// More are not told apart.
  static let most = 1_000
  /// What those are called that came too late for a name of their own.
  static let others = "others"

  private var known: Set<String> = []
  /// Whether there are such.
  private(set) var hasOthers = false

  private mutating func told(_ name: String) -> String {
    if known.contains(name) { return name }
    guard known.count < Self.most else {
      hasOthers = true
      return Self.others
    }
    known.insert(name)
    return name
  }

  private mutating func told(_ reason: MissReason) -> MissReason { MissReason(rawValue: told(reason.rawValue)) }

  mutating func told(_ event: CacheEvent) -> CacheEvent {
    var event = event
    event.level = event.level.map { told($0) }
    switch event.kind {
    case .miss(let reason, let latency): event.kind = .miss(told(reason), latency)
    case .requestEnded(let operation, .hit(let level?), let latency):
      event.kind = .requestEnded(operation, .hit(level: told(level)), latency)
    case .requestEnded(let operation, .miss(let reason), let latency):
      event.kind = .requestEnded(operation, .miss(told(reason)), latency)
    default: break
    }
    return event
  }

  mutating func told(_ counts: CacheStatistics.Snapshot) -> CacheStatistics.Snapshot {
    var told = counts
    (told.served, told.levels, told.operators) = ([:], [:], [:])
    for (name, count) in counts.served { told.served[self.told(name), default: 0] &+= count }
    for (name, operation) in counts.operators { told.operators[self.told(name), default: .init()] += operation }
    for (name, var level) in counts.levels {
      let misses = level.misses
      level.misses = [:]
      for (reason, count) in misses { level.misses[self.told(reason), default: 0] &+= count }
      told.levels[self.told(name), default: .init()] += level
    }
    return told
  }
}
