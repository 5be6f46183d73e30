import CacheCore

/// Evicts what is needed again last, which only a simulation can know.
///
/// L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5(2), 1966 (MIN).
/// Every miss is stored, as with the other policies. Unchanged.
struct Optimum {
  private let trace: RequestTrace
  /// For every request the position of the next one of the same key; beyond the end for none.
  private let following: ContiguousArray<Int64>

  /// Looks ahead once, for simulations at any number of capacities.
  init(_ trace: RequestTrace) {
    self.trace = trace
    following = Self.nextUses(trace)
  }

  func simulate(capacity: Int) -> HitRatio {
    /// When each key that is held is needed again; -1 for a key that is not held.
    var needed = ContiguousArray<Int64>(repeating: -1, count: trace.distinct)
    var queue = LatestFirst()
    var (hits, count) = (0, 0)
    for (position, key) in trace.keys.enumerated() {
      if needed[Int(key)] >= 0 {
        hits += 1
      } else if count < capacity {
        count += 1
      } else {
        // What was needed in between is in the queue more than once; only its latest place counts.
        while let latest = queue.popLatest() {
          guard needed[Int(latest.key)] == latest.time else { continue }
          needed[Int(latest.key)] = -1
          break
        }
      }
      needed[Int(key)] = following[position]
      queue.insert(key, time: following[position])
      // Which one leaves of those that are never needed again does not matter, so neither does their order.
      if queue.isLong(for: count) { queue.keep { needed[Int($0.key)] == $0.time } }
    }
    return HitRatio(hits: hits, requests: trace.keys.count)
  }

  /// The same where entries weigh their sizes; what is heavier than the capacity is not stored.
  func simulate(capacity: Int, _ sizes: [UInt32]) -> HitRatio {
    var needed = ContiguousArray<Int64>(repeating: -1, count: trace.distinct)
    var weights = ContiguousArray<Int>(repeating: 0, count: trace.distinct)
    var queue = LatestFirst()
    var (hits, used, count) = (0, 0, 0)
    for (position, key) in trace.keys.enumerated() {
      if needed[Int(key)] >= 0 {
        hits += 1
      } else {
        let size = Int(sizes[position])
        guard size <= capacity else { continue }
        while used + size > capacity, let latest = queue.popLatest() {
          guard needed[Int(latest.key)] == latest.time else { continue }
          needed[Int(latest.key)] = -1
          used -= weights[Int(latest.key)]
          count -= 1
        }
        used += size
        count += 1
        weights[Int(key)] = size
      }
      needed[Int(key)] = following[position]
      queue.insert(key, time: following[position])
      if queue.isLong(for: count) { queue.keep { needed[Int($0.key)] == $0.time } }
    }
    return HitRatio(hits: hits, requests: trace.keys.count)
  }

  private static func nextUses(_ trace: RequestTrace) -> ContiguousArray<Int64> {
    var next = ContiguousArray(repeating: Int64(trace.keys.count), count: trace.distinct)
    var following = ContiguousArray<Int64>(repeating: 0, count: trace.keys.count)
    for position in trace.keys.indices.reversed() {
      let key = Int(trace.keys[position])
      following[position] = next[key]
      next[key] = Int64(position)
    }
    return following
  }
}

/// A binary heap of keys, the one that is needed last on top.
private struct LatestFirst {
  typealias Item = (time: Int64, key: UInt32)

  private var heap: ContiguousArray<Item> = []

  /// Whether most of it cannot count any more, where so many keys are held.
  func isLong(for count: Int) -> Bool { heap.count > max(1_024, 4 * count) }

  mutating func insert(_ key: UInt32, time: Int64) {
    heap.append((time, key))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[parent].time < heap[child].time else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  mutating func popLatest() -> Item? {
    guard let top = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return top }
    heap[0] = last
    sink(from: 0)
    return top
  }

  /// Leaves out what is not worth keeping any more.
  mutating func keep(_ isWanted: (Item) -> Bool) {
    heap.removeAll { !isWanted($0) }
    for parent in (0..<heap.count / 2).reversed() { sink(from: parent) }
  }

  private mutating func sink(from place: Int) {
    var parent = place
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, heap[child + 1].time > heap[child].time { child += 1 }
      guard heap[child].time > heap[parent].time else { return }
      heap.swapAt(parent, child)
      parent = child
    }
  }
}
