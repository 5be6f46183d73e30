import CacheDisk
import CacheMemory
import CacheCore

/// Models, how they point to each other, and who observes them: a value, guarded by the cache's lock.
///
/// A model, or one that is only pointed to or observed, is a node with a slot number. Relations are kept at both of their
/// ends, and each end knows its place in the other's list. So a relation comes and goes in constant time, and those whom a
/// change concerns are found by walking backwards from it, past nobody else.
///
/// Nothing passed in is called here, and nothing passed in dies here: what leaves is handed back in the ``Commit``.
struct ModelGraph: Sendable {
  typealias Table = SlotTable<ModelKey, Void>
  typealias ObserverID = UInt64

  struct Edge: Sendable {
    /// The node at the other end.
    let slot: Int32
    /// The place of this relation in the list of the node at the other end.
    var position: Int32
  }

  struct Node: Sendable {
    var stored: StoredModel?
    /// To whom it points.
    var relations: [Edge] = []
    /// Who points to it.
    var dependents: [Edge] = []
    var observers: [ObserverID] = []
    /// The last walk that came by.
    var mark: UInt64 = 0
    var rank = EvictionOrder.Rank.none

    var isIdle: Bool { stored == nil && dependents.isEmpty && observers.isEmpty }
  }

  /// What a commit did, and what is to be done about it outside the lock.
  struct Commit: Sendable {
    var changes: [ModelChanges.Change] = []
    var calls: [(observers: [ObserverID], value: (any Sendable)?)] = []
    /// What has expired by then is told of as gone.
    let now: CacheInstant
    /// Whether an archive has what is stored here.
    var isSaved = false
    fileprivate(set) var changed: [Int32] = []
    /// Nodes that may have lost their last reason to be.
    fileprivate var loose: [Int32] = []
    fileprivate var released: [ModelKey] = []
    fileprivate var dropped: [StoredModel] = []
  }

  var nodes: ContiguousArray<Node> = []
  private(set) var table = Table()
  private(set) var storedCount = 0
  /// Wider than what it is the sum of, which may be anything that models say.
  private(set) var cost: Int128 = 0
  private(set) var observerCount = 0
  private(set) var commitCount: UInt64 = 0
  private var walkCount: UInt64 = 0
  /// How many nodes all walks together came by.
  private(set) var stepCount = 0
  var order: EvictionOrder
  /// What is to be written, if somebody writes.
  var archive: ArchiveLedger?

  init(order: EvictionOrder) { self.order = order }

  /// How many nodes there are, stored models or not.
  var nodeCount: Int { table.count }

  func find(_ key: ModelKey) -> Int32? { table.find(key, hash: Table.hash(key)) }

  func stored(_ key: ModelKey) -> StoredModel? { find(key).flatMap { nodes[Int($0)].stored } }

  /// The model under a key, which counts as used by this.
  mutating func use(_ key: ModelKey) -> StoredModel? {
    guard let slot = find(key), let stored = nodes[Int(slot)].stored else { return nil }
    enqueue(slot)
    return stored
  }

  /// Carries out edits of different models together, or none of them; with them, if asked to, every other model goes.
  ///
  /// `nil` if an edit was computed from a model that is no longer the one stored.
  mutating func commit(_ edits: [ModelEdit], clearing isClearing: Bool = false, now: CacheInstant) -> Commit? {
    for edit in edits {
      if let basis = edit.basis, basis != mergeBase(edit.key)?.version ?? 0 { return nil }
    }
    return self.commit(now: now) { graph, commit in
      if isClearing { graph.clear(besides: Set(edits.map(\.key)), &commit) }
      for edit in edits { graph.carryOut(edit, &commit) }
    }
  }

  /// Changes the graph in a way of its own, as one commit.
  mutating func commit(now: CacheInstant, _ change: (inout ModelGraph, inout Commit) -> Void) -> Commit {
    var commit = Commit(now: now)
    commitCount += 1
    change(&self, &commit)
    finish(&commit)
    return commit
  }

  // MARK: Observers

  mutating func observe(_ key: ModelKey, by observer: ObserverID) {
    let slot = slot(of: key)
    nodes[Int(slot)].observers.append(observer)
    observerCount += 1
    dequeue(slot)
  }

  /// Ends an observation, if it has not ended, and hands back the key if the node goes with it.
  mutating func endObservation(of key: ModelKey, by observer: ObserverID) -> ModelKey? {
    guard let slot = find(key), let position = nodes[Int(slot)].observers.firstIndex(of: observer) else { return nil }
    nodes[Int(slot)].observers.remove(at: position)
    observerCount -= 1
    enqueue(slot)
    unshield()
    return release(slot)
  }

  // MARK: Walking

  enum Direction {
    /// To what a node points to.
    case toRelations
    /// To what points to a node.
    case toDependents
  }

  /// Visits some nodes and all that can be reached from them, each once, in no particular order.
  ///
  /// The walk ends early when `visit` returns `false`. Its number stays on the nodes it came by, as their mark.
  @discardableResult
  mutating func walk(
    from starts: [Int32], _ direction: Direction, avoiding avoided: Int32? = nil,
    _ visit: (inout ModelGraph, Int32) -> Bool = { _, _ in true }
  ) -> UInt64 {
    walkCount += 1
    let walk = walkCount
    if let avoided { nodes[Int(avoided)].mark = walk }
    var path: [Int32] = []
    for slot in starts where nodes[Int(slot)].mark != walk {
      nodes[Int(slot)].mark = walk
      path.append(slot)
    }
    while let slot = path.popLast() {
      stepCount &+= 1
      let edges = direction == .toRelations ? nodes[Int(slot)].relations : nodes[Int(slot)].dependents
      for edge in edges where nodes[Int(edge.slot)].mark != walk {
        nodes[Int(edge.slot)].mark = walk
        path.append(edge.slot)
      }
      guard visit(&self, slot) else { break }
    }
    return walk
  }

  // MARK: Parts of a commit

  mutating func carryOut(_ edit: ModelEdit, _ commit: inout Commit) {
    switch edit.outcome {
    case .store(let model, let relations):
      store(model, relations: relations, under: edit.key, isMerged: edit.basis != nil && !edit.isWhole, &commit)
    case .remove(let cause):
      if let slot = find(edit.key) { withdraw(slot, cause, &commit) }
      // A model that is not here may still be in the archive.
      archive?.note(edit.key, nil, number: commitCount)
    }
  }

  private mutating func store(
    _ model: StoredModel, relations: [ModelKey], under key: ModelKey, isMerged: Bool, _ commit: inout Commit
  ) {
    let slot = slot(of: key)
    let old = nodes[Int(slot)].stored
    var model = model
    model.version = commitCount
    nodes[Int(slot)].stored = model
    if !commit.isSaved { archive?.note(key, model, number: commitCount, isMerged: isMerged, isKnown: old != nil) }
    if old == nil { storedCount += 1 }
    cost += Int128(model.cost) - Int128(old?.cost ?? 0)
    if relate(slot, to: relations, &commit) { unshield() }
    enqueue(slot)
    commit.changed.append(slot)
    let (seen, shown) = (old?.value(at: commit.now), model.value(at: commit.now))
    commit.changes.append(
      ModelChanges.Change(key: key, kind: seen == nil ? .inserted : .updated, oldValue: seen, newValue: shown))
  }

  mutating func withdraw(_ slot: Int32, _ cause: ModelChanges.Change.Cause, _ commit: inout Commit) {
    guard let key = table.slots[Int(slot)]?.key, let old = nodes[Int(slot)].stored else { return }
    nodes[Int(slot)].stored = nil
    let isExpired = old.isExpired(at: commit.now)
    if isExpired || cause != .evicted && cause != .pruned { archive?.note(key, nil, number: commitCount) }
    storedCount -= 1
    cost -= Int128(old.cost)
    dequeue(slot)
    // What is evicted or pruned was not reached from anything observed, so nothing loses its protection with it.
    if relate(slot, to: [], &commit), cause != .evicted, cause != .pruned { unshield() }
    commit.changed.append(slot)
    commit.loose.append(slot)
    commit.changes.append(
      ModelChanges.Change(key: key, kind: .removed(isExpired ? .expired : cause), oldValue: old.value, newValue: nil))
  }

  private mutating func finish(_ commit: inout Commit) {
    gatherCalls(&commit)
    makeRoom(&commit)
    for slot in commit.loose {
      if let key = release(slot) { commit.released.append(key) }
    }
    commit.dropped = archive?.takeDropped() ?? []
  }

  /// Finds out who is to be told: those who observe what changed, and those who observe what points to it.
  private mutating func gatherCalls(_ commit: inout Commit) {
    guard observerCount > 0, !commit.changed.isEmpty else { return }
    // Taken out of `commit`, as a model found expired on the way adds to it.
    let changed = commit.changed
    walk(from: changed, .toDependents) { graph, slot in
      let (stored, observers) = (graph.nodes[Int(slot)].stored, graph.nodes[Int(slot)].observers)
      // What this very commit stored with no time to live is left to the next reader: one change for each model.
      if let stored, stored.isExpired(at: commit.now), stored.version != graph.commitCount {
        graph.withdraw(slot, .expired, &commit)
      }
      if !observers.isEmpty { commit.calls.append((observers, stored?.value(at: commit.now))) }
      return true
    }
  }

  /// Makes a node point to some models and to no others; returns whether it pointed elsewhere before.
  private mutating func relate(_ slot: Int32, to targets: [ModelKey], _ commit: inout Commit) -> Bool {
    let old = nodes[Int(slot)].relations
    let isUnchanged =
      old.count == targets.count && zip(old, targets).allSatisfy { table.slots[Int($0.slot)]?.key == $1 }
    if isUnchanged { return false }
    nodes[Int(slot)].relations = []
    for edge in old {
      // The last dependent moves into the gap, and its other end learns of it.
      let last = nodes[Int(edge.slot)].dependents.removeLast()
      if Int(edge.position) < nodes[Int(edge.slot)].dependents.count {
        nodes[Int(edge.slot)].dependents[Int(edge.position)] = last
        nodes[Int(last.slot)].relations[Int(last.position)].position = edge.position
      }
      commit.loose.append(edge.slot)
    }
    nodes[Int(slot)].relations.reserveCapacity(targets.count)
    for target in targets {
      let other = self.slot(of: target)
      let (here, there) = (nodes[Int(slot)].relations.count, nodes[Int(other)].dependents.count)
      nodes[Int(slot)].relations.append(Edge(slot: other, position: Int32(there)))
      nodes[Int(other)].dependents.append(Edge(slot: slot, position: Int32(here)))
    }
    return !old.isEmpty
  }

  private mutating func slot(of key: ModelKey) -> Int32 {
    let hash = Table.hash(key)
    if let slot = table.find(key, hash: hash) { return slot }
    let slot = table.insert(key, hash: hash, payload: ())
    if Int(slot) == nodes.count { nodes.append(Node()) }
    return slot
  }

  private mutating func release(_ slot: Int32) -> ModelKey? {
    guard nodes[Int(slot)].isIdle, let key = table.slots[Int(slot)]?.key else { return nil }
    nodes[Int(slot)] = Node()
    _ = table.remove(slot, hash: Table.hash(key))
    return key
  }
}
