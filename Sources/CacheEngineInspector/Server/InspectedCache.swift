import CacheEngine
import CacheEngineHitRatio

/// A composition as it is shown: its levels by name, its operators, how they stand, and who is told of them.
struct InspectedCache: Sendable {
  private(set) var levels: [ServerLine.Level] = []
  private(set) var operators: [ServerLine.Operation] = []
  private(set) var chain: [ServerLine.Chain] = []
  /// By the same index as `levels`.
  private(set) var access: [InspectedLevel] = []
  private(set) var whole: InspectedLevel
  /// Whom the levels tell; one of its own if they tell none.
  private(set) var inspector = CacheInspector()
  private(set) var tellsEvents = false
  private var isTraced = false
  private var listeners: [any ListeningLevel] = []

  init(_ cache: some CacheLevel) {
    whole = InspectedLevel(cache)
    let parts = part(cache, observed: nil)
    chain = parts
    // The levels are made when the inspector is known, and so are the numbered calls of those who look.
    access = found.map { $0.inspected(by: inspector) }
    let holder = found.lazy.compactMap(\.storage).first { $0 is any StorageLevel }
    whole = Found(level: cache, storage: nil, keys: holder, isTraced: isTraced).inspected(by: inspector)
    found = []
  }

  /// A level on its way to be inspected.
  private struct Found: Sendable {
    let level: any CacheLevel
    let storage: (any CacheLevel)?
    var keys: (any CacheLevel)?
    var isTraced = false

    func inspected(by inspector: CacheInspector) -> InspectedLevel { inspected(level, inspector) }

    private func inspected<Level: CacheLevel>(_ level: Level, _ inspector: CacheInspector) -> InspectedLevel {
      isTraced
        ? InspectedLevel(level, storage: storage, keys: keys)
        : InspectedLevel(level.traced(by: inspector), storage: storage, keys: keys)
    }
  }

  private var found: [Found] = []

  func index(of name: String) -> Int? { levels.firstIndex { $0.name == name } }

  var usage: [String: ServerLine.Usage] {
    var all: [String: ServerLine.Usage] = [:]
    for (level, access) in zip(levels, access) {
      guard let usage = access.usage?() else { continue }
      all[level.name] = ServerLine.Usage(
        count: usage.count, cost: usage.cost, capacity: usage.capacity, countLimit: usage.countLimit)
    }
    return all
  }

  /// Whether changes of other processes are heard; `nil` if nothing listens to them.
  var hearing: ServerLine.Hearing? {
    guard !listeners.isEmpty else { return nil }
    // One deaf level is enough to be out of date.
    return ServerLine.Hearing(deafSince: listeners.compactMap { $0.deafSince?.nanoseconds }.min())
  }

  /// Walks a composition from the top.
  ///
  /// `observed`: The wrapper around it whose name its events carry.
  private mutating func part(
    _ level: any CacheLevel, observed: (level: any CacheLevel, name: String)?
  ) -> [ServerLine.Chain] {
    if let listener = level as? any ListeningLevel { listeners.append(listener) }
    switch level.shapeOrLeaf {
    case .leaf(let kind): return [leaf(level, kind, observed)]
    case .wrapper(let inner): return part(inner, observed: observed)
    case .observed(let inner, let name, let observer):
      note(observer)
      return part(inner, observed: (level, name))
    case .traced(let inner, let observer):
      note(observer)
      isTraced = isTraced || Self.inspector(in: observer) != nil
      return part(inner, observed: observed)
    case .stacked(let upper, let lower):
      return part(upper, observed: nil) + part(lower, observed: nil)
    case .around(let operation, let inner):
      let index = add(operation)
      return [ServerLine.Chain(around: index, parts: part(inner, observed: observed))]
    case .lanes(let operation, let first, let second):
      let index = add(operation)
      let parts = part(first, observed: nil)
      return [ServerLine.Chain(lanes: index, parts: parts, others: part(second, observed: nil))]
    case .stale(let operation, let upper, let lower):
      let index = add(operation)
      let parts = part(upper, observed: nil)
      return [ServerLine.Chain(stale: index, parts: parts, others: part(lower, observed: nil))]
    }
  }

  private mutating func leaf(
    _ level: any CacheLevel, _ kind: String, _ observed: (level: any CacheLevel, name: String)?
  ) -> ServerLine.Chain {
    found.append(Found(level: observed?.level ?? level, storage: level))
    var told = ServerLine.Level(
      name: unused(observed?.name ?? level.name, among: levels.map(\.name)), kind: kind,
      isSource: level is any Fetcher, holdsEntries: level is any StorageLevel)
    if let watched = (level as? any EvictingLevel)?.watched(as: told.name) { told.tell(watched) }
    levels.append(told)
    return ServerLine.Chain(level: levels.count - 1)
  }

  private mutating func add(_ operation: LevelShape.Operation) -> Int {
    operators.append(
      ServerLine.Operation(
        name: unused(operation.name, among: operators.map(\.name)), kind: operation.kind, setting: operation.setting,
        limit: operation.limit))
    return operators.count - 1
  }

  /// Names are numbered where they repeat, as in configurations.
  private func unused(_ name: String, among taken: [String]) -> String {
    guard taken.contains(name) else { return name }
    var number = 2
    while taken.contains("\(name)-\(number)") { number += 1 }
    return "\(name)-\(number)"
  }

  private mutating func note(_ observer: any CacheObserver) {
    guard let found = Self.inspector(in: observer) else { return }
    if !tellsEvents { inspector = found }
    tellsEvents = true
  }

  private static func inspector(in observer: any CacheObserver) -> CacheInspector? {
    if let inspector = observer as? CacheInspector { return inspector }
    return (observer as? CacheObservers)?.observers.lazy.compactMap { inspector(in: $0) }.first
  }
}
