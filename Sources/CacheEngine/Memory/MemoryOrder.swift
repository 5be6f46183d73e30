public import CacheCore

/// In what order entries of a memory level leave, how much they weigh, and how much they may: it knows slots only.
@usableFromInline
struct MemoryOrder: ReadOrder {
  @usableFromInline var policy: ChosenPolicy
  @usableFromInline var wheel = TimingWheel()
  @usableFromInline var cost = 0
  @usableFromInline let capacity: Int
  @usableFromInline let countLimit: Int
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
    stored &+= 1
    if due != nil || wheel.count > 0 { wheel.schedule(slot, at: due, now: now) }
  }

  /// Chooses the entry that leaves when room is needed, and says with which hash it came.
  @usableFromInline
  mutating func evict() -> (slot: Int32, hash: UInt32)? {
    guard let slot = policy.evict() else { return nil }
    return (slot, policy.hash(slot))
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
    if wheel.count > 0 { wheel.cancel(slot) }
  }

  /// Everything has left; what the policy knew is handed over.
  mutating func empty() -> ChosenPolicy {
    let old = policy
    policy = policy.emptied
    wheel = TimingWheel()
    cost = 0
    return old
  }
}
