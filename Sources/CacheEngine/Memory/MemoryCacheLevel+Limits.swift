public import CacheCore

/// Limits that change while a level is in use, and entries that are exempt from them.
///
/// ```swift
/// memory.pin("current user")
/// memory.resize(capacity: 4 << 20)  // in the background
/// ```
extension MemoryCacheLevel {
  /// Changes the maximum total cost of the entries.
  ///
  /// - Parameter capacity: The new limit. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(capacity: Int) { resize(Self.checked(capacity), nil) }

  /// Changes the maximum number of entries.
  ///
  /// - Parameter countLimit: The new limit; `nil` for none. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(countLimit: Int?) { resize(nil, Self.checked(countLimit ?? .max)) }

  /// Changes both limits in one step.
  ///
  /// If a limit shrinks, entries leave until it holds, all of them before this returns: first those that have expired, then those
  /// that the ``Eviction`` chooses. These are counted and reported like any other evictions, with no key that they made room for.
  /// Pinned entries stay, even if they alone exceed the limits; nothing else is kept then, until they are unpinned. If a
  /// limit grows, nothing leaves. Other callers wait while entries leave, unless the level is divided.
  ///
  /// - Parameters:
  ///   - capacity: The maximum total cost of the entries. At least 0.
  ///   - countLimit: The maximum number of entries; `nil` for no limit. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(capacity: Int, countLimit: Int?) {
    resize(Self.checked(capacity), Self.checked(countLimit ?? .max))
  }

  /// Protects the entry of a key from eviction, until it is unpinned or gone.
  ///
  /// It still expires, can be removed and cleared, and leaves with all others on a memory warning;
  /// then the pin is gone as well. A value that replaces it is pinned in its place. A pinned entry counts towards both limits:
  /// once everything is pinned and there is no room, a set of another key stores nothing, like one of a value whose cost is above
  /// the capacity.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there is an entry that has not expired; otherwise nothing is pinned.
  /// - Complexity: O(1) on average. An eviction that meets k pinned entries takes O(k), so pin few among many.
  @discardableResult
  public func pin(_ key: Key) -> Bool {
    let hash = hashing(key)
    let now = now
    return parts.withLock(of: hash) { entries, order in
      guard entries.holds(key, hash: hash, at: now), let slot = entries.table.find(key, hash: hash) else {
        return false
      }
      order.pin(slot, cost: entries.table.cost(of: slot))
      return true
    }
  }

  /// Makes the entry of a key evictable again; if the limits are exceeded, entries are evicted at once.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether it was pinned.
  @discardableResult
  public func unpin(_ key: Key) -> Bool {
    let hash = hashing(key)
    let wasPinned = parts.withLock(of: hash) { entries, order in
      guard let slot = entries.table.find(key, hash: hash) else { return false }
      return order.unpin(slot, cost: entries.table.cost(of: slot))
    }
    if wasPinned { resize(nil, nil) }
    return wasPinned
  }

  /// Whether the entry of a key is pinned.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether it is.
  public func isPinned(_ key: Key) -> Bool {
    let hash = hashing(key)
    let now = now
    return parts.withLock(of: hash) { entries, order in
      guard let slot = entries.table.find(key, hash: hash) else { return false }
      return order.pins.contains(slot) && !entries.isOver(slot, keepsExpired: keepsExpired, now: now)
    }
  }

  private func resize(_ capacity: Int?, _ countLimit: Int?) {
    let past = now
    var departed = Departed<Key, Value>()
    var isFirst = true
    parts.withAll { entries, order in
      guard let shared = order.shared else {
        order.capacity = capacity ?? order.capacity
        order.countLimit = countLimit ?? order.countLimit
        entries.shrink(now: past, keepsExpired: keepsExpired, order: &order, departed: &departed)
        return
      }
      if isFirst { shared.resize(capacity: capacity, countLimit: countLimit) }
      isFirst = false
    }
    shrink(now: past, departed: &departed)
    if removalListener != nil { report(departed, now: past) }
  }

  /// Takes entries out of the parts of a divided level, of each in turn, until both limits hold.
  private func shrink(now: CacheInstant, departed: inout Departed<Key, Value>) {
    var isOver = true
    while isOver {
      isOver = false
      parts.withEach { entries, order in
        guard order.shared != nil else { return true }
        let before = entries.table.count
        entries.shrink(
          now: now, keepsExpired: keepsExpired, order: &order, departed: &departed, most: before / 8 + 1)
        if entries.table.count < before { isOver = true }
        return false
      }
    }
  }

  /// Lets entries of a divided level leave for one that its part alone has no room for; not the one that it takes the place of.
  @usableFromInline
  func makeRoom(cost: Int, count: Int, for key: Key, _ hash: UInt32, now: CacheInstant) {
    var departed = Departed<Key, Value>()
    var hasLeft = true
    while hasLeft {
      hasLeft = false
      var hasRoom = false
      parts.withEach(after: parts.number(of: hash) - 1) { entries, order in
        guard let shared = order.shared else { return true }
        let present = entries.table.find(key, hash: hash)
        var steps = entries.table.count / 8 + 1
        while steps > 0, !shared.hasRoom(cost: cost, count: count), let victim = order.evict(sparing: present) {
          departed.append(entries.takeOut(victim.slot, hash: victim.hash, order: &order))
          order.evictions &+= 1
          order.settle(count: entries.table.count)
          (steps, hasLeft) = (steps - 1, true)
        }
        hasRoom = shared.hasRoom(cost: cost, count: count)
        return hasRoom
      }
      if hasRoom { break }
    }
    if removalListener != nil { report(departed, now: now, madeRoomFor: key) }
  }

  private static func checked(_ limit: Int) -> Int {
    precondition(limit >= 0, "a limit cannot be negative")
    return limit
  }
}

extension MemoryEntries {
  /// Takes out entries until both limits hold, or only pinned ones are left.
  mutating func shrink(
    now: CacheInstant, keepsExpired: Duration, order: inout MemoryOrder, departed: inout Departed<Key, Value>,
    most: Int = .max
  ) {
    guard order.isOver(count: table.count) else { return }
    if order.wheel.count > 0 {
      for record in removeDue(now: now, keepsExpired: keepsExpired, order: &order) { departed.append(record) }
    }
    var steps = most
    order.settle(count: table.count)
    while steps > 0, order.isOver(count: table.count), let victim = order.evict() {
      departed.append(takeOut(victim.slot, hash: victim.hash, order: &order))
      order.evictions &+= 1
      order.settle(count: table.count)
      steps -= 1
    }
  }
}
