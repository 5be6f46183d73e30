import Synchronization

/// What the parts of a divided level may hold together.
///
/// Each part has as much of it as its entries need and no more. So the limits hold for all of them at every moment, with no sum to
/// be made, and a part that lets one entry go for another asks nobody.
@usableFromInline
final class SharedLimits: Sendable {
  private let capacity: Atomic<Int>
  private let countLimit: Atomic<Int>
  /// What no part has; less than zero after a limit got lower, until enough has left.
  private let spareCost: Atomic<Int>
  private let spareCount: Atomic<Int>
  private let pinnedCost = Atomic(0)
  private let pinnedCount = Atomic(0)

  /// Shares out nothing yet.
  @usableFromInline
  init(capacity: Int, countLimit: Int) {
    self.capacity = Atomic(capacity)
    self.countLimit = Atomic(countLimit)
    spareCost = Atomic(capacity)
    spareCount = Atomic(countLimit)
  }

  /// Takes both or nothing.
  func take(cost: Int, count: Int) -> Bool {
    guard Self.take(cost, from: spareCost) else { return false }
    if Self.take(count, from: spareCount) { return true }
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
    if cost != 0 { spareCost.add(cost, ordering: .relaxed) }
    if count != 0 { spareCount.add(count, ordering: .relaxed) }
  }

  @usableFromInline
  func pin(cost: Int, count: Int) {
    pinnedCost.add(cost, ordering: .relaxed)
    pinnedCount.add(count, ordering: .relaxed)
  }

  var hasPins: Bool { pinnedCount.load(ordering: .relaxed) > 0 }

  /// Whether an entry of this cost fits once all have left that may.
  @usableFromInline
  func canHold(_ cost: Int, count: Int) -> Bool {
    cost <= capacity.load(ordering: .relaxed) - pinnedCost.load(ordering: .relaxed)
      && pinnedCount.load(ordering: .relaxed) + count <= countLimit.load(ordering: .relaxed)
  }

  /// Whether there is so much that no part has.
  func hasRoom(cost: Int, count: Int) -> Bool {
    spareCost.load(ordering: .relaxed) >= cost && spareCount.load(ordering: .relaxed) >= count
  }

  /// Whether more is held than may be.
  var isOver: Bool { spareCost.load(ordering: .relaxed) < 0 || spareCount.load(ordering: .relaxed) < 0 }

  var limits: (capacity: Int, countLimit: Int) {
    (capacity.load(ordering: .relaxed), countLimit.load(ordering: .relaxed))
  }

  /// What no part has.
  var spare: (cost: Int, count: Int) {
    (spareCost.load(ordering: .relaxed), spareCount.load(ordering: .relaxed))
  }

  /// Changes the limits; who does so has the locks of all parts.
  func resize(capacity newCapacity: Int?, countLimit newCountLimit: Int?) {
    if let newCapacity {
      give(cost: newCapacity - capacity.exchange(newCapacity, ordering: .relaxed), count: 0)
    }
    if let newCountLimit {
      give(cost: 0, count: newCountLimit - countLimit.exchange(newCountLimit, ordering: .relaxed))
    }
  }
}
