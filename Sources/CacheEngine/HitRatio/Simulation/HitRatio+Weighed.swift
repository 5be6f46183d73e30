import CacheCore

extension HitRatio {
  /// Simulates a cache on a trace whose values weigh their sizes: every request looks its key up and stores it on a miss.
  ///
  /// A value heavier than the capacity is not stored. Without sizes every entry counts as one, as in
  /// ``simulate(policy:capacity:trace:)``. The optimum evicts what is needed again last, which with sizes is no longer
  /// proven to be the best, but hard to do better than.
  ///
  /// - Parameters:
  ///   - policy: What decides which entry leaves.
  ///   - capacity: The most bytes there may be. At least 1.
  ///   - trace: The requests.
  ///   - isWeighed: Whether the sizes count.
  /// - Returns: What the policy reached.
  public static func simulate(
    policy: SimulatedPolicy, capacity: Int, trace: RequestTrace, isWeighed: Bool
  ) -> HitRatio {
    guard isWeighed, let sizes = trace.sizes else {
      return simulate(policy: policy, capacity: capacity, trace: trace)
    }
    precondition(capacity > 0, "a capacity to simulate must be at least 1")
    return replay(policy, capacity, trace, sizes: sizes)
  }

  static func simulate(
    _ policy: consuming some EvictionPolicy, _ capacity: Int, _ trace: RequestTrace, _ sizes: [UInt32]
  ) -> HitRatio {
    var policy = policy
    var slots = ContiguousArray<Int32>(repeating: -1, count: trace.distinct)
    /// The key and the size of each slot.
    var held: ContiguousArray<(key: UInt32, size: Int)> = []
    var free: [Int32] = []
    var (hits, used) = (0, 0)
    for (position, key) in trace.keys.enumerated() {
      let slot = slots[Int(key)]
      guard slot < 0 else {
        hits += 1
        policy.touched(slot)
        continue
      }
      let size = Int(sizes[position])
      guard size <= capacity else { continue }
      policy.arriving(key)
      while used + size > capacity, let victim = policy.evict() {
        used -= held[Int(victim)].size
        slots[Int(held[Int(victim)].key)] = -1
        free.append(victim)
      }
      let place = free.popLast() ?? Int32(held.count)
      if Int(place) == held.count { held.append((key, size)) } else { held[Int(place)] = (key, size) }
      used += size
      slots[Int(key)] = place
      policy.inserted(place, hash: key)
    }
    return HitRatio(hits: hits, requests: trace.keys.count)
  }
}
