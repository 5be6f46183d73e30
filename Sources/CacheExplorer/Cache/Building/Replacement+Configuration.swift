import CacheEngine
package import ExplorerConfiguration
import ExplorerState
import ExplorerText

extension Replacement {
  /// What a configuration puts into the picture.
  ///
  /// `file`: Where it was read.
  /// `isFile`: It can be read there again.
  package init(_ configuration: CacheConfiguration, file: String, isFile: Bool = true) {
    var rows = ChainRows()
    let chain = configuration.levels.map { rows.part($0) }
    self.init(
      title: configuration.name, levels: rows.levels, operators: rows.operators, chain: chain,
      config: ConfigSheet(configuration, file: file, isFile: isFile))
  }
}

/// Numbers the levels and operators of a configuration, outer operators first.
private struct ChainRows {
  var levels: [LevelRow] = []
  var operators: [OperatorRow] = []

  mutating func part(_ level: LevelSpecification) -> ChainPart {
    switch level.kind {
    case .memory(let memory): memoryRow(level, memory)
    case .disk(let disk): row(level, Format.bytes(disk.capacity), keeps: disk.keepsExpired > .zero)
    case .defaults: row(level, "settings")
    case .redis(let redis): redisRow(level, redis)
    case .network: row(level, "network")
    case .origin: row(level, "simulated")
    case .empty: row(level, "nothing")
    case .around(let operation, let inner): around(level, operation, inner)
    case .lanes(let condition, let then, let otherwise): lanes(level, condition, then, otherwise)
    case .stale(let stale, let holding, let source): self.stale(level, stale, holding, source)
    }
  }

  private mutating func memoryRow(_ level: LevelSpecification, _ memory: MemorySpecification) -> ChainPart {
    let policy = memory.eviction.name.uppercased()
    return row(level, "\(policy) \(Format.bytes(memory.capacity))", keeps: memory.keepsExpired > .zero)
  }

  private mutating func redisRow(_ level: LevelSpecification, _ redis: RedisSpecification) -> ChainPart {
    defer {
      var status = SharedStatus()
      // Nothing is heard before there is a connection.
      (status.isAsked, status.deafFor) = (redis.isCoherent, redis.isCoherent ? .zero : nil)
      levels[levels.count - 1].shared = status
    }
    return row(level, redis.namespace, keeps: redis.keepsExpired > .zero)
  }

  private mutating func row(_ level: LevelSpecification, _ capacity: String, keeps: Bool = false) -> ChainPart {
    levels.append(
      LevelRow(
        name: level.name, kind: level.word, capacity: capacity, isOrigin: level.isSource, keepsExpired: keeps))
    return .level(levels.count - 1)
  }

  private mutating func note(_ operation: OperatorRow) -> Int {
    operators.append(operation)
    return operators.count - 1
  }

  private mutating func around(
    _ level: LevelSpecification, _ operation: OperatorSpecification, _ inner: [LevelSpecification]
  ) -> ChainPart {
    var row = OperatorRow(name: level.name, kind: level.word, setting: operation.setting)
    switch operation {
    case .capped(let limit): row.limit = limit
    case .breaker(let breaker): row.reset = breaker.reset
    default: break
    }
    let index = note(row)
    return .around(index, inner.map { part($0) })
  }

  private mutating func lanes(
    _ level: LevelSpecification, _ condition: KeyCondition, _ then: [LevelSpecification],
    _ otherwise: [LevelSpecification]
  ) -> ChainPart {
    let index = note(OperatorRow(name: level.name, kind: level.word, setting: condition.text))
    let upper = then.map { part($0) }
    return .lanes(index, then: upper, otherwise: otherwise.map { part($0) })
  }

  private mutating func stale(
    _ level: LevelSpecification, _ stale: StaleSpecification, _ holding: [LevelSpecification],
    _ source: [LevelSpecification]
  ) -> ChainPart {
    let index = note(OperatorRow(name: level.name, kind: level.word, setting: stale.setting))
    let upper = holding.map { part($0) }
    return .stale(index, level: upper, from: source.map { part($0) })
  }
}

extension OperatorSpecification {
  /// What the operator was told, in a few words.
  package var setting: String {
    switch self {
    case .pooled: ""
    case .capped(let limit): "\(limit)"
    case .conditioned(let condition): condition.text
    case .transformKeys(let steps): steps.map(\.text).joined(separator: " › ")
    case .transformValues(let steps, let condition), .postProcess(let steps, let condition):
      steps.map(\.text).joined(separator: " › ") + (condition.map { " if \($0.text)" } ?? "")
    case .expiry(let lifetime, let jitter):
      "after \(Quantity.text(lifetime))" + (jitter > 0 ? ", up to \(Quantity.percent(jitter)) less" : "")
    case .maximumAge(let age): "no older than \(Quantity.text(age))"
    case .negative(let negative): "for \(Quantity.text(negative.lifetime))"
    case .timeout(let limit): "\(Quantity.text(limit))"
    case .retry(let retry): "×\(retry.attempts)"
    case .breaker(let breaker): "at \(breaker.failures)"
    case .fallback: ""
    }
  }
}

extension StaleSpecification {
  package var setting: String {
    let parts = [
      whileRevalidate.map { "for \(Quantity.text($0))" }, ifError.map { "if error \(Quantity.text($0))" },
      refreshAhead.map { "ahead \(Quantity.text($0))" }, ifSlow.map { "if slow \(Quantity.text($0))" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}

extension ConfigSheet {
  package init(_ configuration: CacheConfiguration, file: String, isFile: Bool = true) {
    self.init()
    self.file = file
    if !isFile { isFixed = true }
    settings = configuration.settings
    warnings = configuration.warnings
  }
}
