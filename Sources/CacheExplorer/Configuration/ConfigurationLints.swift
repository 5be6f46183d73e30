/// What a configuration allows but hardly anybody means.
enum ConfigurationLints {
  /// `memory`: How many bytes of memory the machine has, if that is known.
  static func warnings(
    for configuration: CacheConfiguration, file: String, memory: Int? = nil
  ) -> [ConfigurationProblem] {
    lifetimes(configuration, file) + unpooled(configuration.levels, isPooled: false, file)
      + unreachable(configuration, file)
      + memoryBudget(configuration, file, memory)
  }

  /// An upper level that keeps values longer than the one below: the lower one only costs.
  private static func lifetimes(_ configuration: CacheConfiguration, _ file: String) -> [ConfigurationProblem] {
    var found: [ConfigurationProblem] = []
    let storing = configuration.allLevels.filter { $0.lifetime != nil }
    for (upper, lower) in zip(storing, storing.dropFirst()) {
      guard let below = lower.lifetime ?? nil else { continue }
      if let above = upper.lifetime ?? nil, above <= below { continue }
      found.append(
        warning(
          "\(upper.name) keeps values longer than \(lower.name) below it",
          "give \(upper.name) the shorter lifetime", upper, file))
    }
    return found
  }

  /// A slow level that every caller asks for itself.
  private static func unpooled(
    _ levels: [LevelSpecification], isPooled: Bool, _ file: String
  ) -> [ConfigurationProblem] {
    levels.flatMap { level -> [ConfigurationProblem] in
      switch level.kind {
      case .pooled(let inner): unpooled(inner, isPooled: true, file)
      case .network, .origin:
        isPooled
          ? []
          : [
            warning(
              "\(level.name) is slow and not pooled: simultaneous readers of one key each ask it",
              "write pooled: { \(level.word): { … } }", level, file)
          ]
      default: []
      }
    }
  }

  /// What stands below a level that always has a value or an error.
  private static func unreachable(_ configuration: CacheConfiguration, _ file: String) -> [ConfigurationProblem] {
    let leaves = configuration.allLevels.filter { $0.inner.isEmpty }
    guard let last = leaves.firstIndex(where: { $0.isSource }), last + 1 < leaves.count else { return [] }
    return leaves[(last + 1)...].map { level in
      warning(
        "\(level.name) stands below \(leaves[last].name) and is asked only when that fails",
        "put it above \(leaves[last].name)", level, file)
    }
  }

  private static func memoryBudget(
    _ configuration: CacheConfiguration, _ file: String, _ memory: Int?
  ) -> [ConfigurationProblem] {
    guard let memory else { return [] }
    return configuration.allLevels.compactMap { level in
      guard case .memory(let specification) = level.kind, specification.capacity > memory / 2 else { return nil }
      return warning(
        "\(level.name) may take more than half of this machine's memory", "give it a smaller capacity", level, file)
    }
  }

  private static func warning(
    _ message: String, _ remedy: String, _ level: LevelSpecification, _ file: String
  ) -> ConfigurationProblem {
    ConfigurationProblem(severity: .warning, file: file, place: level.place, message: message, remedy: remedy)
  }
}

extension LevelSpecification {
  /// A level that asks somebody else and holds nothing.
  var isSource: Bool {
    switch kind {
    case .network, .origin: true
    default: false
    }
  }
}
