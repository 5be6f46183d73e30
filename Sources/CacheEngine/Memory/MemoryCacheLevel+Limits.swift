import CacheCore

/// Limits that change while a level is used, and entries that they do not concern.
///
/// ```swift
/// memory.pin("current user")
/// memory.resize(capacity: 4 << 20)  // in the background
/// ```
extension MemoryCacheLevel {
  /// Changes the most that the entries may cost together.
  ///
  /// - Parameter capacity: The new limit. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(capacity: Int) { resize { $0.capacity = Self.checked(capacity) } }

  /// Changes the most entries that there may be.
  ///
  /// - Parameter countLimit: The new limit; `nil` for none. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(countLimit: Int?) { resize { $0.countLimit = Self.checked(countLimit ?? .max) } }

  /// Changes both limits at one moment.
  ///
  /// Where a limit gets lower, entries leave until it holds, all of them before this returns: first those that have expired,
  /// then what the ``Eviction`` chooses, counted and told of as in any other eviction, with no key that they made room for.
  /// Pinned entries stay, even if they alone are more than fits; nothing else is kept then, until they are unpinned. Where a
  /// limit gets higher, nothing leaves. Others wait while entries leave.
  ///
  /// - Parameters:
  ///   - capacity: The most that the entries may cost together. At least 0.
  ///   - countLimit: The most entries that there may be; `nil` for no limit. At least 0.
  /// - Complexity: O(k) for k entries that leave.
  public func resize(capacity: Int, countLimit: Int?) {
    resize {
      $0.capacity = Self.checked(capacity)
      $0.countLimit = Self.checked(countLimit ?? .max)
    }
  }

  /// Keeps the entry of a key from being evicted, until it is unpinned or gone.
  ///
  /// No limit makes it leave. It still expires, can be removed and cleared, and leaves with all others at a memory warning;
  /// then the pin is gone as well. A value that is stored over it is pinned in its place. A pinned entry counts in both limits:
  /// where all that is held is pinned and there is no room, a set of another key keeps nothing, as one that is heavier than the
  /// capacity does.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there is an entry that has not expired; else nothing is pinned.
  /// - Complexity: O(1) on average. An eviction that meets k pinned entries takes O(k), so pin few among many.
  @discardableResult
  public func pin(_ key: Key) -> Bool {
    let hash = hashing(key)
    let now = now
    return state.withLock { entries, order in
      guard entries.holds(key, hash: hash, at: now), let slot = entries.table.find(key, hash: hash) else {
        return false
      }
      order.pin(slot, cost: entries.table.cost(of: slot))
      return true
    }
  }

  /// Lets the entry of a key be evicted again; where more is held than may be, entries leave at once.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether it was pinned.
  @discardableResult
  public func unpin(_ key: Key) -> Bool {
    let hash = hashing(key)
    let wasPinned = state.withLock { entries, order in
      guard let slot = entries.table.find(key, hash: hash) else { return false }
      return order.unpin(slot, cost: entries.table.cost(of: slot))
    }
    if wasPinned { resize { _ in } }
    return wasPinned
  }

  /// Whether the entry of a key is pinned.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether it is.
  public func isPinned(_ key: Key) -> Bool {
    let hash = hashing(key)
    return state.withLock { entries, order in
      entries.table.find(key, hash: hash).map { order.pins.contains($0) } ?? false
    }
  }

  private func resize(_ change: (inout MemoryOrder) -> Void) {
    let past = now
    let departed = state.withLock { entries, order in
      change(&order)
      var departed = Departed<Key, Value>()
      entries.shrink(now: past, keepsExpired: keepsExpired, order: &order, departed: &departed)
      return departed
    }
    if removalListener != nil { report(departed, now: past) }
  }

  private static func checked(_ limit: Int) -> Int {
    precondition(limit >= 0, "a limit cannot be negative")
    return limit
  }
}

extension MemoryEntries {
  /// Takes out entries until both limits hold, or only pinned ones are left.
  mutating func shrink(
    now: CacheInstant, keepsExpired: Duration, order: inout MemoryOrder, departed: inout Departed<Key, Value>
  ) {
    guard order.isOver(count: table.count) else { return }
    if order.wheel.count > 0 {
      for record in removeDue(now: now, keepsExpired: keepsExpired, order: &order) { departed.append(record) }
    }
    while order.isOver(count: table.count), let victim = order.evict() {
      departed.append(takeOut(victim.slot, hash: victim.hash, order: &order))
      order.evictions &+= 1
    }
  }
}
