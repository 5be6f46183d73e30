package import CacheEngine
import CacheEngineHitRatio
import CacheEngineNetwork
import CacheEngineTesting
import ExplorerModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Builds a running cache from its description.
package struct CacheBuilder {
  package let clock: any CacheClock
  private let figures = RecentFigures()
  private let removals = RemovalRequests()
  let observer: CacheObservers
  private let whatIf: HitRatioObserver
  private var levels: [LiveCache.Level] = []
  private var operators: [LiveCache.Operator] = []
  /// What becomes of a key on its way to the level that is built.
  private var keySteps: [KeyStep] = []

  /// `observers`: Told of everything that happens, beside the statistics.
  private init(
    clock: any CacheClock, observers: [any CacheObserver], whatIf: [HitRatioObserver.Level], whatIfShare: Double
  ) {
    self.clock = clock
    self.whatIf = HitRatioObserver(levels: whatIf, share: whatIfShare, clock: clock)
    observer = CacheObservers([figures, figures.statistics, removals, TranscriptObserver(), self.whatIf] + observers)
  }

  /// Builds a cache.
  ///
  /// `whatIfShare`: The most of the requests' time that it may take to tell what other capacities would bring.
  ///
  /// - Throws: ``ConfigurationFailure`` if a level cannot be opened, with the place in the configuration.
  package static func build(
    _ configuration: CacheConfiguration, file: String, clock: any CacheClock = SystemClock(),
    observers: [any CacheObserver] = [], whatIfShare: Double = 0.05
  ) async throws -> LiveCache {
    var builder = CacheBuilder(
      clock: clock, observers: observers, whatIf: configuration.levelsWithCapacity, whatIfShare: whatIfShare)
    do {
      let cache = try builder.compose(configuration.levels, file: file)
      return LiveCache(
        cache: cache.traced(by: builder.observer, clock: clock).normalize(), levels: builder.levels,
        operators: builder.operators, figures: builder.figures, clock: clock,
        openedAt: clock.now, whatIf: builder.whatIf)
    } catch {
      for level in builder.levels { try? await level.close() }
      throw error
    }
  }

  private mutating func compose(
    _ specifications: [LevelSpecification], file: String
  ) throws -> BasicCache<String, Data> {
    var stack: BasicCache<String, Data>?
    for specification in specifications {
      let level: BasicCache<String, Data>
      do {
        level = try build(specification, file: file)
      } catch let error as CacheError {
        throw ConfigurationFailure(problems: [
          ConfigurationProblem(
            file: file, place: specification.place, message: "\(specification.name) cannot be opened: \(error.message)",
            remedy: Self.remedy(for: error))
        ])
      }
      // Every level reports its own failures, so that the composition need not.
      stack = stack.map { $0.compose(level, observer: nil, clock: clock).normalize() } ?? level
    }
    guard let stack else { preconditionFailure("a checked configuration has a level") }
    return stack
  }

  private static func remedy(for error: CacheError) -> String {
    switch error.code {
    case .inUse: "end the other program, or give this level a directory of its own"
    case .invalidAddress: "mend the url"
    default: "make the directory writable for you, or name another one"
    }
  }

  private mutating func build(_ specification: LevelSpecification, file: String) throws -> BasicCache<String, Data> {
    let name = specification.name
    if !specification.inner.isEmpty {
      operators.append(LiveCache.Operator(name: name, kind: specification.word))
    }
    switch specification.kind {
    case .memory(let memory):
      let level = MemoryCacheLevel<String, Data>(
        name: name, capacity: memory.capacity, countLimit: memory.countLimit, eviction: memory.eviction,
        expiry: Self.expiry(memory.lifetime), keepsExpired: memory.keepsExpired, clock: clock,
        removalListener: observer.removals(from: name, clock: clock))
      return add(level, specification, storage: level) {}
    case .disk(let disk):
      let level = try DiskCacheLevel<String, Data>(
        directory: disk.directory, capacity: disk.capacity, name: name, expiry: Self.expiry(disk.lifetime),
        keepsExpired: disk.keepsExpired, durability: disk.durability, clock: clock,
        removalListener: removals.attributing(to: observer).removals(from: name, clock: clock))
      return add(level, specification, storage: level) { try await level.close() }
    case .network(let network):
      let level = try NetworkFetcher<String>(
        template: network.template, name: name, timeout: network.timeout,
        connectTimeout: network.connectTimeout)
      return add(level, specification, storage: nil) {}
    case .origin(let origin):
      let level = SimulatedOrigin(
        name: name, latency: origin.latency, failures: origin.failures, missing: origin.missing, size: origin.size,
        seed: origin.seed, clock: clock, sizes: { _ in TraceReader.size })
      return add(level, specification, storage: nil) {}
    case .defaults(let defaults):
      let level = try UserDefaultsCacheLevel<String, Data>(
        domain: defaults.domain, directory: defaults.directory, name: name, expiry: Self.expiry(defaults.lifetime),
        durability: defaults.durability, clock: clock)
      return add(level, specification, storage: level) {}
    case .empty: return add(EmptyLevel<String, Data>(), specification, storage: nil) {}
    case .around(.transformKeys(let steps), let inner):
      let outer = keySteps
      keySteps += steps
      defer { keySteps = outer }
      return operate(.transformKeys(steps), on: try compose(inner, file: file), as: name)
    case .around(let operation, let inner):
      return operate(operation, on: try compose(inner, file: file), as: name)
    case .lanes(let condition, let then, let otherwise):
      let first = try compose(then, file: file)
      return lanes(condition, first, try compose(otherwise, file: file))
    case .stale(let stale, let holding, let source):
      let upper = try compose(holding, file: file)
      return revalidate(stale, upper, from: try compose(source, file: file), as: name)
    }
  }

  private mutating func add<Level: CacheLevel>(
    _ level: Level, _ specification: LevelSpecification, storage: (any StorageLevel<String, Data>)?,
    close: @escaping @Sendable () async throws -> Void
  ) -> BasicCache<String, Data> where Level.Key == String, Level.Value == Data {
    let faults = FaultInjector(clock: clock)
    let observed = level.injectingFaults(faults).observed(as: specification.name, by: observer, clock: clock)
    levels.append(
      LiveCache.Level(
        name: specification.name, kind: specification.word,
        level: observed.traced(by: observer, clock: clock).normalize(), storage: storage, keySteps: keySteps,
        isSource: specification.isSource, faults: faults, close: close))
    return observed.normalize()
  }

  private static func expiry(_ lifetime: Duration?) -> Expiry { lifetime.map(Expiry.after) ?? .never }
}
