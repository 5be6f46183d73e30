public import CacheCore

/// In what order entries of a memory level leave, how much they weigh, and how much they may: it knows slots only.
@usableFromInline
struct MemoryOrder: ReadOrder {
  /// In front, as what every set changes.
  @usableFromInline var stored = 0
  @usableFromInline var policy: ChosenPolicy
  @usableFromInline var wheel = TimingWheel()
  @usableFromInline var cost = 0
  /// Of a part, the share that it has now.
  @usableFromInline var capacity: Int
  @usableFromInline var countLimit: Int
  /// The entries with which a level is divided; the most there are if it never is.
  @usableFromInline var mostUndivided = Int.max
  /// Where a part gets more from; `nil` in a level that is whole.
  @usableFromInline var shared: SharedLimits?
  /// The slots whose entries leave for no limit, and what these weigh; they stay in the policy's order all the same.
  @usableFromInline private(set) var pins: Set<Int32> = []
  @usableFromInline private(set) var pinnedCost = 0
  @usableFromInline var evictions = 0
  @usableFromInline var expirations = 0

  init(capacity: Int, countLimit: Int?, eviction: Eviction, mostUndivided: Int) {
    policy = ChosenPolicy(eviction)
    self.mostUndivided = mostUndivided
    self.capacity = capacity
    self.countLimit = countLimit ?? .max
  }

  /// The order of a part, with nothing in it.
  @usableFromInline
  init(partOf whole: MemoryOrder, sharing limits: SharedLimits) {
    policy = whole.policy.emptied
    capacity = 0
    countLimit = 0
    shared = limits
  }

  @inlinable
  @inline(__always)
  mutating func touched(_ slot: Int32) { policy.touched(slot) }

  @inlinable var hasDeadlines: Bool { wheel.count > 0 }

  /// Whether another entry of this cost asks for others to leave.
  @inlinable
  @inline(__always)
  mutating func isFull(for cost: Int, count: Int) -> Bool {
    guard self.cost > capacity - cost || count >= countLimit else { return false }
    return shared == nil || !takeMore(cost: cost - (capacity - self.cost), count: count + 1 - countLimit)
  }

  /// Whether an entry of one cost fits, with no more from other parts, once one of another cost has left.
  @inlinable
  func hasRoom(for cost: Int, inPlaceOf leaving: Int, count: Int) -> Bool {
    self.cost - leaving <= capacity - cost && count <= countLimit
  }

  /// Whether an entry may weigh so much more, with nothing leaving for it.
  @inlinable
  mutating func canGrow(by added: Int) -> Bool {
    if added <= 0 || cost <= capacity - added { return true }
    return shared != nil && takeMore(cost: added - (capacity - cost), count: 0)
  }

  /// Whether an entry of this cost, or so much more of one that is there, fits once all have left that may.
  @inlinable
  func canHold(_ cost: Int, count: Int = 1) -> Bool {
    if let shared { return shared.canHold(cost, count: count) }
    return cost <= capacity - pinnedCost && pins.count + count <= countLimit
  }

  /// Whether anything is pinned, here or in another part.
  @usableFromInline var hasPins: Bool { shared?.hasPins ?? !pins.isEmpty }

  /// Whether more is held than may be.
  func isOver(count: Int) -> Bool { shared?.isOver ?? (cost > capacity || count > countLimit) }

  /// The limits of the level.
  var limits: (capacity: Int, countLimit: Int) {
    shared?.limits ?? (capacity, countLimit)
  }

  /// Whether this part alone would lose much of what it holds to an entry of this cost.
  @inlinable
  func isHeavy(_ cost: Int) -> Bool { shared != nil && cost > self.cost / 8 }

  @usableFromInline
  @inline(never)
  mutating func takeMore(cost: Int, count: Int) -> Bool {
    let (cost, count) = (max(0, cost), max(0, count))
    guard let shared, shared.take(cost: cost, count: count) else { return false }
    capacity += cost
    countLimit += count
    return true
  }

  /// Gives back to the other parts what this one does not need.
  @inlinable
  @inline(__always)
  mutating func settle(count: Int) {
    if shared != nil, capacity != cost || countLimit != count { giveBack(count: count) }
  }

  @usableFromInline
  @inline(never)
  mutating func giveBack(count: Int) {
    shared?.give(cost: capacity - cost, count: countLimit - count)
    capacity = cost
    countLimit = count
  }

  /// Lets no limit make an entry leave.
  @usableFromInline
  mutating func pin(_ slot: Int32, cost: Int) {
    guard pins.insert(slot).inserted else { return }
    pinnedCost += cost
    shared?.pin(cost: cost, count: 1)
  }

  /// Lets limits make an entry leave again.
  @usableFromInline
  mutating func unpin(_ slot: Int32, cost: Int) -> Bool {
    guard pins.remove(slot) != nil else { return false }
    pinnedCost -= cost
    shared?.pin(cost: -cost, count: -1)
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
    if !pins.isEmpty, pins.contains(slot) {
      pinnedCost += addedCost
      shared?.pin(cost: addedCost, count: 0)
    }
    stored &+= 1
    if due != nil || wheel.count > 0 { wheel.schedule(slot, at: due, now: now) }
  }

  /// Chooses the entry that leaves when room is needed, and says with which hash it came.
  @usableFromInline
  mutating func evict(sparing spared: Int32? = nil) -> (slot: Int32, hash: UInt32)? {
    guard let victim = takeNext() else { return nil }
    let mayLeave = pins.isEmpty || !pins.contains(victim.slot)
    return mayLeave && victim.slot != spared ? victim : evictInstead(of: victim, sparing: spared)
  }

  /// Takes out of the order what would leave next if nothing were pinned.
  @usableFromInline
  @inline(__always)
  mutating func takeNext() -> (slot: Int32, hash: UInt32)? {
    guard let slot = policy.evict() else { return nil }
    return (slot, policy.hash(slot))
  }

  /// Goes on until an entry may leave, and puts those back that may not, as if they came now.
  private mutating func evictInstead(
    of pinned: (slot: Int32, hash: UInt32), sparing spared: Int32?
  ) -> (slot: Int32, hash: UInt32)? {
    var passed = [pinned]
    var victim: (slot: Int32, hash: UInt32)?
    while victim == nil, let next = takeNext() {
      if pins.contains(next.slot) || next.slot == spared { passed.append(next) } else { victim = next }
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
    shared?.pin(cost: -pinnedCost, count: -pins.count)
    pins = []
    pinnedCost = 0
    return old
  }
}
