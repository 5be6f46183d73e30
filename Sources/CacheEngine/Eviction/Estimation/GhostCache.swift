/// A cache of hashes without values, as large as the sampled share of a real one.
struct GhostCache: Sendable {
  typealias Table = SlotTable<UInt64, Int>

  let eviction: Eviction
  /// How large the cache is that it stands for.
  let fullCapacity: Int
  /// How large it is itself.
  private(set) var capacity: Double
  private(set) var cost = 0
  /// The misses of each group of keys since the last restart.
  private(set) var misses: [Double]
  private var policy: ChosenPolicy
  private var table = Table()

  init(eviction: Eviction, capacity: Int, rate: Double, groups: Int) {
    self.eviction = eviction
    fullCapacity = capacity
    self.capacity = Double(capacity) * rate
    misses = Array(repeating: 0, count: groups)
    policy = ChosenPolicy(eviction)
  }

  var count: Int { table.count }

  mutating func request(_ key: UInt64, cost newCost: Int, group: Int) {
    let hash = UInt32(truncatingIfNeeded: key >> 32)
    if let slot = table.find(key, hash: hash) {
      policy.touched(slot)
      return
    }
    misses[group] += 1
    // What the real cache would refuse is refused here. What is merely too heavy for the sample gets the room of all.
    guard newCost <= fullCapacity else { return }
    policy.arriving(hash)
    while Double(cost + newCost) > capacity, let victim = policy.evict() { take(victim) }
    cost += newCost
    policy.inserted(table.insert(key, hash: hash, payload: newCost), hash: hash)
  }

  mutating func remove(_ key: UInt64) {
    guard let slot = table.find(key, hash: UInt32(truncatingIfNeeded: key >> 32)) else { return }
    policy.removed(slot)
    take(slot)
  }

  mutating func removeAll() {
    policy = policy.emptied
    table = Table()
    cost = 0
  }

  /// Keeps one half of the sample.
  mutating func halve(where isKept: (UInt64) -> Bool) {
    capacity /= 2
    for key in table.slots.compactMap({ $0?.key }) where !isKept(key) { remove(key) }
    restart()
  }

  /// Counts anew, and forgets nothing.
  mutating func restart() { misses = misses.map { _ in 0 } }

  private mutating func take(_ slot: Int32) {
    guard let key = table.slots[Int(slot)]?.key else { return }
    cost -= table.remove(slot, hash: UInt32(truncatingIfNeeded: key >> 32))?.payload ?? 0
  }
}
