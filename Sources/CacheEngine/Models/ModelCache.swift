import CacheDisk
import CacheMemory

public import CacheCore
import Dispatch
import Synchronization

/// A flat store of models, each held once under its type and identifier: one source of truth for an app's data.
///
/// Models refer to each other through ``Related`` and declare this by conforming to ``HasCachedRelationships``. An observer of a
/// model is told when it changes, and when a model that it leads to changes, at any depth and through cycles. A model that is
/// ``Mergeable`` is merged with the one stored; any other replaces it.
///
/// ```swift
/// let cache = ModelCache()
/// cache.insert(Author(id: "herbert", name: "Frank Herbert"))
/// cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "herbert")))
///
/// let observation = cache.observe(Book.self, id: "dune") { book in
///   print(book?.title ?? "gone")
/// }
/// cache.insert(Author(id: "herbert", name: "Frank Patrick Herbert"))  // prints "Dune"
/// ```
///
/// **Threads.** Every method answers without waiting and may be called from any thread and from any observer, merge or batch:
/// no code that is passed in ever runs under a lock of the cache. Observers are called after the commit, in the order of
/// the commits and one at a time, on the thread that made the change or, if another change is just being reported, on a thread of the
/// cache. If only one thread makes changes, every observer has been told when `insert` returns; no thread ever reports the changes of
/// others. At most 4,096 commits wait to be reported: beyond that the newest are reported as one, with the last state of each model.
///
/// **What is reported.** A commit (one store, one removal, or a whole batch) calls an observer at most once, with the model
/// as that commit left it. Storing an equal model is a change as well.
///
/// **Types.** A model is stored under its static type: an object passed as its superclass is stored under that.
public final class ModelCache: Sendable {
  struct State: Sendable {
    var graph: ModelGraph
    var deliveries = ModelDeliveries()
    var observers: [ModelGraph.ObserverID: @Sendable ((any Sendable)?) -> Void] = [:]
    var listeners: [ModelGraph.ObserverID: @Sendable (ModelChanges) -> Void] = [:]
    var lastObserver: ModelGraph.ObserverID = 0

    /// Leaves what a commit has to tell in the line, and returns who may tell it.
    mutating func deliver(
      _ commit: ModelGraph.Commit, completion: (@Sendable () -> Void)? = nil
    ) -> ModelDeliveries.Line.Writer {
      let isHeard = !listeners.isEmpty && !commit.changes.isEmpty
      return deliveries.append(
        ModelDeliveries.Delivery(
          calls: commit.calls, changes: isHeard ? ModelChanges(changes: commit.changes) : nil,
          listeners: isHeard ? listeners.keys.sorted() : [], completion: completion))
    }
  }

  /// The lifetime of values stored without one of their own.
  public let expiry: Expiry

  let clock: any CacheClock
  let state: Mutex<State>
  private let queue = DispatchQueue(label: "CacheEngine.models")

  /// Creates an empty cache.
  ///
  /// After a commit, the limits hold, unless every model that is left is observed or reached from an observed
  /// one. The least recently used models are evicted first; reading and storing count as use.
  ///
  /// - Parameters:
  ///   - capacity: The maximum total cost of the models; `nil` for no limit. A model that is
  ///     `CostRepresentable` states its cost; any other costs 1. At least 0.
  ///   - countLimit: The maximum number of models; `nil` for no limit. At least 0.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - clock: The clock by which lifetimes are measured.
  public init(
    capacity: Int? = nil, countLimit: Int? = nil, expiry: Expiry = .never, clock: any CacheClock = SystemClock()
  ) {
    precondition(capacity ?? 0 >= 0, "a capacity cannot be negative")
    precondition(countLimit ?? 0 >= 0, "a count limit cannot be negative")
    self.expiry = expiry
    self.clock = clock
    state = Mutex(State(graph: ModelGraph(order: EvictionOrder(capacity: capacity, countLimit: countLimit))))
  }

  /// How many models are stored, including expired ones that have not been dropped yet.
  public var count: Int { state.withLock { $0.graph.storedCount } }

  /// How much is stored, and the limits.
  public var usage: LevelUsage { state.withLock { $0.graph.usage } }

  /// How many models are known: stored, referred to, or observed.
  var nodeCount: Int { state.withLock { $0.graph.nodeCount } }

  /// Stores a model, or merges it with the one stored if it is ``Mergeable``.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - expiry: Its lifetime from now on; `nil` for the cache's own ``expiry``.
  /// - Returns: The model that is stored now: this one, or the result of the merge.
  /// - Complexity: O(1) for each relation of the model. If any model is observed, also O(m) for the m models that lead to
  ///   this one at any depth, observed or not, and their relations, under the cache's lock: if most models lead to most
  ///   others, that is all of them.
  @discardableResult
  public func insert<Model: Identifiable & Sendable>(_ model: Model, expiry: Expiry? = nil) -> Model
  where Model.ID: Sendable {
    let key = ModelKey(of: model)
    let deadline = (expiry ?? self.expiry).deadline(by: clock)
    guard Model.self is any Mergeable.Type else {
      commit { _ in [edit(storing: model, under: key, deadline: deadline)] }
      return model
    }
    var stored = model
    commit { now in
      let (old, version) = current(key, now: now)
      let merged = old.map { merge($0, with: model, of: Model.self) } ?? model
      stored = merged as? Model ?? model
      return [edit(storing: merged, under: key, deadline: deadline, basis: version)]
    }
    return stored
  }

  /// Returns the model with an identifier.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  /// - Returns: The model, or `nil` if it is not stored or has expired. An expired one is dropped on the way.
  /// - Complexity: O(1). Reads the clock only if the model can expire.
  public func value<Model: Identifiable & Sendable>(_ type: Model.Type = Model.self, id: Model.ID) -> Model?
  where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    guard let stored = state.withLock({ $0.graph.use(key) }) else { return nil }
    if stored.deadline != nil, stored.isExpired(at: clock.now) {
      drop(key, version: stored.version)
      return nil
    }
    return stored.value as? Model
  }

  /// Returns a live handle of the model with an identifier, stored or not.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  /// - Returns: The handle.
  public func cached<Model: Identifiable & Sendable>(_ type: Model.Type = Model.self, id: Model.ID) -> Cached<Model>
  where Model.ID: Sendable {
    Cached(id: id, cache: self)
  }

  /// Returns a live handle of a model, which need not be stored.
  ///
  /// - Parameter model: The model; only its identifier is used.
  /// - Returns: The handle.
  public func cached<Model: Identifiable & Sendable>(_ model: Model) -> Cached<Model> where Model.ID: Sendable {
    Cached(id: model.id, cache: self)
  }

  // MARK: Commits

  /// Carries out edits, after a clear if asked to, computed again as often as somebody else changes what they were computed from, and tells.
  @discardableResult
  func commit(
    clearing isClearing: Bool = false, completion: (@Sendable () -> Void)? = nil,
    _ edits: (_ now: CacheInstant) -> [ModelEdit]
  ) -> ModelChanges {
    while true {
      let now = clock.now
      let prepared = edits(now)
      // The commit is carried out of the lock whole, so that whatever leaves dies out here.
      let made = state.withLock { state -> (commit: ModelGraph.Commit, writer: ModelDeliveries.Line.Writer)? in
        guard let commit = state.graph.commit(prepared, clearing: isClearing, now: now) else { return nil }
        return (commit, state.deliver(commit, completion: completion))
      }
      guard let (commit, writer) = made else { continue }
      deliver(writer)
      return ModelChanges(changes: commit.changes)
    }
  }

  /// Changes the graph as a whole, and tells.
  @discardableResult
  func commit(by change: @Sendable (inout ModelGraph, _ now: CacheInstant) -> ModelGraph.Commit) -> ModelChanges {
    let now = clock.now
    let (commit, writer) = state.withLock { state in
      let commit = change(&state.graph, now)
      return (commit, state.deliver(commit))
    }
    deliver(writer)
    return ModelChanges(changes: commit.changes)
  }

  /// Stores what an archive has read, and tells; whether all of it was stored.
  @discardableResult
  func commitRead(_ edits: [ModelEdit], since start: UInt64?) -> Bool {
    let now = clock.now
    let (commit, isWhole, writer) = state.withLock { state in
      let (commit, isWhole) = state.graph.commitRead(edits, since: start, now: now)
      return (commit, isWhole, state.deliver(commit))
    }
    deliver(writer)
    withExtendedLifetime(commit) {}
    return isWhole
  }

  /// The model that an edit may be computed from, `nil` if it has expired, and its version.
  func current(_ key: ModelKey, now: CacheInstant) -> (value: (any Sendable)?, version: UInt64) {
    guard let stored = state.withLock({ $0.graph.mergeBase(key) }) else { return (nil, 0) }
    return (stored.value(at: now), stored.version)
  }

  func edit(
    storing model: any Sendable, under key: ModelKey, deadline: CacheInstant?, basis: UInt64? = nil
  ) -> ModelEdit {
    let cost = max(0, (model as? any CostRepresentable)?.cost ?? 1)
    let stored = StoredModel(value: model, cost: cost, deadline: deadline)
    let relations = (model as? any HasCachedRelationships)?.relatedCacheKeys ?? []
    return ModelEdit(key: key, outcome: .store(stored, relations: relations.withoutRepetitions), basis: basis)
  }

  /// Drops what was found expired, unless it has been replaced since.
  private func drop(_ key: ModelKey, version: UInt64) {
    let edit = ModelEdit(key: key, outcome: .remove(.expired), basis: version)
    attempt { graph, now in graph.commit([edit], now: now) }
  }

  /// Carries out a change that holds only as long as nothing came between, and tells; whether it did.
  @discardableResult
  func attempt(_ change: @Sendable (inout ModelGraph, _ now: CacheInstant) -> ModelGraph.Commit?) -> Bool {
    let now = clock.now
    let made = state.withLock { state -> (commit: ModelGraph.Commit, writer: ModelDeliveries.Line.Writer)? in
      guard let commit = change(&state.graph, now) else { return nil }
      return (commit, state.deliver(commit))
    }
    guard let made else { return false }
    deliver(made.writer)
    return true
  }

  private func deliver(_ writer: ModelDeliveries.Line.Writer) {
    var step = state.withLock { $0.deliveries.begin(writer) }
    while case .deliver(let delivery) = step {
      tell(delivery.unfolded)
      step = state.withLock { $0.deliveries.next() }
    }
    if case .handOver = step { queue.async { [self] in deliver(.queue) } }
  }

  private func tell(_ delivery: ModelDeliveries.Delivery) {
    for (observers, value) in delivery.calls {
      // Looked up only now: an observation that has ended meanwhile stays silent.
      for id in observers { state.withLock { $0.observers[id] }?(value) }
    }
    if let changes = delivery.changes {
      for id in delivery.listeners { state.withLock { $0.listeners[id] }?(changes) }
    }
    for complete in delivery.completions { complete() }
  }
}

extension [ModelKey] {
  var withoutRepetitions: [ModelKey] {
    guard count > 1 else { return self }
    var seen = Set<ModelKey>(minimumCapacity: count)
    return filter { seen.insert($0).inserted }
  }
}
