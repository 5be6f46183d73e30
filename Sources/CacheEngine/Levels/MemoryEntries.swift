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
  @usableFromInline var policy: ChosenPolicy
  private var cost = 0
  @usableFromInline var tags = TagIndex<Key>()
  private let capacity: Int
  private let countLimit: Int?

  init(capacity: Int, countLimit: Int?, eviction: Eviction) {
    policy = ChosenPolicy(eviction)
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
    if let slot = table.find(key, hash: hash), let old = table.slots[Int(slot)],
      cost - old.payload.cost <= capacity - entry.cost
    {
      // An overwrite that needs no room is a use, and the policy keeps what it knows of the entry.
      table.slots[Int(slot)]?.payload = entry
      policy.touched(slot)
      cost += entry.cost - old.payload.cost
      tags.remove(key)
      tags.insert(newTags, for: key)
      return (old, [])
    }
    let replaced = remove(key, hash: hash) { _ in true }
    guard entry.cost <= capacity, countLimit != 0 else {
      return (replaced, [Table.Slot(key: key, payload: entry)])
    }
    policy.arriving(hash)
    var evicted: [Table.Slot] = []
    while cost > capacity - entry.cost || countLimit.map({ table.count >= $0 }) ?? false, let victim = policy.evict() {
      if let slot = takeOrdered(victim) { evicted.append(slot) }
    }
    policy.inserted(table.insert(key, hash: hash, payload: entry), hash: hash)
    cost += entry.cost
    tags.insert(newTags, for: key)
    return (replaced, evicted)
  }

  mutating func remove(_ key: Key, hash: UInt32, if condition: (MemoryEntry<Value>) -> Bool) -> Table.Slot? {
    guard let slot = table.find(key, hash: hash), let payload = table.slots[Int(slot)]?.payload, condition(payload)
    else { return nil }
    return take(slot)
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
    policy = policy.emptied
    cost = 0
    tags = TagIndex()
    return all
  }

  /// Takes out an entry that the policy has given up.
  private mutating func takeOrdered(_ slot: Int32) -> Table.Slot? {
    guard let key = table.slots[Int(slot)]?.key, let content = table.remove(slot, hash: Table.hash(key)) else {
      return nil
    }
    cost -= content.payload.cost
    tags.remove(content.key)
    return content
  }

  private mutating func take(_ slot: Int32) -> Table.Slot? {
    guard let content = takeOrdered(slot) else { return nil }
    policy.removed(slot)
    return content
  }
}

#if DEBUG
  extension MemoryEntries {
    /// What contradicts itself or a limit; `nil` if nothing does.
    var flaw: String? {
      let held = table.slots.indices.filter { table.slots[$0] != nil }
      let sum = held.reduce(0) { $0 + (table.slots[$1]?.payload.cost ?? 0) }
      if table.count != held.count { return "counts \(table.count) entries, holds \(held.count)" }
      if cost != sum { return "counts a cost of \(cost), holds \(sum)" }
      if cost > capacity { return "costs \(cost) of \(capacity)" }
      if let countLimit, held.count > countLimit { return "holds \(held.count) of \(countLimit)" }
      for index in held {
        guard let key = table.slots[index]?.key else { continue }
        if table.find(key, hash: Table.hash(key)) != Int32(index) { return "the key of slot \(index) is not found" }
      }
      return policy.flaw(holding: Set(held.map { Int32($0) }))
    }
  }
#endif
