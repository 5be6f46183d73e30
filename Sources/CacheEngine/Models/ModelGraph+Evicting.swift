import CacheMemory
import CacheCore

/// The limits of a cache, and in which order its models would leave.
struct EvictionOrder: Sendable {
  enum Rank: Sendable {
    /// Not stored, or observed.
    case none
    /// May leave, in the order of use.
    case queued
    /// Was to leave, but something observed points to it. It is not asked again until that may have changed.
    case shielded
  }

  var capacity: Int?
  var countLimit: Int?
  fileprivate var queue = LeastRecentlyUsed()
  fileprivate var shielded = LeastRecentlyUsed()

  fileprivate var isBounded: Bool { capacity != nil || countLimit != nil }

  init(capacity: Int?, countLimit: Int?) {
    self.capacity = capacity
    self.countLimit = countLimit
  }
}

extension ModelGraph {
  var usage: LevelUsage {
    LevelUsage(count: storedCount, cost: Int(clamping: cost), capacity: order.capacity, countLimit: order.countLimit)
  }

  private var isOverLimits: Bool {
    order.capacity.map { cost > $0 } ?? false || order.countLimit.map { storedCount > $0 } ?? false
  }

  /// Notes that a model was used just now, if it is one that may leave.
  mutating func enqueue(_ slot: Int32) {
    guard order.isBounded, nodes[Int(slot)].stored != nil, nodes[Int(slot)].observers.isEmpty else { return }
    switch nodes[Int(slot)].rank {
    case .none:
      order.queue.inserted(slot)
      nodes[Int(slot)].rank = .queued
    case .queued: order.queue.touched(slot)
    case .shielded: break
    }
  }

  mutating func dequeue(_ slot: Int32) {
    switch nodes[Int(slot)].rank {
    case .none: return
    case .queued: order.queue.removed(slot)
    case .shielded: order.shielded.removed(slot)
    }
    nodes[Int(slot)].rank = .none
  }

  /// Lets models leave until the limits hold, or nothing is left that nobody observes.
  ///
  /// Each is asked by a walk of its own, until those have come by as many nodes as there are: then one walk from all that is
  /// observed tells of the rest, so that no commit takes more than that twice.
  mutating func makeRoom(_ commit: inout Commit) {
    let start = stepCount
    var reached: UInt64?
    while isOverLimits, let victim = order.queue.victim {
      if reached == nil, stepCount - start > nodeCount {
        let observed = nodes.indices.filter { !nodes[$0].observers.isEmpty }
        reached = walk(from: observed.map(Int32.init), .toRelations)
      }
      guard reached.map({ nodes[Int(victim)].mark == $0 }) ?? isReachedFromObserved(victim) else {
        withdraw(victim, .evicted, &commit)
        continue
      }
      order.queue.removed(victim)
      order.shielded.inserted(victim)
      nodes[Int(victim)].rank = .shielded
    }
  }

  /// Lets shielded models be asked again: something may have ceased to point to them.
  mutating func unshield() {
    while let slot = order.shielded.victim {
      order.shielded.removed(slot)
      order.queue.inserted(slot)
      nodes[Int(slot)].rank = .queued
    }
  }

  private mutating func isReachedFromObserved(_ slot: Int32) -> Bool {
    guard observerCount > 0 else { return false }
    var isReached = false
    walk(from: [slot], .toDependents) { graph, slot in
      isReached = !graph.nodes[Int(slot)].observers.isEmpty
      return !isReached
    }
    return isReached
  }
}
