public import CacheCore

/// In what order entries of a memory level leave, how much they weigh, and how much they may: it knows slots only.
@usableFromInline
struct MemoryOrder: ReadOrder {
  @usableFromInline var policy: ChosenPolicy
  @usableFromInline var wheel = TimingWheel()
  @usableFromInline var cost = 0
  @usableFromInline var capacity: Int
  @usableFromInline var countLimit: Int
  /// The slots whose entries leave for no limit, and what these weigh; they stay in the policy's order all the same.
  @usableFromInline private(set) var pins: Set<Int32> = []
  @usableFromInline private(set) var pinnedCost = 0
  @usableFromInline var stored = 0
  @usableFromInline var evictions = 0
  @usableFromInline var expirations = 0

  init(capacity: Int, countLimit: Int?, eviction: Eviction) {
    policy = ChosenPolicy(eviction)
    self.capacity = capacity
    self.countLimit = countLimit ?? .max
  }

  @inlinable
  mutating func touched(_ slot: Int32) { policy.touched(slot) }

  @inlinable var hasDeadlines: Bool { wheel.count > 0 }

  /// Whether another entry of this cost asks for others to leave.
  @inlinable
  func isFull(for cost: Int, count: Int) -> Bool { self.cost > capacity - cost || count >= countLimit }

  /// Whether an entry of this cost fits once all have left that may.
  @inlinable
  func canHold(_ cost: Int) -> Bool { cost <= capacity - pinnedCost && pins.count < countLimit }

  /// Whether more is held than may be.
  func isOver(count: Int) -> Bool { cost > capacity || count > countLimit }

  /// Lets no limit make an entry leave.
  @usableFromInline
  mutating func pin(_ slot: Int32, cost: Int) {
    if pins.insert(slot).inserted { pinnedCost += cost }
  }

  /// Lets limits make an entry leave again.
  @usableFromInline
  mutating func unpin(_ slot: Int32, cost: Int) -> Bool {
    guard pins.remove(slot) != nil else { return false }
    pinnedCost -= cost
    return true
  }

  /// Notes an entry that a table has taken in.
  @usableFromInline
  mutating func inserted(_ slot: Int32, hash: UInt32, cost: Int, due: CacheInstant?, now: CacheInstant) {
    policy.inserted(slot, hash: hash)
    self.cost += cost
    stored &+= 1
    if due != nil { wheel.schedule(slot, at: due, now: now) }
  }

  /// Notes that the entry in a slot was overwritten, which is a use.
  @usableFromInline
  mutating func overwritten(_ slot: Int32, addedCost: Int, due: CacheInstant?, now: CacheInstant) {
    policy.touched(slot)
    cost += addedCost
    if !pins.isEmpty, pins.contains(slot) { pinnedCost += addedCost }
    stored &+= 1
    if due != nil || wheel.count > 0 { wheel.schedule(slot, at: due, now: now) }
  }

  /// Chooses the entry that leaves when room is needed, and says with which hash it came.
  @usableFromInline
  mutating func evict() -> (slot: Int32, hash: UInt32)? {
    guard let slot = policy.evict() else { return nil }
    let victim = (slot, policy.hash(slot))
    return pins.isEmpty || !pins.contains(slot) ? victim : evictInstead(of: victim)
  }

  /// Goes on until an entry may leave, and puts those back that may not, as if they came now.
  private mutating func evictInstead(of pinned: (slot: Int32, hash: UInt32)) -> (slot: Int32, hash: UInt32)? {
    var passed = [pinned]
    var victim: (slot: Int32, hash: UInt32)?
    while victim == nil, let slot = policy.evict() {
      let next = (slot, policy.hash(slot))
      if pins.contains(slot) { passed.append(next) } else { victim = next }
    }
    for (slot, hash) in passed { policy.inserted(slot, hash: hash) }
    return victim
  }

  /// Takes out of the wheel an entry whose time is over, as ``TimingWheel`` does, and says with which hash it came.
  @usableFromInline
  mutating func popDue(
    now: CacheInstant, steps: inout Int, deadline: (Int32) -> CacheInstant
  ) -> (slot: Int32, hash: UInt32)? {
    guard let slot = wheel.popDue(now: now, steps: &steps, deadline: deadline) else { return nil }
    return (slot, policy.hash(slot))
  }

  /// Notes that an entry leaves which the policy chose.
  @inlinable
  mutating func evicted(_ slot: Int32, cost: Int) {
    self.cost -= cost
    if !pins.isEmpty { _ = unpin(slot, cost: cost) }
    if wheel.count > 0 { wheel.cancel(slot) }
  }

  /// Everything has left; what the policy knew is handed over.
  mutating func empty() -> ChosenPolicy {
    let old = policy
    policy = policy.emptied
    wheel = TimingWheel()
    cost = 0
    pins = []
    pinnedCost = 0
    return old
  }
}
