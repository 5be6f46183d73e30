import CacheMemory
import CacheCore

/// How many requests of a trace found their key.
public struct HitRatio: Sendable, Hashable {
  /// The requests that found their key.
  public let hits: Int
  /// All requests.
  public let requests: Int

  /// Hits as a share of the requests, from 0 to 1; 0 if there were none.
  public var value: Double { requests == 0 ? 0 : Double(hits) / Double(requests) }

  init(hits: Int, requests: Int) {
    self.hits = hits
    self.requests = requests
  }

  /// Simulates a cache on a trace: every request looks its key up and stores it on a miss.
  ///
  /// Every entry counts as one and the first misses count, so that the same trace has the same ratio everywhere.
  ///
  /// - Parameters:
  ///   - policy: What decides which entry leaves.
  ///   - capacity: The most entries there may be. At least 1.
  ///   - trace: The requests.
  /// - Returns: What the policy reached.
  /// - Complexity: O(n) for n requests; O(n log n) for the optimum.
  public static func simulate(policy: SimulatedPolicy, capacity: Int, trace: RequestTrace) -> HitRatio {
    precondition(capacity > 0, "a capacity to simulate must be at least 1")
    return replay(policy, capacity, trace, sizes: nil)
  }

  /// The one place that knows which policy stands behind which name.
  static func replay(_ policy: SimulatedPolicy, _ capacity: Int, _ trace: RequestTrace, sizes: [UInt32]?) -> HitRatio {
    switch policy {
    case .fifo: replay(FirstInFirstOut(), capacity, trace, sizes)
    case .lru: replay(LeastRecentlyUsed(), capacity, trace, sizes)
    case .clock: replay(SecondChance(), capacity, trace, sizes)
    case .sieve: replay(Sieve(), capacity, trace, sizes)
    case .s3fifo: replay(S3FIFO(), capacity, trace, sizes)
    case .twoQueue: replay(TwoQueue(), capacity, trace, sizes)
    case .arc: replay(AdaptiveReplacement(), capacity, trace, sizes)
    case .wtinylfu: replay(WindowTinyLFU(), capacity, trace, sizes)
    case .adaptive: replay(AdaptivePolicy(), capacity, trace, sizes)
    case .optimum:
      sizes.map { Optimum(trace).simulate(capacity: capacity, $0) } ?? Optimum(trace).simulate(capacity: capacity)
    }
  }

  private static func replay(
    _ policy: consuming some EvictionPolicy, _ capacity: Int, _ trace: RequestTrace, _ sizes: [UInt32]?
  ) -> HitRatio {
    if let sizes { return simulate(policy, capacity, trace, sizes) }
    return simulate(policy, capacity, trace)
  }

  /// Policies order slots; a key that is held has the slot that was free when it came.
  private static func simulate(_ policy: consuming some EvictionPolicy, _ capacity: Int, _ trace: RequestTrace)
    -> HitRatio
  {
    var policy = policy
    var slots = ContiguousArray<Int32>(repeating: -1, count: trace.distinct)
    var keys: ContiguousArray<UInt32> = []
    var hits = 0
    for key in trace.keys {
      let slot = slots[Int(key)]
      guard slot < 0 else {
        hits += 1
        policy.touched(slot)
        continue
      }
      policy.arriving(key)
      var free = Int32(keys.count)
      if keys.count == capacity, let victim = policy.evict() {
        slots[Int(keys[Int(victim)])] = -1
        keys[Int(victim)] = key
        free = victim
      } else {
        keys.append(key)
      }
      slots[Int(key)] = free
      policy.inserted(free, hash: key)
    }
    return HitRatio(hits: hits, requests: trace.keys.count)
  }
}
