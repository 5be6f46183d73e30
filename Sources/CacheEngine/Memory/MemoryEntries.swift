public import CacheCore

/// The entries of a memory level by key, and their tags.
///
/// What leaves is returned to the caller, so that it dies and is reported outside the lock.
@usableFromInline
struct MemoryEntries<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  @usableFromInline typealias Table = EntryTable<Key, Value>

  @usableFromInline var table = Table()
  @usableFromInline var tags = TagIndex<Key>()
  /// Where hits are counted that the order need not be told of.
  @usableFromInline var uses: SlotUses
  /// When entries were used last; `nil` where that ends none.
  @usableFromInline var idle: IdleTimes?
  /// Who changes values at this moment.
  @usableFromInline var updates = UpdateWatches()

  @inlinable
  init(uses: SlotUses, idle: IdleTimes? = nil) {
    self.uses = uses
    self.idle = idle
  }

  /// The entry for a key, with the moment at which it expires, and its tags, if any entry has some.
  @inlinable
  @inline(__always)
  func read(
    _ key: Key, hash: UInt32, trace: inout ReadTrace
  ) -> (entry: MemoryEntry<Value>, tags: Set<String>?)? {
    guard let (slot, record) = unsafe table.locate(key, hash) else { return nil }
    note(slot, hash, &trace)
    var entry = unsafe record.pointee.entry
    if let idle { entry.storedDeadline = idle.deadline(of: slot, storedDeadline: entry.storedDeadline) }
    return (entry, tags.tagsByKey.isEmpty ? nil : tags.tags(of: key))
  }

  @inlinable
  @inline(__always)
  func note(_ slot: Int32, _ hash: UInt32, _ trace: inout ReadTrace) {
    trace.hasFound = true
    if uses.isNews(slot, hash) { trace.slot = slot }
  }

  /// The value for a key, and when it expires, or ``MemoryEntry/never``.
  @inlinable
  @inline(__always)
  func readValue(
    _ key: Key, hash: UInt32, trace: inout ReadTrace
  ) -> (value: Value, storedDeadline: CacheInstant)? {
    guard let (slot, record) = unsafe table.locate(key, hash) else { return nil }
    note(slot, hash, &trace)
    return unsafe (record.pointee.entry.value, record.pointee.entry.storedDeadline)
  }

  /// Puts an entry in the place of one that weighs as much, where nobody but the order has to know; `false` if that is not so.
  ///
  /// The values change places, so that what was there before leaves with the caller.
  @inlinable
  @inline(__always)
  mutating func overwrite(
    _ slot: Int32, _ record: UnsafeMutablePointer<Table.Record>, hash: UInt32, with entry: inout MemoryEntry<Value>,
    order: inout MemoryOrder
  ) -> Bool {
    guard updates.isEmpty, idle == nil, tags.tagsByKey.isEmpty, order.wheel.count == 0,
      unsafe record.pointee.entry.cost == entry.cost
    else { return false }
    // Neither has a deadline, and the costs are equal: what is not written does not have to come from another core.
    assert(unsafe record.pointee.entry.deadline == nil && entry.deadline == nil)
    unsafe swap(&record.pointee.entry.value, &entry.value)
    unsafe record.pointee.entry.created = entry.created
    order.stored &+= 1
    if uses.isNews(slot, hash) { order.policy.touched(slot) }
    return true
  }

  /// Puts an entry whose key is not there in the place of the one that leaves for it, where nobody but the order has to know.
  ///
  /// The entries change places, as in an overwrite, and the key that was there is returned: both leave with the caller. `nil` if
  /// nothing was put in. If what leaves does not make enough room, it is among what has departed, and the insertion goes on from
  /// there.
  @inlinable
  @inline(never)
  mutating func replace(
    with key: Key, _ entry: inout MemoryEntry<Value>, hash: UInt32, order: inout MemoryOrder,
    departed: inout Departed<Key, Value>
  ) -> Key? {
    let cost = entry.cost
    guard updates.isEmpty, idle == nil, tags.tagsByKey.isEmpty, order.wheel.count == 0, order.pins.isEmpty,
      order.canHold(cost), order.isFull(for: cost, count: table.count), !order.isHeavy(cost)
    else { return nil }
    departed.hasArrived = true
    guard let victim = order.policy.evict(for: hash) else { return nil }
    order.evictions &+= 1
    let leaving = table.cost(of: victim.slot)
    guard order.hasRoom(for: cost, inPlaceOf: leaving, count: table.count) else {
      departed.append(takeOut(victim.slot, hash: victim.hash, order: &order))
      return nil
    }
    let left = table.replace(victim.slot, hash: victim.hash, with: key, &entry, hash: hash)
    order.cost = order.cost &- leaving &+ cost
    order.stored &+= 1
    order.policy.inserted(victim.slot, hash: hash)
    return left
  }

  /// Puts an entry in, after what must leave for it has left; over the one in the slot where its key is.
  @inlinable
  @inline(never)
  mutating func insert(
    _ record: consuming Table.Record, hash: UInt32, over present: Int32?, tags newTags: Set<String>?,
    keepsExpired: Duration,
    now: CacheInstant, order: inout MemoryOrder, departed: inout Departed<Key, Value>
  ) {
    let cost = record.entry.cost
    let due =
      record.entry.deadline == nil ? nil : self.due(of: record.entry, keepsExpired: keepsExpired, now: now)
    var isPinned = false
    var canHold: Bool
    if let slot = present {
      let oldCost = table.cost(of: slot)
      // What would have left with its pin if somebody had looked.
      if !order.pins.isEmpty, isOver(slot, keepsExpired: keepsExpired, now: now) {
        _ = order.unpin(slot, cost: oldCost)
      }
      // With pinned entries there may be more than fits: what gets lighter is welcome.
      if order.canGrow(by: cost - oldCost) {
        if !updates.isEmpty { updates.noteWrite(hash) }
        // An overwrite that needs no room is a use, and the policy keeps what it knows of the entry.
        order.overwritten(slot, addedCost: cost - oldCost, due: due, now: now)
        idle?.use(slot, now: now)
        if newTags != nil || !tags.tagsByKey.isEmpty { setTags(newTags, for: table.key(of: slot)) }
        // The entries change places, so that what was there before leaves in the record that came.
        table.exchange(slot, &record.entry)
        departed.appendReplaced(record)
        return
      }
      isPinned = !order.pins.isEmpty && order.pins.contains(slot)
      canHold = isPinned ? order.canHold(cost - oldCost, count: 0) : order.canHold(cost)
      // Other parts have to give something first. Nothing is changed until they have.
      if order.shared != nil, canHold {
        departed.followUp = .makeRoom(cost: cost - oldCost, count: 0)
        return
      }
    } else {
      canHold = order.canHold(cost)
    }
    if !canHold, departed.mayDropDue, order.hasPins {
      departed.followUp = .dropDue
      return
    }
    if let slot = present {
      departed.appendReplaced(take(slot, hash: hash, order: &order))
      canHold = order.canHold(cost)
    }
    guard canHold else {
      // It was set all the same: what is restored now is older.
      if !updates.isEmpty { updates.noteWrite(hash) }
      departed.append(record)
      return
    }
    if order.wheel.count > 0 { takeDue(now: now, keepsExpired: keepsExpired, order: &order, departed: &departed) }
    if !departed.hasArrived { order.policy.arriving(hash) }
    while order.isFull(for: cost, count: table.count) {
      guard !order.isHeavy(cost), let victim = order.evict() else {
        departed.followUp = .makeRoom(cost: cost, count: 1)
        return
      }
      departed.append(takeOut(victim.slot, hash: victim.hash, order: &order))
      order.evictions &+= 1
    }
    // Not before: an update whose entry has to wait for room has been overtaken by nobody.
    if !updates.isEmpty { updates.noteWrite(hash) }
    if let newTags { tags.insert(newTags, for: record.key) }
    let slot = table.insert(record, hash: hash)
    idle?.begin(slot, now: now)
    order.inserted(slot, hash: hash, cost: cost, due: due, now: now)
    if isPinned { order.pin(slot, cost: cost) }
    if table.count >= order.mostUndivided { departed.followUp = .divide }
  }

  /// Takes out a few of the entries whose time is over.
  ///
  /// A few, since somebody waits for the lock: an insertion adds one entry and lets more than one go, so none stay for good.
  @inlinable
  @inline(never)
  mutating func takeDue(
    now: CacheInstant, keepsExpired: Duration, order: inout MemoryOrder, departed: inout Departed<Key, Value>
  ) {
    var steps = 32
    while let due = popDue(now: now, keepsExpired: keepsExpired, steps: &steps, order: &order) {
      departed.append(take(due.slot, hash: due.hash, order: &order))
      order.expirations &+= 1
    }
  }

  @inlinable
  mutating func remove(_ key: Key, hash: UInt32, order: inout MemoryOrder) -> Table.Record? {
    guard let slot = table.find(key, hash: hash) else {
      // What is about to be restored may be there in a moment.
      if !updates.isEmpty { updates.noteWrite(hash) }
      return nil
    }
    return take(slot, hash: hash, order: &order)
  }

  /// Removes the entry that expires at a moment: a newer one, or one that was used since, stays.
  @usableFromInline
  mutating func remove(
    _ key: Key, hash: UInt32, expiring deadline: CacheInstant, order: inout MemoryOrder
  ) -> Table.Record? {
    guard let slot = table.find(key, hash: hash), self.deadline(of: slot) == deadline else { return nil }
    return take(slot, hash: hash, order: &order)
  }

  @inlinable
  func popDue(
    now: CacheInstant, keepsExpired: Duration, steps: inout Int, order: inout MemoryOrder
  ) -> (slot: Int32, hash: UInt32)? {
    guard idle == nil else { return popIdle(now: now, keepsExpired: keepsExpired, steps: &steps, order: &order) }
    return order.popDue(now: now, steps: &steps) { table.due($0, keepsExpired: keepsExpired) }
  }

  /// Takes out every entry whose time has come, be it now.
  mutating func removeDue(now: CacheInstant, keepsExpired: Duration, order: inout MemoryOrder) -> [Table.Record] {
    var removed: [Table.Record] = []
    var steps = Int.max
    while let due = popDue(now: now, keepsExpired: keepsExpired, steps: &steps, order: &order) {
      removed.append(take(due.slot, hash: due.hash, order: &order))
    }
    for slot in order.wheel.slotsOfTick(now) {
      guard let deadline = self.deadline(of: slot), deadline.advanced(by: keepsExpired) <= now else { continue }
      removed.append(take(slot, hash: order.policy.hash(slot), order: &order))
    }
    order.expirations &+= removed.count
    return removed
  }

  /// There is an entry that has not expired.
  @inlinable
  func holds(_ key: Key, hash: UInt32, at now: CacheInstant) -> Bool {
    guard let slot = table.find(key, hash: hash) else { return false }
    return deadline(of: slot).map { $0 > now } ?? true
  }

  /// The time of an entry is over, whether it was dropped or not.
  @inlinable
  func isOver(_ slot: Int32, keepsExpired: Duration, now: CacheInstant) -> Bool {
    deadline(of: slot).map { $0.advanced(by: keepsExpired) <= now } ?? false
  }

  mutating func removeAll(
    tagged tag: String, hashing: KeyHashing<Key>, order: inout MemoryOrder
  ) -> [Table.Record] {
    updates.noteRemovalOfUnknown()
    return tags.keys(with: tag).compactMap { key in remove(key, hash: hashing(key), order: &order) }
  }

  mutating func expire(_ key: Key, hash: UInt32, now: CacheInstant, keepsExpired: Duration, order: inout MemoryOrder) {
    if !updates.isEmpty { updates.noteWrite(hash) }
    guard let slot = table.find(key, hash: hash) else { return }
    // What has expired already would be kept for longer.
    if let deadline = self.deadline(of: slot), deadline <= now { return }
    table[slot].deadline = now
    order.wheel.schedule(slot, at: now.advanced(by: keepsExpired), now: now)
  }

  var summaries: [EntrySummary<Key>] {
    table.slots.map { slot in
      let entry = table[slot]
      return EntrySummary(
        key: table.key(of: slot), cost: entry.cost, created: entry.created, deadline: deadline(of: slot))
    }
  }

  /// Takes out an entry that the policy has given up.
  @inlinable
  mutating func takeOut(_ slot: Int32, hash: UInt32, order: inout MemoryOrder) -> Table.Record {
    if !updates.isEmpty { updates.noteWrite(hash) }
    var record = table.remove(slot, hash: hash)
    // From now on it stands in the record alone.
    if let idle { record.entry.deadline = idle.deadline(of: slot, storedDeadline: record.entry.storedDeadline) }
    order.evicted(slot, cost: record.entry.cost)
    if !tags.tagsByKey.isEmpty { tags.remove(record.key) }
    return record
  }

  @inlinable
  mutating func take(_ slot: Int32, hash: UInt32, order: inout MemoryOrder) -> Table.Record {
    order.policy.removed(slot)
    return takeOut(slot, hash: hash, order: &order)
  }

  @inlinable
  mutating func setTags(_ newTags: Set<String>?, for key: Key) {
    if !tags.tagsByKey.isEmpty { tags.remove(key) }
    if let newTags { tags.insert(newTags, for: key) }
  }
}

/// What left a memory level in one operation: seldom more than one entry, which then asks for no array.
///
/// It cannot be copied, since a copy of records that nobody looks at cost a third of an evicting set.
@usableFromInline
struct Departed<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline typealias Record = EntryTable<Key, Value>.Record

  @usableFromInline var first: Record?
  /// `nil` for none: releasing an array costs something even if it is empty.
  @usableFromInline var more: [Record]?
  /// Whether the first one made room for another value of its own key.
  @usableFromInline var isFirstReplaced = false
  /// What the caller has to do once it has released the lock.
  @usableFromInline var followUp = FollowUp.nothing
  /// What has expired has not been dropped for this operation yet.
  @usableFromInline var mayDropDue = true
  /// The policy knows of the key that is to be inserted, and the first one has made room for it.
  @usableFromInline var hasArrived = false

  @usableFromInline
  enum FollowUp: Sendable {
    case nothing
    /// The level has become large enough to be divided.
    case divide
    /// Nothing was stored: other parts of the level have to evict so much first.
    case makeRoom(cost: Int, count: Int)
    /// Nothing was stored: what is pinned leaves no room, and some of it may have expired.
    case dropDue
  }

  @inlinable
  init() {}

  @inlinable
  mutating func appendReplaced(_ record: consuming Record) {
    first = record
    isFirstReplaced = true
  }

  @inlinable
  mutating func append(_ record: consuming Record) {
    guard first != nil else {
      first = record
      return
    }
    if more == nil { more = [] }
    more?.append(record)
  }

  @inlinable
  borrowing func forEach(_ body: (_ record: Record, _ isReplaced: Bool) -> Void) {
    if let first { body(first, isFirstReplaced) }
    for record in more ?? [] { body(record, false) }
  }
}

#if DEBUG
extension MemoryEntries {
  /// What contradicts itself or a limit; `nil` if nothing does.
  func flaw(in order: MemoryOrder, hashing: KeyHashing<Key>) -> String? {
    let held = table.slots
    let sum = held.reduce(0) { $0 + table[$1].cost }
    if table.count != held.count { return "counts \(table.count) entries, holds \(held.count)" }
    if order.cost != sum { return "counts a cost of \(order.cost), holds \(sum)" }
    let pinned = order.pins.reduce(0) { $0 + (held.contains($1) ? table[$1].cost : .max / 2) }
    if pinned != order.pinnedCost { return "counts a pinned cost of \(order.pinnedCost), holds \(pinned)" }
    if sum > max(order.capacity, pinned) { return "costs \(sum) of \(order.capacity)" }
    if held.count > max(order.countLimit, order.pins.count) { return "holds \(held.count) of \(order.countLimit)" }
    for slot in held where table.find(table.key(of: slot), hash: hashing(table.key(of: slot))) != slot {
      return "the key of slot \(slot) is not found"
    }
    var policy = order.policy
    for slot in held where policy.hash(slot) != hashing(table.key(of: slot)) {
      return "the policy knows slot \(slot) by another hash"
    }
    let mortal = held.count { table.deadline(of: $0) != nil }
    if order.wheel.count != mortal { return "the wheel has \(order.wheel.count) of \(mortal) entries" }
    return order.policy.flaw(holding: Set(held))
  }
}
#endif
