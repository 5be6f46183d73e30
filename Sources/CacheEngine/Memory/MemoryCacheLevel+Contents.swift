public import CacheCore

/// What a memory level holds as a whole: how much it is, what it did, and how parts of it or all of it go.
extension MemoryCacheLevel {
  /// Removes everything.
  public func clear() async throws { empty(cause: .cleared) }

  /// Removes everything, pinned entries included: what is in memory only is not durable.
  public func onMemoryWarning() async { empty(cause: .memoryWarning) }

  /// How much is held, and how much may be.
  public var usage: LevelUsage {
    state.withLock { entries, order in
      LevelUsage(
        count: entries.table.count, cost: order.cost, capacity: order.capacity,
        countLimit: order.countLimit == .max ? nil : order.countLimit)
    }
  }

  /// What the level was asked and what it did since it was made.
  ///
  /// Always counted: what that costs a read is lost in the noise. The difference of two counts tells of the time between.
  public var counts: MemoryCounts {
    let reads = state.reads()
    return state.withOrder { order in
      MemoryCounts(
        hits: reads.found, misses: reads.missed, stored: order.stored, evicted: order.evictions,
        expired: order.expirations)
    }
  }

  /// Every entry held, in no particular order.
  ///
  /// - Returns: One summary for each entry.
  public func contents() async throws -> [EntrySummary<Key>] { state.withLock { entries, _ in entries.summaries } }

  /// Whether there is an entry that has not expired, at once.
  ///
  /// It does not count as a use.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is one.
  /// - Complexity: O(1) on average.
  public func contains(_ key: Key) -> Bool {
    let hash = hashing(key)
    let now = now
    return state.read(countedAs: .none) { entries, _ in entries.holds(key, hash: hash, at: now) }.answer
  }

  /// Ends the lifetime of an entry now.
  ///
  /// - Parameter key: The key of the entry.
  /// - Throws: Nothing: memory always answers.
  public func expire(_ key: Key) async throws {
    let hash = hashing(key)
    let now = clock.now
    state.withLock { $0.expire(key, hash: hash, now: now, keepsExpired: keepsExpired, order: &$1) }
  }

  /// Drops the entries whose deadline has passed, but those that ``keepsExpired`` still keeps.
  ///
  /// - Returns: How many were dropped.
  /// - Complexity: O(k) for k entries that are dropped.
  @discardableResult
  public func removeExpired() async throws -> Int {
    let now = clock.now
    let dropped = state.withLock { $0.removeDue(now: now, keepsExpired: keepsExpired, order: &$1) }
    for entry in dropped { report(entry, cause: .expired) }
    return dropped.count
  }

  /// Removes every entry that was stored with a tag.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(k) for k entries with the tag.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    let dropped = state.withLock { $0.removeAll(tagged: tag, hashing: hashing, order: &$1) }
    for entry in dropped { report(entry, cause: .removed) }
    return dropped.count
  }

  /// Hands everything over at once, however much it is; it dies and is told of outside the lock.
  private func empty(cause: RemovalCause) {
    var dropped = MemoryEntries<Key, Value>(uses: SlotUses())
    let policy = state.withLock { entries, order in
      swap(&entries, &dropped)
      let old = order.empty()
      entries.uses = order.policy.uses
      entries.idle = idleLimit.map(IdleTimes.init)
      swap(&entries.updates, &dropped.updates)
      entries.updates.noteWriteOfAll()
      return old
    }
    withExtendedLifetime(policy) {}
    guard removalListener != nil else { return }
    for slot in dropped.table.slots { report(dropped.table.copy(of: slot), cause: cause) }
  }
}

extension MemoryCacheLevel {
  /// How it was decided at first what leaves.
  package var eviction: Eviction { state.withLock { _, order in Eviction(kind: order.policy.kind) } }
}
