import CacheMemory
import CacheCore

extension ModelGraph {
  /// Takes out every model that a condition holds for.
  mutating func removeAll(
    _ cause: ModelChanges.Change.Cause, now: CacheInstant, where condition: (Node) -> Bool
  ) -> Commit {
    commit(now: now) { graph, commit in
      for slot in graph.nodes.indices where graph.nodes[slot].stored != nil && condition(graph.nodes[slot]) {
        graph.withdraw(Int32(slot), cause, &commit)
      }
    }
  }

  /// Takes out every model but some, which are about to be stored or removed in the same commit.
  mutating func clear(besides kept: Set<ModelKey>, _ commit: inout Commit) {
    for slot in nodes.indices where nodes[slot].stored != nil {
      if let key = table.slots[slot]?.key, !kept.contains(key) { withdraw(Int32(slot), .cleared, &commit) }
    }
    archive?.noteClear(number: commitCount)
  }

  /// The models that a clear would take out.
  func stored(besides kept: Set<ModelKey>) -> [(key: ModelKey, model: StoredModel)] {
    nodes.indices.compactMap { slot in
      guard let model = nodes[slot].stored, let key = table.slots[slot]?.key, !kept.contains(key) else { return nil }
      return (key, model)
    }
  }

  /// Takes out what cannot be reached from anything observed.
  mutating func prune(now: CacheInstant) -> Commit {
    let observed = nodes.indices.filter { !nodes[$0].observers.isEmpty }
    let reached = walk(from: observed.map(Int32.init), .toRelations)
    return removeAll(.pruned, now: now) { $0.mark != reached }
  }

  /// Takes out a model and what is to go with it.
  mutating func remove(_ key: ModelKey, with cascade: ModelCache.Cascade, now: CacheInstant) -> Commit {
    commit(now: now) { graph, commit in
      graph.archive?.note(key, nil, number: graph.commitCount)
      guard let slot = graph.find(key) else { return }
      let others =
        switch cascade {
        case .none: [Int32]()
        case .dependents: graph.dependents(of: slot)
        case .orphans: graph.orphans(of: slot)
        }
      graph.withdraw(slot, .removed, &commit)
      for other in others where other != slot { graph.withdraw(other, .cascaded, &commit) }
    }
  }

  private mutating func dependents(of slot: Int32) -> [Int32] {
    var found: [Int32] = []
    walk(from: [slot], .toDependents) { _, slot in
      found.append(slot)
      return true
    }
    return found
  }

  /// What only this node leads to.
  ///
  /// Rings that nobody outside points to go as well.
  private mutating func orphans(of slot: Int32) -> [Int32] {
    guard nodes[Int(slot)].stored != nil else { return [] }
    var reached: [Int32] = []
    let inside = walk(from: [slot], .toRelations) { _, slot in
      reached.append(slot)
      return true
    }
    let held = reached.filter { candidate in
      candidate != slot && nodes[Int(candidate)].dependents.contains { nodes[Int($0.slot)].mark != inside }
    }
    let kept = walk(from: held, .toRelations, avoiding: slot)
    return reached.filter { nodes[Int($0)].mark != kept }
  }
}
