package import CacheEngine
import CacheEngineHitRatio
import CacheEngineShared
import CacheEngineTesting
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

/// Builds a running cache from its description.
package struct CacheBuilder<Value: ShownValue> {
  package let clock: any CacheClock
  private let figures = RecentFigures()
  private let removals = RemovalRequests()
  let observer: any CacheObserver
  private let whatIf: HitRatioObserver
  private var levels: [LiveCache.Level] = []
  private var operators: [LiveCache.Operator] = []
  /// What becomes of a key on its way to the level that is built.
  private var keySteps: [KeyStep] = []
  /// Joins a level with one below that tells what others change, until there is one above to be told.
  typealias Join =
    @Sendable (_ upper: BasicCache<String, Value>, _ lower: BasicCache<String, Value>) -> BasicCache<String, Value>
  /// For the shared levels that nobody listens to yet.
  var joins: [Join] = []

  /// Creates a builder of one cache.
  ///
  /// `observers`: Told of everything that happens, beside the statistics.
  /// `isObserved`: Whether anybody is told what levels and operators do.
  init(
    clock: any CacheClock, observers: [any CacheObserver], whatIf: [HitRatioObserver.Level], whatIfShare: Double,
    isObserved: Bool = true
  ) {
    self.clock = clock
    self.whatIf = HitRatioObserver(levels: whatIf, share: whatIfShare, clock: clock)
    observer =
      isObserved
      ? CacheObservers([figures, figures.statistics, removals, TranscriptObserver(), self.whatIf] + observers)
      : NobodyListens()
  }

  /// Builds what a configuration describes, level by level.
  ///
  /// - Throws: ``ConfigurationFailure`` if a level cannot be opened, with the place in the configuration; none is left open then.
  mutating func open(
    _ configuration: CacheConfiguration, file: String
  ) async throws -> (cache: BasicCache<String, Value>, live: LiveCache) {
    do {
      let cache = try compose(configuration.levels, file: file)
      let live = LiveCache(
        cache: Value.shown(cache.traced(by: observer, clock: clock)), levels: levels, operators: operators,
        figures: figures, clock: clock, openedAt: clock.now, whatIf: whatIf)
      return (cache, live)
    } catch {
      for level in levels { try? await level.close() }
      throw error
    }
  }

  private mutating func compose(
    _ specifications: [LevelSpecification], file: String
  ) throws -> BasicCache<String, Value> {
    var stack: BasicCache<String, Value>?
    for specification in specifications {
      let level: BasicCache<String, Value>
      let known = joins.count
      do {
        level = try build(specification, file: file)
      } catch let error as CacheError {
        let (message, remedy) = Self.told(error)
        throw ConfigurationFailure(problems: [
          ConfigurationProblem(
            file: file, place: specification.place, message: "\(specification.name) cannot be opened: \(message)",
            remedy: remedy)
        ])
      }
      // Every level reports its own failures, so that the composition need not.
      guard let upper = stack else {
        stack = level
        continue
      }
      // A checked configuration has one at most.
      let join = joins.count > known ? joins.removeLast() : nil
      stack = join?(upper, level) ?? upper.compose(level, observer: nil, clock: clock).normalize()
    }
    guard let stack else { preconditionFailure("a checked configuration has a level") }
    return stack
  }

  /// What is wrong and what to do about it, which some errors say themselves.
  private static func told(_ error: CacheError) -> (message: String, remedy: String) {
    if let end = error.message.ranges(of: "; ").last {
      return (String(error.message[..<end.lowerBound]), String(error.message[end.upperBound...]))
    }
    let remedy =
      switch error.code {
      case .inUse: "end the other program, or give this level a directory of its own"
      case .invalidAddress: "mend the url"
      case .diskReadFailed, .diskWriteFailed: "name a directory that you can write to"
      default: "give this level other settings, or another directory"
      }
    return (error.message, remedy)
  }

  private mutating func build(_ specification: LevelSpecification, file: String) throws -> BasicCache<String, Value> {
    let name = specification.name
    if !specification.inner.isEmpty {
      operators.append(LiveCache.Operator(name: name, kind: specification.word))
    }
    switch specification.kind {
    case .memory(let memory):
      let level = HeldMemoryLevel<Value>(
        base: MemoryCacheLevel(
          name: name, capacity: memory.capacity, countLimit: memory.countLimit, eviction: memory.eviction,
          expiry: Self.expiry(memory.lifetime), keepsExpired: memory.keepsExpired, timeToIdle: memory.timeToIdle,
          clock: clock, removalListener: observer.removals(from: name, clock: clock)))
      return add(level, specification, storage: level) {}
    case .disk(let disk):
      let level = try DiskCacheLevel<String, Value>(
        directory: disk.directory, capacity: disk.capacity, name: name, expiry: Self.expiry(disk.lifetime),
        keepsExpired: disk.keepsExpired, durability: disk.durability,
        sharing: disk.isShared ? .acrossProcesses : .exclusive, keyCoding: .canonicalText,
        valueCoding: Value.coding, clock: clock,
        removalListener: removals.attributing(to: observer).removals(from: name, clock: clock))
      let added = add(level, specification, storage: level) { try await level.close() }
      if disk.isShared { share(level) }
      return added
    case .redis(let redis): return try add(redis, specification)
    case .network, .origin, .defaults: return try Value.build(specification, in: &self)
    case .empty: return add(EmptyLevel<String, Value>(), specification, storage: nil) {}
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

  /// Adds a level into which faults can be injected.
  mutating func add(
    _ level: some CacheLevel<String, Value>, _ specification: LevelSpecification,
    storage: (any StorageLevel<String, Value>)?, close: @escaping @Sendable () async throws -> Void
  ) -> BasicCache<String, Value> {
    let faults = FaultInjector(clock: clock)
    return note(
      level.injectingFaults(faults).normalize(), specification, storage: storage, faults: faults, close: close)
  }

  /// Notes a level in which faults are injected already.
  ///
  /// `base`: Erased, or what is around it would be compiled anew for each kind of level.
  mutating func note(
    _ base: BasicCache<String, Value>, _ specification: LevelSpecification,
    storage: (any StorageLevel<String, Value>)?, faults: FaultInjector, shared: SharedAccess? = nil,
    close: @escaping @Sendable () async throws -> Void
  ) -> BasicCache<String, Value> {
    let level =
      if let lifetime = specification.lifetime ?? nil, specification.jitter > 0 {
        base.expiring(after: lifetime, jitter: specification.jitter, clock: clock).normalize()
      } else {
        base
      }
    let observed = level.observed(as: specification.name, by: observer, clock: clock).normalize()
    var noted = LiveCache.Level(
      name: specification.name, kind: specification.word,
      level: Value.shown(observed.traced(by: observer, clock: clock)), storage: storage.map(Value.shown),
      keySteps: keySteps, isSource: specification.isSource, faults: faults, close: close)
    noted.shared = shared
    if specification.isRemote {
      let unobserved = Value.shown(level)
      noted.probe = { _ = try await unobserved.get($0) }
    }
    levels.append(noted)
    return observed
  }

  /// Lets the levels above the one that was just added hear what other processes change there.
  private mutating func share(_ level: DiskCacheLevel<String, Value>) {
    levels[levels.count - 1].owner = { [weak level] in level?.owner }
    joins.append { upper, lower in upper.compose(lower, coherence: Coherence(level), observer: nil).normalize() }
  }

  static func expiry(_ lifetime: Duration?) -> Expiry { lifetime.map(Expiry.after) ?? .never }
}

/// An observer that never listens, so that levels and operators save the work.
private struct NobodyListens: CacheObserver {
  let attention: ObservationSwitch? = ObservationSwitch()

  func record(_ event: CacheEvent) {}
}
