package import CacheEngine
package import CacheEngineHitRatio
package import CacheEngineTesting
package import ExplorerCommands
package import ExplorerConfiguration
package import ExplorerState

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A cache that was built from a configuration and runs.
package struct LiveCache: Sendable {
  /// A level of the cache that a command can name.
  package struct Level: Sendable {
    package let name: String
    package let kind: String
    /// The level with its observer, by itself.
    package let level: BasicCache<String, Data>
    /// The entries that it holds, if it holds any.
    package let storage: (any StorageLevel<String, Data>)?
    /// What becomes of a key on its way to the level.
    var keySteps: [KeyStep] = []
    /// Values come from it that nobody stored: a network, a simulated origin.
    package let isSource: Bool
    /// It knows when it stored what it lists; a Redis server that is looked at does not say.
    var isDated = true
    /// Says what goes wrong in it on purpose.
    package let faults: FaultInjector
    /// The store under it, if other processes share that.
    package var shared: SharedAccess?
    /// Asks it for a key past counters and observers, if it may be out of reach: a source, a store that processes share.
    var probe: (@Sendable (String) async throws -> Void)?
    /// Who serves its entries, if other processes write to its directory as well.
    var owner: (@Sendable () -> StoreOwner?)?
    /// Ends the level's use: flushes, releases files and connections.
    package let close: @Sendable () async throws -> Void

    package init(
      name: String, kind: String, level: BasicCache<String, Data>, storage: (any StorageLevel<String, Data>)?,
      keySteps: [KeyStep] = [], isSource: Bool, faults: FaultInjector,
      close: @escaping @Sendable () async throws -> Void
    ) {
      self.name = name
      self.kind = kind
      self.level = level
      self.storage = storage
      self.keySteps = keySteps
      self.isSource = isSource
      self.faults = faults
      self.close = close
    }

    /// The beginning of a value and how many bytes it has, past counters and observers; `nil` if the level has none.
    package func beginning(of key: String, atMost count: Int) async throws -> (bytes: Data, of: Int)? {
      if let cutting = storage as? any PartialStorage {
        return try await cutting.beginning(of: storedKey(key), atMost: count)
      }
      return try await storage?.get(storedKey(key)).map { ($0.prefix(count), $0.count) }
    }

    /// All that it holds; `nil` if it holds nothing that can be listed.
    package func contents() async throws -> [ListedEntry]? {
      guard let storage else { return nil }
      return listed(try await storage.contents())
    }

    /// What it lists, as far as it knows that.
    package func listed(_ contents: [EntrySummary<String>]) -> [ListedEntry] {
      contents.map {
        ListedEntry(key: $0.key, cost: $0.cost, created: isDated ? $0.created : nil, deadline: $0.deadline)
      }
    }

    /// Whether it has a value that somebody stored, past counters and observers.
    func holds(_ key: String) async throws -> Bool {
      if let shared { return try await shared.holds(storedKey(key)) }
      return try await beginning(of: key, atMost: 1) != nil
    }

    /// The key under which the level knows what the cache is asked for.
    func storedKey(_ key: String) -> String { keySteps.reduce(key) { $1.apply(to: $0) } }
  }

  /// An operator of the cache.
  package struct Operator: Sendable {
    package let name: String
    package let kind: String
  }

  /// The whole composition; every call through it is traced.
  package let cache: BasicCache<String, Data>
  /// From the top.
  package let levels: [Level]
  /// Outer ones before what they hold.
  package let operators: [Operator]
  /// What it counts, since the start and lately.
  package let figures: RecentFigures
  package let clock: any CacheClock
  /// Since when everything is counted.
  let openedAt: CacheInstant
  /// Says why a command cannot be carried out on a cache that belongs to somebody else.
  package var refusal: @Sendable (Touched) -> String? = { _ in nil }
  /// Reads a key in a level or in the whole, as ``cache`` does; of a large value its beginning is given, and how many
  /// bytes there are.
  ///
  /// `nil` where values do not have to travel.
  var glance: (@Sendable (_ key: String, _ level: String?) async throws -> (Lookup<Data>, size: Int?))?
  /// Removes a key, or everything, where what is on its way to the cache would bring it back.
  var purge: (@Sendable (_ key: String?) async throws -> Void)?
  /// The key of a path, if keys are the addresses of a server.
  var address: (@Sendable (_ path: String) -> String?)?
  /// What the proxy in front of it has done, if there is one.
  package var http: ServedFigures?
  /// Listens to every command of the server that is looked at, and says what that brought.
  package var monitor: (@Sendable (Duration) async throws -> String)?
  /// Tells what other capacities and policies would have brought.
  package var whatIf = HitRatioObserver(levels: [])
  /// How many events never came to ``whatIf`` and the statistics.
  package var unseen: @Sendable () -> Int = { 0 }

  package var statistics: CacheStatistics { figures.statistics }

  /// What was counted in the last seconds.
  var recent: CacheStatistics.Snapshot { figures.sum(at: clock.now) }

  /// The clock, if its speed can be set.
  package var pace: AdjustableClock? { clock as? AdjustableClock }

  /// Whether a missing value is fetched by the cache itself.
  var hasSource: Bool { levels.contains(where: \.isSource) }

  package func level(named name: String) -> Level? { levels.first { $0.name == name } }

  /// What an operator has done so far.
  package func operation(_ name: String) -> OperatorTraffic { statistics.snapshot.operators[name] ?? OperatorTraffic() }

  /// How full each level is that holds entries, by name.
  package var usage: [String: LevelUsage] {
    levels.reduce(into: [:]) { usage, level in usage[level.name] = level.storage?.usage }
  }

  /// How it stands with the stores under shared levels, by name.
  package var shared: [String: SharedStatus] {
    levels.reduce(into: [:]) { statuses, level in statuses[level.name] = level.shared?.status() }
  }

  /// Who serves the entries of levels that processes share, by name: `this process`, `process 4711`, `nobody`.
  package var owners: [String: String] {
    levels.reduce(into: [:]) { owners, level in owners[level.name] = level.owner?()?.words }
  }

  /// The levels that hold entries, the named one first: what it had may have left it by now.
  package func holders(from name: String?) -> [Level] {
    let holders = levels.filter { $0.storage != nil }
    return holders.filter { $0.name == name } + holders.filter { $0.name != name }
  }

  /// The value of a key where it lies, past counters and observers, in the named level if it is there.
  package func sight(of key: String, from name: String?) async -> ValueSight {
    var sight = ValueSight(key: key, level: name)
    sight.content = .absent
    for level in holders(from: name) {
      do {
        guard let (bytes, count) = try await level.beginning(of: key, atMost: ValueSight.mostBytes) else { continue }
        return ValueSight(key: key, level: level.name, content: .bytes(Array(bytes), of: count))
      } catch {
        sight.content = .failed(String(describing: error))
      }
    }
    return sight
  }

  /// The key that somebody names: of addresses, requests and screens show the paths.
  func key(named name: String) -> String { name.hasPrefix("/") ? address?(name) ?? name : name }

  /// Removes a key, or everything, from every level.
  func remove(_ key: String?) async throws {
    if let purge { return try await purge(key) }
    if let key { try await cache.remove(key) } else { try await cache.clear() }
  }

  /// Closes every level, and gives the first error after all were tried.
  package func close() async throws {
    var failure: (any Error)?
    for level in levels {
      do { try await level.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

extension StoreOwner {
  /// As it is shown.
  var words: String {
    switch self {
    case .thisProcess: "this process"
    case .process(let number): number == 0 ? "another process" : "process \(number)"
    case .nobody: "nobody"
    }
  }
}
