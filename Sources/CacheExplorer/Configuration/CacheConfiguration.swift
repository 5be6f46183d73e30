/// A cache as a file describes it, checked and complete.
struct CacheConfiguration: Equatable, Sendable {
  var name: String
  /// From the top.
  var levels: [LevelSpecification]
  /// What `open` runs if nothing else is asked for.
  var workload: WorkloadRequest?
  /// The least severe log level to show.
  var logLevel: String?
  /// What is allowed, but probably not meant.
  var warnings: [ConfigurationProblem] = []

  /// Every level and operator, outer ones before what they hold.
  var allLevels: [LevelSpecification] { levels.flatMap(\.withInner) }
}

/// One level or operator of a configuration.
struct LevelSpecification: Equatable, Sendable {
  indirect enum Kind: Equatable, Sendable {
    case memory(MemorySpecification)
    case disk(DiskSpecification)
    case network(NetworkSpecification)
    case origin(OriginSpecification)
    /// Simultaneous readers share one load of what is inside.
    case pooled([LevelSpecification])
  }

  /// What commands, the screen and the JSON call it; unique in the configuration.
  var name: String
  var kind: Kind
  var place: Place

  /// The word for the kind in the file.
  var word: String {
    switch kind {
    case .memory: "memory"
    case .disk: "disk"
    case .network: "network"
    case .origin: "origin"
    case .pooled: "pooled"
    }
  }

  /// The levels that an operator holds.
  var inner: [LevelSpecification] {
    if case .pooled(let levels) = kind { return levels }
    return []
  }

  var withInner: [LevelSpecification] { [self] + inner.flatMap(\.withInner) }

  /// How long what it stores lives, if that is limited; outer `nil` where nothing is stored.
  var lifetime: Duration?? {
    switch kind {
    case .memory(let memory): .some(memory.lifetime)
    case .disk(let disk): .some(disk.lifetime)
    default: nil
    }
  }
}

/// `memory: { capacity: 2 MiB, count: 1000, policy: lru, expiry: 30s }`.
struct MemorySpecification: Equatable, Sendable {
  /// In bytes.
  var capacity = 50 << 20
  var countLimit: Int?
  var lifetime: Duration?
}

/// `disk: { directory: ./cache, capacity: 20 MiB, expiry: 10m }`.
struct DiskSpecification: Equatable, Sendable {
  /// Absolute.
  var directory: String
  /// In bytes.
  var capacity = 256 << 20
  var lifetime: Duration?
}

/// `network: { url: "http://host/{key}", timeout: 5s }`.
struct NetworkSpecification: Equatable, Sendable {
  /// With `{key}` or `{+key}` where the key goes.
  var template: String
  var timeout = Duration.seconds(30)
}

/// `origin: { latency: 40ms..200ms, failures: 1%, size: 4 KiB, seed: 7 }`.
struct OriginSpecification: Equatable, Sendable {
  var latency = Duration.milliseconds(40)...Duration.milliseconds(200)
  /// A probability from 0 to 1.
  var failures = 0.0
  /// A probability from 0 to 1.
  var missing = 0.0
  /// In bytes.
  var size = 4_096...4_096
  var seed: UInt64 = 0
}
