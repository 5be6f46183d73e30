import CacheCore

/// A cache of hashes that tells what a division would be worth.
///
/// A hash table with chains over the slots of a ``WindowedOrder``, which is told of uses era by era as that of the cache is:
/// told of every use, it would take what comes twice in a row for what comes back.
struct Miniature: Sendable {
  private static let buckets = 512

  private var order: WindowedOrder
  /// The first slot of each bucket, and the next slot of the same bucket; -1 for none.
  private let first = UnsharedArray<Int32>(repeating: -1, count: Miniature.buckets)
  private let next = UnsharedArray<Int32>(repeating: -1, count: 0)
  /// How many slots have been used.
  private var used: Int32 = 0
  private var free: ContiguousArray<Int32> = []
  private let eras = SlotUses()

  init(_ division: Division) { order = WindowedOrder(division, hasGhosts: division.admitsGhosts) }

  /// Asks for a hash and stores it if it is not there; says whether it was.
  mutating func request(
    _ hash: UInt32, _ mixed: UInt64, size: Int, _ sketch: borrowing FrequencySketch
  ) -> Bool {
    if let slot = find(hash, mixed) {
      if eras.isOld(slot) {
        order.touched(slot)
        eras.renew(slot)
      }
      return true
    }
    if !order.isFull, order.count >= size { order.fill() }
    let isReturning = order.forgetGhost(mixed)
    var slot: Int32?
    while order.count >= size, let (victim, _) = order.evict(of: order.rivals, sketch) {
      unchain(victim)
      if let slot { free.append(slot) }
      slot = victim
    }
    insert(hash, mixed, into: slot, isReturning: isReturning)
    return false
  }

  /// Stores a hash that was used so often while there was room.
  mutating func admit(_ hash: UInt32, uses: UInt8) {
    let mixed = FrequencySketch.mix(hash)
    guard find(hash, mixed) == nil else { return }
    let slot = insert(hash, mixed, into: nil, isReturning: false)
    if uses > 0 { order.touched(slot) }
  }

  private func find(_ hash: UInt32, _ mixed: UInt64) -> Int32? {
    var slot = first[Self.bucket(mixed)]
    while slot >= 0 {
      if order.hash(slot) == hash { return slot }
      slot = next[Int(slot)]
    }
    return nil
  }

  @discardableResult
  private mutating func insert(_ hash: UInt32, _ mixed: UInt64, into slot: Int32?, isReturning: Bool) -> Int32 {
    let slot = slot ?? free.popLast() ?? used
    if slot == used {
      used += 1
      next.grow(to: Int(used), repeating: -1)
    }
    let bucket = Self.bucket(mixed)
    next[Int(slot)] = first[bucket]
    first[bucket] = slot
    order.inserted(slot, hash: hash, isReturning: isReturning)
    eras.insert(slot, count: order.count, fewest: AdaptivePolicy.fewest)
    return slot
  }

  private mutating func unchain(_ slot: Int32) {
    let bucket = Self.bucket(FrequencySketch.mix(order.hash(slot)))
    if first[bucket] == slot {
      first[bucket] = next[Int(slot)]
    } else {
      var before = first[bucket]
      while next[Int(before)] != slot { before = next[Int(before)] }
      next[Int(before)] = next[Int(slot)]
    }
  }

  private static func bucket(_ mixed: UInt64) -> Int {
    Int(truncatingIfNeeded: mixed >> 8) & (buckets - 1)
  }

  #if DEBUG
  var flaw: String? {
    let held = Set(0..<used).subtracting(free)
    for slot in held where find(order.hash(slot), FrequencySketch.mix(order.hash(slot))) != slot {
      return "slot \(slot) of a miniature is not found"
    }
    return order.flaw(holding: held)
  }
  #endif
}
