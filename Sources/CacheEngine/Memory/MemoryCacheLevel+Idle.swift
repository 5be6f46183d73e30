public import CacheCore

/// The end of entries that nobody reads.
extension MemoryCacheLevel {
  /// How long an entry may go unread before it expires; `nil` for no such limit.
  ///
  /// Every read that returns the value restarts this time: ``get(_:)``, ``lookup(_:)`` and ``peek(_:)``, which a composition
  /// asks first. So does a store; ``contains(_:)`` and ``contents()`` do not. Combined with a lifetime, the earlier end
  /// counts. With zero or less, every entry expires at once.
  ///
  /// The deadline of an entry is then the moment at which it expires unless it is read again, so a copy of it in a level
  /// above lives no longer than that. A hit costs a second look-up in such a level, and nothing in a level without.
  public var timeToIdle: Duration? { idleLimit }

  /// Notes the use of an entry that has not expired.
  ///
  /// - Returns: Its value; `nil` if it has expired, or left meanwhile.
  @inlinable
  @inline(never)
  func use(_ key: Key, hash: UInt32) -> Value? {
    let now = now
    return parts.read(of: hash) { entries in entries.use(key, hash: hash, now: now) }
  }
}

extension MemoryEntries {
  @inlinable
  func use(_ key: Key, hash: UInt32, now: CacheInstant) -> Value? {
    guard let idle, let slot = table.find(key, hash: hash) else { return nil }
    let entry = table[slot]
    guard idle.deadline(of: slot, storedDeadline: entry.storedDeadline) > now else { return nil }
    idle.use(slot, now: now)
    return entry.value
  }

  /// The time at which an entry leaves that has a deadline.
  @inlinable
  func due(_ slot: Int32, keepsExpired: Duration) -> CacheInstant {
    guard let idle else { return table.due(slot, keepsExpired: keepsExpired) }
    return idle.deadline(of: slot, storedDeadline: table[slot].storedDeadline).advanced(by: keepsExpired)
  }

  /// The time at which an entry leaves that is stored now.
  @inlinable
  func due(of entry: MemoryEntry<Value>, keepsExpired: Duration, now: CacheInstant) -> CacheInstant? {
    guard let idle else { return entry.deadline?.advanced(by: keepsExpired) }
    return min(entry.storedDeadline, now.advanced(by: idle.limit)).advanced(by: keepsExpired)
  }

  /// When an entry expires; `nil` for never.
  @inlinable
  func deadline(of slot: Int32) -> CacheInstant? {
    guard let idle else { return table.deadline(of: slot) }
    return idle.deadline(of: slot, storedDeadline: table[slot].storedDeadline)
  }

  /// Takes out of the wheel an entry whose time is over, and puts off those that were used since they were put there.
  @inlinable
  func popIdle(
    now: CacheInstant, keepsExpired: Duration, steps: inout Int, order: inout MemoryOrder
  ) -> (slot: Int32, hash: UInt32)? {
    while let due = order.popDue(now: now, steps: &steps, deadline: { self.due($0, keepsExpired: keepsExpired) }) {
      let end = self.due(due.slot, keepsExpired: keepsExpired)
      if end <= now { return due }
      order.wheel.schedule(due.slot, at: end, now: now)
    }
    return nil
  }
}
