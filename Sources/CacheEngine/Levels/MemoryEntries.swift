/// What a memory level keeps of an entry beside its key.
@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
  @usableFromInline var value: Value
  @usableFromInline var cost: Int
  @usableFromInline var created: CacheInstant
  @usableFromInline var deadline: CacheInstant?

  init(value: Value, cost: Int, created: CacheInstant, deadline: CacheInstant?) {
    self.value = value
    self.cost = cost
    self.created = created
    self.deadline = deadline
  }
}

/// The entries of a memory level and their limits: a value, guarded by the level's lock.
///
/// What leaves is returned to the caller, so that it dies and is reported outside the lock.
@usableFromInline
struct MemoryEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Table = SlotTable<Key, MemoryEntry<Value>>

  @usableFromInline var table = Table()
  @usableFromInline var policy = LeastRecentlyUsed()
  private var cost = 0
  @usableFromInline var tags = TagIndex<Key>()
  private let capacity: Int
  private let countLimit: Int?

  init(capacity: Int, countLimit: Int?) {
    self.capacity = capacity
    self.countLimit = countLimit
  }

  var usage: LevelUsage {
    LevelUsage(count: table.count, cost: cost, capacity: capacity, countLimit: countLimit)
  }

  var summaries: [EntrySummary<Key>] {
    table.slots.compactMap { slot in
      slot.map {
        EntrySummary(
          key: $0.key, cost: $0.payload.cost, created: $0.payload.created, deadline: $0.payload.deadline)
      }
    }
  }

  @inlinable
  mutating func read(_ key: Key, hash: UInt32) -> MemoryEntry<Value>? {
    guard let slot = table.find(key, hash: hash) else { return nil }
    policy.touched(slot)
    return table.slots[Int(slot)]?.payload
  }

  /// Puts an entry in, after what must leave for it has left.
  mutating func insert(
    _ key: Key, hash: UInt32, entry: MemoryEntry<Value>, tags newTags: Set<String> = []
  ) -> (replaced: Table.Slot?, evicted: [Table.Slot]) {
    let replaced = remove(key, hash: hash) { _ in true }
    guard entry.cost <= capacity, countLimit != 0 else {
      return (replaced, [Table.Slot(key: key, payload: entry)])
    }
    var evicted: [Table.Slot] = []
    while cost > capacity - entry.cost || countLimit.map({ table.count >= $0 }) ?? false, let victim = policy.victim {
      if let slot = take(victim) { evicted.append(slot) }
    }
    policy.inserted(table.insert(key, hash: hash, payload: entry))
    cost += entry.cost
    tags.insert(newTags, for: key)
    return (replaced, evicted)
  }

  mutating func remove(_ key: Key, hash: UInt32, if condition: (MemoryEntry<Value>) -> Bool) -> Table.Slot? {
    guard let slot = table.find(key, hash: hash), let payload = table.slots[Int(slot)]?.payload, condition(payload)
    else { return nil }
    return take(slot, hash: hash)
  }

  mutating func removeAll(where condition: (MemoryEntry<Value>) -> Bool) -> [Table.Slot] {
    table.slots.indices.compactMap { index in
      guard let slot = table.slots[index], condition(slot.payload) else { return nil }
      return take(Int32(index))
    }
  }

  /// There is an entry that has not expired.
  func holds(_ key: Key, hash: UInt32, at now: CacheInstant) -> Bool {
    guard let slot = table.find(key, hash: hash), let payload = table.slots[Int(slot)]?.payload else { return false }
    return payload.deadline.map { $0 > now } ?? true
  }

  mutating func removeAll(tagged tag: String) -> [Table.Slot] {
    tags.keys(with: tag).compactMap { key in remove(key, hash: Table.hash(key)) { _ in true } }
  }

  mutating func setDeadline(_ deadline: CacheInstant, for key: Key, hash: UInt32) {
    guard let slot = table.find(key, hash: hash) else { return }
    table.slots[Int(slot)]?.payload.deadline = deadline
  }

  /// Empties everything and hands it over.
  mutating func takeAll() -> [Table.Slot] {
    let all = table.slots.compactMap(\.self)
    table = Table()
    policy = LeastRecentlyUsed()
    cost = 0
    tags = TagIndex()
    return all
  }

  private mutating func take(_ slot: Int32) -> Table.Slot? {
    guard let key = table.slots[Int(slot)]?.key else { return nil }
    return take(slot, hash: Table.hash(key))
  }

  private mutating func take(_ slot: Int32, hash: UInt32) -> Table.Slot? {
    guard let content = table.remove(slot, hash: hash) else { return nil }
    policy.removed(slot)
    cost -= content.payload.cost
    tags.remove(content.key)
    return content
  }
}
