import CacheEngine
import CacheEngineTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A cache that was built from a configuration and runs.
struct LiveCache: Sendable {
  /// A level of the cache that a command can name.
  struct Level: Sendable {
    let name: String
    let kind: String
    /// The level with its observer, by itself.
    let level: BasicCache<String, Data>
    /// The entries that it holds, if it holds any.
    let storage: (any StorageLevel<String, Data>)?
    /// What becomes of a key on its way to the level.
    var keySteps: [KeyStep] = []
    /// Values come from it that nobody stored: a network, a simulated origin.
    let isSource: Bool
    /// Says what goes wrong in it on purpose.
    let faults: FaultInjector
    /// Ends the level's use: flushes, lets go of files and connections.
    let close: @Sendable () async throws -> Void

    /// The beginning of a value and how many bytes it has, past counters and observers; `nil` if the level has none.
    func beginning(of key: String, atMost count: Int) async throws -> (bytes: Data, of: Int)? {
      if let cutting = storage as? any PartialStorage {
        return try await cutting.beginning(of: storedKey(key), atMost: count)
      }
      return try await storage?.get(storedKey(key)).map { ($0.prefix(count), $0.count) }
    }

    /// The key under which the level knows what the cache is asked for.
    func storedKey(_ key: String) -> String { keySteps.reduce(key) { $1.apply(to: $0) } }
  }

  /// An operator of the cache.
  struct Operator: Sendable {
    let name: String
    let kind: String
  }

  /// The whole composition; every call through it is traced.
  let cache: BasicCache<String, Data>
  /// From the top.
  let levels: [Level]
  /// Outer ones before what they hold.
  let operators: [Operator]
  let statistics: CacheStatistics
  let clock: any CacheClock
  /// Since when everything is counted.
  let openedAt: CacheInstant
  /// Says why a command cannot be carried out on a cache that belongs to somebody else.
  var refusal: @Sendable (Command) -> String? = { _ in nil }
  /// Reads a key in a level or in the whole, as ``cache`` does; of a large value its beginning is given, and how many
  /// bytes there are.
  ///
  /// `nil` where values do not have to travel.
  var glance: (@Sendable (_ key: String, _ level: String?) async throws -> (Lookup<Data>, size: Int?))?
  /// Tells what other capacities and policies would have brought.
  var whatIf = HitRatioObserver(levels: [])
  /// How many events never came to ``whatIf`` and the statistics.
  var unseen: @Sendable () -> Int = { 0 }

  /// The clock, if its speed can be set.
  var pace: AdjustableClock? { clock as? AdjustableClock }

  /// Whether a missing value is fetched by the cache itself.
  var hasSource: Bool { levels.contains(where: \.isSource) }

  func level(named name: String) -> Level? { levels.first { $0.name == name } }

  /// What an operator has done so far.
  func operation(_ name: String) -> OperatorTraffic { statistics.snapshot.operators[name] ?? OperatorTraffic() }

  /// How full each level is that holds entries, by name.
  var usage: [String: LevelUsage] {
    levels.reduce(into: [:]) { usage, level in usage[level.name] = level.storage?.usage }
  }

  /// The levels that hold entries, the named one first: what it had may have left it by now.
  func holders(from name: String?) -> [Level] {
    let holders = levels.filter { $0.storage != nil }
    return holders.filter { $0.name == name } + holders.filter { $0.name != name }
  }

  /// The value of a key where it lies, past counters and observers, in the named level if it is there.
  func sight(of key: String, from name: String?) async -> ValueSight {
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

  /// Closes every level, and gives the first error after all were tried.
  func close() async throws {
    var failure: (any Error)?
    for level in levels {
      do { try await level.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}
