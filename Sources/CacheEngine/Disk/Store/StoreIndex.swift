import CacheCore

/// Where the newest record of each key lies, and which key was not used for the longest time.
///
/// A plain value.
struct StoreIndex: Sendable {
  /// What the index knows of an entry.
  struct Entry: Sendable, Equatable {
    var segment: UInt64
    var offset: Int
    var header: RecordHeader
    /// The number of the file that holds the value, if that is not in the record.
    var ownFile: UInt64?
    var ownFileLength = 0
    /// By this process's clock; `Int64.max` for never.
    var deadline: Int64
    var created: Int64
    /// In an encrypted store: the key itself, if it is known; the store knows the entry by a name for it.
    var realKey: StoreKey?

    /// What the entry takes on the disk, its own file included.
    var bytes: Int { header.recordLength + StoreIndex.blocks(ownFileLength) }
    var deadlineInstant: CacheInstant? { deadline == .max ? nil : CacheInstant(nanoseconds: deadline) }
    /// The length of the value.
    var valueLength: Int { ownFile == nil ? Int(header.valueLength) : ownFileLength }
  }

  private var table = SlotTable<StoreKey, Entry>()
  private var recency = LeastRecentlyUsed()
  /// The deadlines of entries that can expire, soonest first.
  private var deadlines = DeadlineHeap()
  /// What the records and own files of all entries take.
  private(set) var liveBytes = 0
  private var tags = TagIndex<StoreKey>()
  /// What the records that live in each segment take.
  private var liveBytesBySegment: [UInt64: Int] = [:]

  var count: Int { table.count }
  /// Whether this is the index of an encrypted store; entries of both kinds never meet.
  var isSealed: Bool { (leastRecentlyUsed?.entry.header.flags ?? 0) & RecordHeader.isSealed != 0 }
  var all: [(key: StoreKey, entry: Entry)] { table.slots.compactMap { $0.map { ($0.key, $0.payload) } } }

  /// From the least to the most recently used.
  var inOrderOfUse: [(key: StoreKey, entry: Entry, tags: Set<String>)] {
    recency.fromOldest.compactMap { slot in
      table.slots[Int(slot)].map { ($0.key, $0.payload, tags.tags(of: $0.key)) }
    }
  }

  func find(_ key: StoreKey) -> Entry? {
    table.find(key, hash: SlotTable<StoreKey, Entry>.hash(key)).flatMap { table.slots[Int($0)]?.payload }
  }

  /// Finds an entry and notes that it was used.
  mutating func use(_ key: StoreKey) -> Entry? {
    guard let slot = table.find(key, hash: SlotTable<StoreKey, Entry>.hash(key)) else { return nil }
    recency.touched(slot)
    return table.slots[Int(slot)]?.payload
  }

  /// Puts an entry in as the most recently used one, and returns the one that it replaces.
  @discardableResult
  mutating func insert(_ entry: Entry, for key: StoreKey, tags newTags: Set<String> = []) -> Entry? {
    let replaced = remove(key)
    let slot = table.insert(key, hash: SlotTable<StoreKey, Entry>.hash(key), payload: entry)
    recency.inserted(slot)
    liveBytes += entry.bytes
    liveBytesBySegment[entry.segment, default: 0] += entry.header.recordLength
    tags.insert(newTags, for: key)
    if entry.deadline != .max { remember(entry.deadline, of: key) }
    return replaced
  }

  @discardableResult
  mutating func remove(_ key: StoreKey) -> Entry? {
    let hash = SlotTable<StoreKey, Entry>.hash(key)
    guard let slot = table.find(key, hash: hash), let removed = table.remove(slot, hash: hash) else { return nil }
    recency.removed(slot)
    tags.remove(key)
    liveBytes -= removed.payload.bytes
    note(removed.payload, leaves: removed.payload.segment)
    return removed.payload
  }

  func tags(of key: StoreKey) -> Set<String> { tags.tags(of: key) }

  func keys(tagged tag: String) -> Set<StoreKey> { tags.keys(with: tag) }

  /// Entries from a place in the table on, at most so many; `next` is where to go on, `nil` after the last.
  ///
  /// Whoever goes through all entries so meets each that was there all the time once.
  func entries(from place: Int, count: Int) -> (entries: [(key: StoreKey, entry: Entry)], next: Int?) {
    let end = min(place + count, table.slots.count)
    guard place < end else { return ([], nil) }
    return (table.slots[place..<end].compactMap { $0.map { ($0.key, $0.payload) } }, end)
  }

  /// Takes out what meets a condition, page by page.
  mutating func removeAll(where isGone: (Entry) -> Bool) {
    var place: Int? = 0
    while let from = place {
      let (page, next) = entries(from: from, count: 1_024)
      for (key, entry) in page where isGone(entry) { remove(key) }
      place = next
    }
  }

  /// Changes the deadline of an entry.
  mutating func setDeadline(_ deadline: Int64, of key: StoreKey) {
    guard let slot = table.find(key, hash: SlotTable<StoreKey, Entry>.hash(key)) else { return }
    table.slots[Int(slot)]?.payload.deadline = deadline
    remember(deadline, of: key)
  }

  /// Notes the key of an entry of an encrypted store.
  mutating func learn(_ realKey: StoreKey, of key: StoreKey) {
    guard let slot = table.find(key, hash: SlotTable<StoreKey, Entry>.hash(key)) else { return }
    table.slots[Int(slot)]?.payload.realKey = realKey
  }

  /// Moves an entry to where its record was copied.
  mutating func move(_ key: StoreKey, to segment: UInt64, offset: Int, sequence: UInt64) {
    guard let slot = table.find(key, hash: SlotTable<StoreKey, Entry>.hash(key)) else { return }
    if let entry = table.slots[Int(slot)]?.payload {
      note(entry, leaves: entry.segment)
      liveBytesBySegment[segment, default: 0] += entry.header.recordLength
    }
    table.slots[Int(slot)]?.payload.segment = segment
    table.slots[Int(slot)]?.payload.offset = offset
    table.slots[Int(slot)]?.payload.header.sequence = sequence
  }

  /// What lives in a segment; the rest of it was overwritten, removed or evicted.
  func liveBytes(in segment: UInt64) -> Int { liveBytesBySegment[segment] ?? 0 }

  private mutating func note(_ entry: Entry, leaves segment: UInt64) {
    let left = liveBytes(in: segment) - entry.header.recordLength
    liveBytesBySegment[segment] = left > 0 ? left : nil
  }

  /// The entry that was not used for the longest time.
  var leastRecentlyUsed: (key: StoreKey, entry: Entry)? {
    recency.victim.flatMap { slot in table.slots[Int(slot)].map { ($0.key, $0.payload) } }
  }

  /// Whether there may be something to take out.
  func hasExpired(at now: Int64) -> Bool { deadlines.first.map { $0.deadline <= now } ?? false }

  /// Takes out the keys whose deadline has passed.
  ///
  /// O(k log n) for k of them.
  mutating func takeExpired(at now: Int64) -> [(key: StoreKey, entry: Entry)] {
    var expired: [(StoreKey, Entry)] = []
    while let first = deadlines.first, first.deadline <= now {
      deadlines.removeFirst()
      // The heap may remember a deadline of an older value.
      guard let entry = find(first.key), entry.deadline <= now else { continue }
      remove(first.key)
      expired.append((first.key, entry))
    }
    return expired
  }

  private mutating func remember(_ deadline: Int64, of key: StoreKey) {
    // Overwritten entries leave their old deadlines behind; once in a while they go.
    if deadlines.count > 2 * table.count + 1_024 {
      deadlines = DeadlineHeap()
      for slot in table.slots {
        if let slot, slot.payload.deadline != .max { deadlines.insert(slot.payload.deadline, key: slot.key) }
      }
    } else {
      deadlines.insert(deadline, key: key)
    }
  }

  /// Files take whole blocks.
  static func blocks(_ bytes: Int) -> Int { (bytes + 4_095) & ~4_095 }
}

/// Deadlines with their keys in a binary heap, soonest first.
struct DeadlineHeap: Sendable {
  private var items: [(deadline: Int64, key: StoreKey)] = []

  var first: (deadline: Int64, key: StoreKey)? { items.first }
  var count: Int { items.count }

  mutating func insert(_ deadline: Int64, key: StoreKey) {
    items.append((deadline, key))
    var child = items.count - 1
    while child > 0, items[(child - 1) / 2].deadline > items[child].deadline {
      items.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    guard let last = items.popLast(), !items.isEmpty else { return }
    items[0] = last
    var parent = 0
    while true {
      let left = parent * 2 + 1
      guard left < items.count else { return }
      let right = left + 1
      let least = right < items.count && items[right].deadline < items[left].deadline ? right : left
      guard items[least].deadline < items[parent].deadline else { return }
      items.swapAt(parent, least)
      parent = least
    }
  }
}
