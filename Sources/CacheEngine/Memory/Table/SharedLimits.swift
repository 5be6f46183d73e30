import Synchronization

/// What the parts of a divided level may hold together.
///
/// Each part has as much of it as its entries need and no more. So the limits hold for all of them at every moment, with no sum to
/// be made, and a part that lets one entry go for another asks nobody.
///
/// Not an object, whose references threads that write in different parts would count in one line of the processor's cache. Who
/// makes it frees it, once no part is left.
@usableFromInline
@safe
struct SharedLimits: @unchecked Sendable {  // its amounts are atomic
  @usableFromInline
  struct Amounts: ~Copyable {
    let capacity = Atomic(0)
    let countLimit = Atomic(0)
    /// What no part has; less than zero after a limit got lower, until enough has left.
    let spareCost = Atomic(0)
    let spareCount = Atomic(0)
    let pinnedCost = Atomic(0)
    let pinnedCount = Atomic(0)
  }

  @usableFromInline let amounts: UnsafeMutablePointer<Amounts>

  /// Nothing may be held until ``resize(capacity:countLimit:)``.
  init() {
    unsafe amounts = .allocate(capacity: 1)
    unsafe amounts.initialize(to: Amounts())
  }

  @usableFromInline
  func free() {
    unsafe amounts.deinitialize(count: 1)
    unsafe amounts.deallocate()
  }

  /// Takes both or nothing.
  func take(cost: Int, count: Int) -> Bool {
    guard unsafe Self.take(cost, from: amounts.pointee.spareCost) else { return false }
    if unsafe Self.take(count, from: amounts.pointee.spareCount) { return true }
    give(cost: cost, count: 0)
    return false
  }

  private static func take(_ amount: Int, from spare: borrowing Atomic<Int>) -> Bool {
    guard amount > 0 else { return true }
    var present = spare.load(ordering: .relaxed)
    while present >= amount {
      let (isTaken, original) = spare.weakCompareExchange(
        expected: present, desired: present - amount, ordering: .relaxed)
      if isTaken { return true }
      present = original
    }
    return false
  }

  func give(cost: Int, count: Int) {
    if cost != 0 { unsafe amounts.pointee.spareCost.add(cost, ordering: .relaxed) }
    if count != 0 { unsafe amounts.pointee.spareCount.add(count, ordering: .relaxed) }
  }

  @usableFromInline
  func pin(cost: Int, count: Int) {
    unsafe amounts.pointee.pinnedCost.add(cost, ordering: .relaxed)
    unsafe amounts.pointee.pinnedCount.add(count, ordering: .relaxed)
  }

  var hasPins: Bool { unsafe amounts.pointee.pinnedCount.load(ordering: .relaxed) > 0 }

  /// Whether an entry of this cost fits once all have left that may.
  @usableFromInline
  func canHold(_ cost: Int, count: Int) -> Bool {
    let (capacity, countLimit) = limits
    let pinned = unsafe amounts.pointee.pinnedCost.load(ordering: .relaxed)
    let pins = unsafe amounts.pointee.pinnedCount.load(ordering: .relaxed)
    return cost <= capacity - pinned && pins + count <= countLimit
  }

  /// Whether there is so much that no part has.
  func hasRoom(cost: Int, count: Int) -> Bool {
    let spare = spare
    return spare.cost >= cost && spare.count >= count
  }

  /// Whether more is held than may be.
  var isOver: Bool { spare.cost < 0 || spare.count < 0 }

  var limits: (capacity: Int, countLimit: Int) {
    unsafe (amounts.pointee.capacity.load(ordering: .relaxed), amounts.pointee.countLimit.load(ordering: .relaxed))
  }

  /// What no part has.
  var spare: (cost: Int, count: Int) {
    unsafe (amounts.pointee.spareCost.load(ordering: .relaxed), amounts.pointee.spareCount.load(ordering: .relaxed))
  }

  /// Changes the limits; who does so has the locks of all parts.
  @usableFromInline
  func resize(capacity newCapacity: Int?, countLimit newCountLimit: Int?) {
    if let newCapacity {
      let old = unsafe amounts.pointee.capacity.exchange(newCapacity, ordering: .relaxed)
      give(cost: newCapacity - old, count: 0)
    }
    if let newCountLimit {
      let old = unsafe amounts.pointee.countLimit.exchange(newCountLimit, ordering: .relaxed)
      give(cost: 0, count: newCountLimit - old)
    }
  }
}
