package import CacheEngine
package import ExplorerCommands

/// A cache as a file describes it, checked and complete.
package struct CacheConfiguration: Equatable, Sendable {
  package var name: String
  /// From the top.
  package var levels: [LevelSpecification]
  /// What `open` runs if nothing else is asked for.
  package var workload: WorkloadRequest?
  /// Where its fields stand, and under "" it itself.
  var workloadOrigins = FieldOrigins()
  /// The least severe log level to show.
  package var logLevel: String?
  /// A store of models to look into.
  package var models: ModelsSpecification?
  /// What is allowed, but probably not meant.
  package var warnings: [ConfigurationProblem] = []

  /// Every level and operator, outer ones before what they hold.
  package var allLevels: [LevelSpecification] { levels.flatMap(\.withInner) }
}

/// `models: { directory: ./models, prefix: "models/" }` or `models: demo`.
package enum ModelsSpecification: Equatable, Sendable {
  /// What a `ModelArchive` keeps in a disk level.
  case archive(directory: String, prefix: String)
  /// A live `ModelCache` with observers and a small workload.
  case demo
}

/// One level or operator of a configuration.
package struct LevelSpecification: Equatable, Sendable {
  package indirect enum Kind: Equatable, Sendable {
    case memory(MemorySpecification)
    case disk(DiskSpecification)
    case defaults(DefaultsSpecification)
    case redis(RedisSpecification)
    case network(NetworkSpecification)
    case origin(OriginSpecification)
    /// Holds nothing, as the end of a lane.
    case empty
    /// An operator around levels.
    case around(OperatorSpecification, [LevelSpecification])
    /// Keys that meet the condition take one way, all others the other.
    case lanes(KeyCondition, then: [LevelSpecification], otherwise: [LevelSpecification])
    /// What holds, and the source that it is refreshed from.
    case stale(StaleSpecification, level: [LevelSpecification], from: [LevelSpecification])
  }

  /// What commands, the screen and the JSON call it; unique in the configuration.
  package var name: String
  package var kind: Kind
  package var place: Place
  var origins = FieldOrigins()

  /// The word for the kind in the file.
  package var word: String {
    switch kind {
    case .memory: "memory"
    case .disk: "disk"
    case .defaults: "defaults"
    case .redis: "redis"
    case .network: "network"
    case .origin: "origin"
    case .empty: "empty"
    case .around(let operation, _): operation.word
    case .lanes: "lanes"
    case .stale: "stale"
    }
  }

  /// The levels that an operator holds.
  package var inner: [LevelSpecification] {
    switch kind {
    case .around(_, let levels): levels
    case .lanes(_, let then, let otherwise): then + otherwise
    case .stale(_, let level, let from): level + from
    case .memory, .disk, .defaults, .redis, .network, .origin, .empty: []
    }
  }

  var withInner: [LevelSpecification] { [self] + inner.flatMap(\.withInner) }

  /// How long what it stores lives, if that is limited; outer `nil` where nothing is stored.
  package var lifetime: Duration?? {
    switch kind {
    case .memory(let memory): .some(memory.lifetime)
    case .disk(let disk): .some(disk.lifetime)
    case .defaults(let defaults): .some(defaults.lifetime)
    case .redis(let redis): .some(redis.lifetime)
    default: nil
    }
  }

  /// The share of that lifetime that may be missing, evenly spread.
  package var jitter: Double {
    switch kind {
    case .memory(let memory): memory.jitter
    case .disk(let disk): disk.jitter
    case .defaults(let defaults): defaults.jitter
    case .redis(let redis): redis.jitter
    default: 0
    }
  }

  /// How long expired entries stay readable; `nil` where nothing is stored.
  package var keepsExpired: Duration? {
    switch kind {
    case .memory(let memory): memory.keepsExpired
    case .disk(let disk): disk.keepsExpired
    case .defaults: .zero
    case .redis(let redis): redis.keepsExpired
    default: nil
    }
  }
}

/// `memory: { capacity: 2 MiB, count: 1000, policy: lru, expiry: 30s, keepExpired: 10m, timeToIdle: 20s }`.
///
/// Wherever `expiry` stands, `{ after: 30s, jitter: 20% }` spreads it.
package struct MemorySpecification: Equatable, Sendable {
  /// In bytes.
  package var capacity = 50 << 20
  package var countLimit: Int?
  package var eviction = Eviction.adaptive
  package var lifetime: Duration?
  /// The share of the lifetime that may be missing, evenly spread.
  package var jitter = 0.0
  /// How long an expired entry stays readable for stale answers.
  package var keepsExpired = Duration.zero
  /// How long an entry may go unread.
  package var timeToIdle: Duration?
}

/// `disk: { directory: ./cache, capacity: 20 MiB, expiry: 10m, keepExpired: 1h, durability: synced, sharing: acrossProcesses }`.
package struct DiskSpecification: Equatable, Sendable {
  /// Absolute.
  package var directory: String
  /// In bytes.
  package var capacity = 256 << 20
  package var lifetime: Duration?
  /// The share of the lifetime that may be missing, evenly spread.
  package var jitter = 0.0
  /// How long an expired entry stays readable for stale answers.
  package var keepsExpired = Duration.zero
  package var durability = Durability.buffered
  /// Other processes write to the directory as well, and levels above hear what they change.
  package var isShared = false
}

/// `defaults: { domain: name, directory: ./settings, expiry: 1h, durability: synced }`.
package struct DefaultsSpecification: Equatable, Sendable {
  package var domain: String
  /// Absolute; `nil` for where the system keeps settings.
  package var directory: String?
  package var lifetime: Duration?
  /// The share of the lifetime that may be missing, evenly spread.
  package var jitter = 0.0
  package var durability = Durability.buffered
}

/// `redis: { url: "redis://localhost", namespace: photos, timeout: 1s, connectTimeout: 1s, coherence: true, whileDeaf: 5s }`.
package struct RedisSpecification: Equatable, Sendable {
  /// With user and password.
  package var url: String
  /// Without them.
  var address: String
  /// The file with the authorities that sign servers' certificates, absolute; `nil` for those that the system trusts.
  package var authorities: String?
  package var namespace: String
  package var lifetime: Duration?
  /// The share of the lifetime that may be missing, evenly spread.
  package var jitter = 0.0
  /// How long an expired entry stays readable for stale answers.
  package var keepsExpired = Duration.zero
  /// After what time Redis forgets an entry that never expires.
  package var longestLife = Duration.seconds(30 * 86_400)
  /// For how long an answer may take.
  package var timeout = Duration.seconds(1)
  package var connectTimeout = Duration.seconds(1)
  /// The levels above forget what other processes change.
  package var isCoherent = true
  /// For how long the levels above are served while nothing is heard.
  package var whileDeaf = Duration.seconds(5)

  /// What names the entries among all that there are.
  var place: String { "\(address) \(namespace)" }

  /// The same for entries of their own, which do not stay.
  package func apart(as run: String) -> RedisSpecification {
    var copy = self
    copy.namespace = String((run + "-" + namespace).prefix(128))
    copy.longestLife = .seconds(3_600)
    return copy
  }
}

/// `network: { url: "http://host/{key}", timeout: 5s, connectTimeout: 1s }`.
package struct NetworkSpecification: Equatable, Sendable {
  /// With `{key}` or `{+key}` where the key goes, and with user and password.
  package var template: String
  /// As it may be shown: without user and password; of the query, which may hold tokens, only names and keys.
  var address: String {
    guard let scheme = template.firstRange(of: "://") else { return template }
    let rest = template[scheme.upperBound...]
    let place = rest.prefix { $0 != "?" }
    let user = place.prefix { $0 != "/" }.lastIndex(of: "@").map { place[...$0] } ?? ""
    let query = rest[place.endIndex...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
    let shown = "\(template[..<scheme.upperBound])\(place.dropFirst(user.count))"
    return place.endIndex == rest.endIndex ? shown : "\(shown)?\(query.map(Self.shown).joined(separator: "&"))"
  }

  private static func shown(_ pair: Substring) -> String {
    let name = pair.firstIndex(of: "=").map { pair[...$0] } ?? ""
    let value = pair.dropFirst(name.count)
    return "\(name)\(["", "{key}", "{+key}"].contains(value) ? value : "…")"
  }
  package var timeout = Duration.seconds(30)
  package var connectTimeout = Duration.seconds(10)
}

/// `origin: { latency: 40ms..200ms, failures: 1%, size: 4 KiB, seed: 7 }`.
package struct OriginSpecification: Equatable, Sendable {
  package var latency = Duration.milliseconds(40)...Duration.milliseconds(200)
  /// A probability from 0 to 1.
  package var failures = 0.0
  /// A probability from 0 to 1.
  package var missing = 0.0
  /// In bytes.
  package var size = 4_096...4_096
  package var seed: UInt64 = 0
}
