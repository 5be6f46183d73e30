import ExplorerCommands
import ExplorerText

/// What a configuration allows but hardly anybody means.
enum ConfigurationLints {
  /// `memory`: How many bytes of memory the machine has, if that is known.
  static func warnings(
    for configuration: CacheConfiguration, file: String, memory: Int? = nil
  ) -> [ConfigurationProblem] {
    var lints = Lints(file: file)
    lints.lifetimes(configuration.levels, above: [], shortened: nil)
    lints.unpooled(configuration.levels, isPooled: false)
    lints.unreachable(configuration.levels, below: nil)
    lints.conditions(configuration.levels, known: [])
    for level in configuration.allLevels { lints.operators(level) }
    lints.shared(configuration.levels, unheard: CoherenceCheck(configuration.levels, file: file).unheard)
    return lints.found + workingSet(configuration, file) + memoryBudget(configuration, file, memory)
  }

  /// A disk level on which what the workload asks for has no room.
  private static func workingSet(_ configuration: CacheConfiguration, _ file: String) -> [ConfigurationProblem] {
    guard let workload = configuration.workload, workload.key == nil, let keys = WorkloadTable.keys(of: workload) else {
      return []
    }
    let sizes = configuration.allLevels.compactMap { level -> Int? in
      guard case .origin(let origin) = level.kind else { return nil }
      return origin.size.lowerBound / 2 + origin.size.upperBound / 2
    }
    guard let size = sizes.max() else { return [] }
    let (needed, isTooMuch) = keys.multipliedReportingOverflow(by: size)
    return configuration.allLevels.compactMap { level in
      guard case .disk(let disk) = level.kind, isTooMuch || needed > disk.capacity else { return nil }
      let wanted = isTooMuch ? "more than can be counted" : Format.bytes(needed)
      return Lints.warning(
        "\(level.name) has room for \(Format.bytes(disk.capacity)), and the workload's \(keys) keys need about \(wanted)",
        "give it a larger capacity, or the workload fewer keys", level, file)
    }
  }

  private static func memoryBudget(
    _ configuration: CacheConfiguration, _ file: String, _ memory: Int?
  ) -> [ConfigurationProblem] {
    guard let memory else { return [] }
    return configuration.allLevels.compactMap { level in
      guard case .memory(let specification) = level.kind, specification.capacity > memory / 2 else { return nil }
      return Lints.warning(
        "\(level.name) may take more than half of this machine's memory", "give it a smaller capacity", level, file)
    }
  }
}

/// Goes through the levels and notes what it finds.
struct Lints {
  let file: String
  private(set) var found: [ConfigurationProblem] = []

  init(file: String) { self.file = file }

  mutating func warn(_ message: String, _ remedy: String, _ level: LevelSpecification) {
    found.append(Self.warning(message, remedy, level, file))
  }

  static func warning(
    _ message: String, _ remedy: String, _ level: LevelSpecification, _ file: String
  ) -> ConfigurationProblem {
    ConfigurationProblem(severity: .warning, file: file, place: level.place, message: message, remedy: remedy)
  }

  /// An upper level that keeps values longer than the one below: the lower one only costs.
  ///
  /// `above`: The nearest levels above that store, one for each lane.
  /// `shortened`: The lifetime that an operator around allows.
  @discardableResult
  mutating func lifetimes(
    _ levels: [LevelSpecification], above: [(LevelSpecification, Duration?)], shortened: Duration?
  ) -> [(LevelSpecification, Duration?)] {
    var above = above
    for level in levels {
      switch level.kind {
      case .around(.expiry(let lifetime, _), let inner), .around(.maximumAge(let lifetime), let inner):
        above = lifetimes(inner, above: above, shortened: shortest(lifetime, shortened))
      case .lanes(_, let then, let otherwise):
        let ends = [then, otherwise].map { lifetimes($0, above: above, shortened: shortened) }
        above = ends[0] + ends[1].filter { end in !ends[0].contains { $0.0.name == end.0.name } }
      case _ where !level.inner.isEmpty: above = lifetimes(level.inner, above: above, shortened: shortened)
      default:
        guard let lifetime = level.lifetime else { continue }
        let below = shortest(lifetime, shortened)
        for (upper, kept) in above {
          guard let below, kept ?? .seconds(Int64.max) > below else { continue }
          warn(
            "\(upper.name) keeps values longer than \(level.name) below it",
            "give \(upper.name) the shorter lifetime", upper)
        }
        above = [(level, below)]
      }
    }
    return above
  }

  private func shortest(_ left: Duration?, _ right: Duration?) -> Duration? {
    [left, right].compactMap(\.self).min()
  }

  /// A slow level that every caller asks for itself.
  mutating func unpooled(_ levels: [LevelSpecification], isPooled: Bool) {
    for level in levels {
      switch level.kind {
      case .around(.pooled, let inner): unpooled(inner, isPooled: true)
      // A source that answers at once costs no reader anything.
      case .origin(let origin) where origin.latency.upperBound == .zero: continue
      case .network, .origin:
        guard !isPooled else { continue }
        warn(
          "\(level.name) is slow and not pooled: simultaneous readers of one key each ask it",
          "write pooled: { \(level.word): { … } }", level)
      default: unpooled(level.inner, isPooled: isPooled)
      }
    }
  }

  /// What stands below a level that always has a value or an error.
  ///
  /// Returns that level.
  @discardableResult
  mutating func unreachable(_ levels: [LevelSpecification], below source: LevelSpecification?) -> LevelSpecification? {
    var source = source
    for level in levels {
      switch level.kind {
      case .lanes(_, let then, let otherwise):
        let ends = [then, otherwise].map { unreachable($0, below: source) }
        source = ends[0] == nil || ends[1] == nil ? source : ends[0]
      case .around(.conditioned, let inner):
        // The keys that are refused go on.
        unreachable(inner, below: source)
      case _ where !level.inner.isEmpty: source = unreachable(level.inner, below: source)
      default:
        if let source {
          warn(
            "\(level.name) stands below \(source.name) and is asked only when that fails",
            "put it above \(source.name)", level)
        } else if level.isSource {
          source = level
        }
      }
    }
    return source
  }
}

extension LevelSpecification {
  /// A level that may be slow, or not there: it is reached over a network.
  package var isRemote: Bool { if case .redis = kind { true } else { isSource } }

  /// A level that asks somebody else and holds nothing.
  package var isSource: Bool {
    switch kind {
    case .network, .origin: true
    default: false
    }
  }
}
