public import CacheCore

/// The contents of a memory level as a whole: usage, counts, expiry and removal.
extension MemoryCacheLevel {
  /// Removes everything.
  public func clear() async throws { empty(cause: .cleared) }

  /// Removes everything, including pinned entries: nothing that is only in memory is durable.
  public func onMemoryWarning() async { empty(cause: .memoryWarning) }

  /// How much is stored, and the limits.
  public var usage: LevelUsage {
    var usage = LevelUsage(count: 0, cost: 0)
    parts.withAll { entries, order in
      usage.count += entries.table.count
      usage.cost += order.cost
      let limits = order.limits
      usage.capacity = limits.capacity
      usage.countLimit = limits.countLimit == .max ? nil : limits.countLimit
    }
    return usage
  }

  /// What the level was asked, and what it did, since it was created.
  ///
  /// Always counted, at a cost that is lost in the noise. The difference of two counts is what happened between them.
  public var counts: MemoryCounts {
    let reads = parts.reads()
    var counts = MemoryCounts(hits: reads.found, misses: reads.missed)
    parts.withAll { _, order in
      counts.stored += order.stored
      counts.evicted += order.evictions
      counts.expired += order.expirations
    }
    return counts
  }

  /// Every entry held, in no particular order.
  ///
  /// - Returns: One summary for each entry.
  public func contents() async throws -> [EntrySummary<Key>] {
    var summaries: [EntrySummary<Key>] = []
    parts.withAll { entries, _ in summaries += entries.summaries }
    return summaries
  }

  /// Returns whether there is an entry that has not expired, without waiting.
  ///
  /// This does not count as a use.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is one.
  /// - Complexity: O(1) on average.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = hashing(key)
    let now = now
    return parts.read(of: hash) { entries in entries.holds(key, hash: hash, at: now) }
  }

  /// Ends the lifetime of an entry now.
  ///
  /// - Parameter key: The key of the entry.
  /// - Throws: Nothing: memory always answers.
  public func expire(_ key: Key) async throws {
    let hash = hashing(key)
    let now = clock.now
    parts.withLock(of: hash) { $0.expire(key, hash: hash, now: now, keepsExpired: keepsExpired, order: &$1) }
  }

  /// Drops the entries whose deadline has passed, except those that ``keepsExpired`` still keeps.
  ///
  /// - Returns: How many were dropped.
  /// - Complexity: O(k) for k entries that are dropped.
  @discardableResult
  public func removeExpired() async throws -> Int { removeDue(now: clock.now) }

  @usableFromInline
  @discardableResult
  func removeDue(now: CacheInstant) -> Int {
    var dropped: [Table.Record] = []
    parts.withAll { dropped += $0.removeDue(now: now, keepsExpired: keepsExpired, order: &$1) }
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
    var dropped: [Table.Record] = []
    parts.withAll { dropped += $0.removeAll(tagged: tag, hashing: hashing, order: &$1) }
    for entry in dropped { report(entry, cause: .removed) }
    return dropped.count
  }

  /// Hands everything over at once, however much it is; it dies and is told of outside the lock.
  private func empty(cause: RemovalCause) {
    var remains: [Remains] = []
    parts.withAll { entries, order in
      var dropped = MemoryEntries<Key, Value>(uses: SlotUses())
      swap(&entries, &dropped)
      let old = order.empty()
      entries.uses = order.policy.uses
      entries.idle = idleLimit.map(IdleTimes.init)
      swap(&entries.updates, &dropped.updates)
      entries.updates.noteWriteOfAll()
      remains.append(Remains(dropped, old))
    }
    guard removalListener != nil else { return }
    for part in remains {
      for slot in part.entries.table.slots { report(part.entries.table.copy(of: slot), cause: cause) }
    }
  }

  /// What a part held, to die outside its lock.
  private final class Remains {
    let entries: MemoryEntries<Key, Value>
    private let policy: ChosenPolicy

    init(_ entries: consuming MemoryEntries<Key, Value>, _ policy: ChosenPolicy) {
      self.entries = entries
      self.policy = policy
    }
  }
}

extension MemoryCacheLevel {
  /// How it was decided at first what leaves.
  package var eviction: Eviction {
    unsafe parts[0].pointee.withOrder { Eviction(kind: $0.policy.kind) }
  }
}
