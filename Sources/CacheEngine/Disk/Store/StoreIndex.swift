import CacheCore

/// Where the newest record of each key lies, and which key has gone unused the longest.
///
/// A plain value that takes some 65 bytes for an entry, and its key. An entry keeps its slot for as long as it lives; slots stand
/// in chunks, so that none is copied when more are needed. What only few entries have is kept beside them.
///
/// Open addressing with linear probing and backward-shift deletion (Knuth, The Art of Computer Programming 3, 6.4, algorithm
/// R) over slot numbers of four bytes; a slot holds the hash of its key, so that probing compares keys only where hashes are
/// equal.
struct StoreIndex: Sendable {
  static let none: Int32 = -1
  private static let chunkBits: Int32 = 12

  private var chunks: ContiguousArray<ContiguousArray<Slot>> = []
  /// How many slots there are, and the first of those that are free.
  var slotCount: Int32 = 0
  private var firstFree = none
  /// 0 for an empty place, else a slot number and one.
  var places = ContiguousArray<UInt32>(repeating: 0, count: 16)
  var keys = KeyArena()
  var rarities: [Int32: Rarities] = [:]
  private var tags = TagIndex<Int32>()
  private var segments = SegmentUses()
  private var (oldest, newest) = (none, none)
  /// The deadlines of entries that can expire, soonest first.
  private var deadlines = DeadlineHeap()
  /// Shortens hashes, so that a test gets many that are equal.
  let hashMask: UInt32

  private(set) var count = 0
  /// What the records and own files of all entries take.
  private(set) var liveBytes = 0

  init(hashMask: UInt32 = .max) { self.hashMask = hashMask }

  /// Makes room for so many entries at once.
  mutating func reserve(_ count: Int) {
    while places.count * 3 < count * 4 { growPlaces() }
  }

  // MARK: Looking

  /// Whether this is the index of an encrypted store; entries of both kinds never meet.
  var isSealed: Bool { oldest != Self.none && self[oldest].flags.contains(.isSealed) }
  var all: [(key: StoreKey, entry: Entry)] { entries(from: 0, count: Int(slotCount)).entries }

  /// From the least to the most recently used.
  var inOrderOfUse: [(key: StoreKey, entry: Entry)] {
    var all: [(key: StoreKey, entry: Entry)] = []
    all.reserveCapacity(count)
    unsafe forEachInOrderOfUse { key, entry, _ in all.append((unsafe StoreKey(Array(key)), entry)) }
    return all
  }

  /// Calls a body with each entry, from the least to the most recently used.
  func forEachInOrderOfUse(_ body: (UnsafeRawBufferPointer, Entry, Set<String>) -> Void) {
    var slot = oldest
    while slot != Self.none {
      unsafe withKey(slot) { unsafe body($0, entry(slot), tags.tags(of: slot)) }
      slot = self[slot].newer
    }
  }

  /// The entries whose values have files of their own.
  var withOwnFiles: [(key: StoreKey, entry: Entry)] {
    rarities.compactMap { slot, rare in rare.ownFile.map { _ in (key(slot), entry(slot)) } }
  }

  /// What is known of a key.
  func find(_ key: StoreKey) -> Entry? {
    // Not by `map`: a method that is passed on holds a copy of the index.
    guard let slot = slot(of: key) else { return nil }
    return entry(slot)
  }

  /// Whether the value of a key has a file of its own.
  func hasOwnFile(_ key: StoreKey) -> Bool {
    guard let slot = slot(of: key), self[slot].flags.contains(.hasRarities) else { return false }
    return rarities[slot]?.ownFile != nil
  }

  func contains(_ key: StoreKey) -> Bool { slot(of: key) != nil }

  /// Finds an entry and notes that it was used.
  mutating func use(_ key: StoreKey) -> Entry? {
    guard let slot = slot(of: key) else { return nil }
    touch(slot)
    self[slot].flags.insert(.isRead)
    return entry(slot)
  }

  /// An entry that nobody has used since its record was written where it stands.
  func findUnused(_ key: StoreKey) -> Entry? {
    guard let slot = slot(of: key), !self[slot].flags.contains(.isRead) else { return nil }
    return entry(slot)
  }

  func tags(of key: StoreKey) -> Set<String> { slot(of: key).map { tags.tags(of: $0) } ?? [] }

  func keys(tagged tag: String) -> [StoreKey] { tags.keys(with: tag).map(key) }

  /// Entries from a place on, at most so many; `next` is where to go on, `nil` after the last.
  ///
  /// Going through all entries this way meets each one that was there all the time exactly once.
  func entries(from place: Int, count: Int) -> (entries: [(key: StoreKey, entry: Entry)], next: Int?) {
    guard place < slotCount else { return ([], nil) }
    let end = place + min(count, Int(slotCount) - place)
    let slots = (Int32(place)..<Int32(end)).lazy.filter { self[$0].isUsed }
    return (slots.map { (key($0), entry($0)) }, end)
  }

  /// The entry that has gone unused the longest.
  var leastRecentlyUsed: (key: StoreKey, entry: Entry)? {
    oldest == Self.none ? nil : (key(oldest), entry(oldest))
  }

  /// What lives in a segment; the rest of it was overwritten, removed or evicted.
  func liveBytes(in segment: UInt64) -> Int { segments.bytes(in: segment) }

  /// Whether there may be something to take out.
  func hasExpired(at now: Int64) -> Bool { deadlines.first.map { $0.deadline <= now } ?? false }

  // MARK: Changing

  /// Puts an entry in as the most recently used one, and returns the one that it replaces.
  @discardableResult
  mutating func insert(_ entry: Entry, for key: StoreKey, tags: Set<String> = []) -> Entry? {
    unsafe key.bytes.withUnsafeBytes { unsafe insert(entry, for: $0, tags: tags) }
  }

  @discardableResult
  mutating func insert(_ entry: Entry, for key: UnsafeRawBufferPointer, tags newTags: Set<String>) -> Entry? {
    let hash = unsafe hash(key)
    let replaced: Entry?
    let slot: Int32
    if let found = unsafe find(key, hash) {
      let old = self.entry(found)
      (slot, replaced) = (found, old)
      forget(slot, old)
      touch(slot)
    } else {
      slot = unsafe add(key, hash)
      replaced = nil
    }
    fill(slot, with: entry)
    tags.insert(newTags, for: slot)
    return replaced
  }

  @discardableResult
  mutating func remove(_ key: StoreKey) -> Entry? {
    guard let slot = slot(of: key) else { return nil }
    return remove(slot)
  }

  /// Takes out what meets a condition.
  mutating func removeAll(where isGone: (Entry) -> Bool) {
    for slot in 0..<slotCount where self[slot].isUsed && isGone(entry(slot)) { remove(slot) }
  }

  /// Changes the deadline of an entry; `isEnded` says that it was ended by hand.
  mutating func setDeadline(_ deadline: Int64, of key: StoreKey, isEnded: Bool = false) {
    guard let slot = slot(of: key) else { return }
    self[slot].deadline = deadline
    if isEnded { self[slot].flags.insert(.isEnded) }
    remember(deadline, of: slot)
  }

  /// Notes the key of an entry of an encrypted store.
  mutating func learn(_ realKey: StoreKey, of key: StoreKey) {
    guard let slot = slot(of: key) else { return }
    self[slot].flags.insert(.hasRarities)
    rarities[slot, default: Rarities()].realKey = realKey
  }

  /// Moves an entry to where its record was copied.
  mutating func move(_ key: StoreKey, to segment: UInt64, offset: Int, sequence: UInt64) {
    guard let slot = slot(of: key) else { return }
    let length = entry(slot).recordLength
    segments.leave(self[slot].segment, length)
    self[slot].segment = segments.join(segment, length)
    self[slot].offset = Self.eighths(offset)
    self[slot].sequence = UInt32(truncatingIfNeeded: sequence)
    self[slot].flags.remove(.isRead)
  }

  /// Takes out the keys whose deadline has passed.
  ///
  /// O(k log n) for k of them.
  mutating func takeExpired(at now: Int64) -> [(key: StoreKey, entry: Entry)] {
    var expired: [(StoreKey, Entry)] = []
    while let first = deadlines.first, first.deadline <= now {
      deadlines.removeFirst()
      // The heap may remember a deadline of an older value, or of what stood in the slot before.
      guard self[first.slot].isUsed, self[first.slot].deadline <= now else { continue }
      let key = key(first.slot)
      expired.append((key, remove(first.slot)))
    }
    return expired
  }

  // MARK: Slots

  subscript(slot: Int32) -> Slot {
    _read { yield chunks[Int(slot >> Self.chunkBits)][Int(slot & (1 << Self.chunkBits - 1))] }
    _modify { yield &chunks[Int(slot >> Self.chunkBits)][Int(slot & (1 << Self.chunkBits - 1))] }
  }

  private func entry(_ slot: Int32) -> Entry {
    let kept = self[slot]
    var entry = Entry(
      segment: segments.number(of: kept.segment), offset: Int(kept.offset) * 8, sequence: kept.sequence, keyLength: 0,
      typeLength: kept.typeLength, tagsLength: 0, valueLength: UInt64(kept.valueLength), cost: Int64(kept.cost),
      isSealed: kept.flags.contains(.isSealed), isEnded: kept.flags.contains(.isEnded), deadline: kept.deadline,
      created: kept.created)
    if kept.flags.contains(.hasRarities), let rare = rarities[slot] {
      (entry.ownFile, entry.ownFileLength, entry.tagsLength) = (rare.ownFile, rare.ownFileLength, rare.tagsLength)
      (entry.realKey, entry.cost) = (rare.realKey, rare.cost ?? entry.cost)
      if let key = rare.key {
        entry.keyLength = UInt32(key.count)
        return entry
      }
    }
    entry.keyLength = UInt32(keys.length(kept.key))
    return entry
  }

  /// Writes an entry into a slot that has a key, and counts it.
  private mutating func fill(_ slot: Int32, with entry: Entry) {
    var rare = self[slot].flags.contains(.hasRarities) ? rarities[slot] ?? Rarities() : Rarities()
    let key = rare.key
    rare = Rarities(
      ownFile: entry.ownFile, ownFileLength: entry.ownFileLength, tagsLength: entry.tagsLength, realKey: entry.realKey,
      cost: UInt32(exactly: entry.cost) == nil ? entry.cost : nil, key: key)
    if !rare.isNone { rarities[slot] = rare }
    let place = segments.join(entry.segment, entry.recordLength)
    var flags: Flags = entry.isSealed ? .isSealed : []
    if entry.isEnded { flags.insert(.isEnded) }
    if !rare.isNone { flags.insert(.hasRarities) }
    Self.write(entry, at: place, flags, to: &self[slot])
    liveBytes += entry.bytes
    if entry.deadline != .max { remember(entry.deadline, of: slot) }
  }

  /// In one access: the slot is looked for, and its chunk checked for other owners, once.
  private static func write(_ entry: Entry, at place: UInt32, _ flags: Flags, to slot: inout Slot) {
    slot.deadline = entry.deadline
    slot.created = entry.created
    slot.segment = place
    slot.offset = eighths(entry.offset)
    slot.sequence = entry.sequence
    // What a file of the log can hold is far shorter.
    slot.valueLength = UInt32(clamping: entry.valueLength)
    slot.cost = UInt32(clamping: entry.cost)
    slot.typeLength = entry.typeLength
    slot.flags = flags
  }

  /// Takes an entry out of all counts; its key stays.
  private mutating func forget(_ slot: Int32, _ entry: Entry) {
    liveBytes -= entry.bytes
    segments.leave(self[slot].segment, entry.recordLength)
    if !tags.tagsByKey.isEmpty { tags.remove(slot) }
    guard self[slot].flags.contains(.hasRarities), let key = rarities.removeValue(forKey: slot)?.key else { return }
    rarities[slot] = Rarities(key: key)
  }

  /// A slot for a new key, the most recently used one.
  private mutating func add(_ key: UnsafeRawBufferPointer, _ hash: UInt32) -> Int32 {
    let slot: Int32
    if firstFree != Self.none {
      slot = firstFree
      firstFree = self[slot].older
      self[slot] = Slot()
    } else {
      slot = slotCount
      slotCount += 1
      if slot & (1 << Self.chunkBits - 1) == 0 { chunks.append([]) }
      chunks[chunks.count - 1].append(Slot())
    }
    self[slot].isUsed = true
    self[slot].hash = hash
    if let place = unsafe keys.add(key) {
      self[slot].key = place
    } else {
      unsafe keepAside(Array(key), slot)
    }
    count += 1
    if count * 4 > places.count * 3 { growPlaces() } else { place(slot, hash) }
    link(slot)
    return slot
  }

  @discardableResult
  private mutating func remove(_ slot: Int32) -> Entry {
    let removed = entry(slot)
    forget(slot, removed)
    takePlace(of: slot)
    unlink(slot)
    let sparse = rarities.removeValue(forKey: slot)?.key == nil ? keys.remove(self[slot].key) : nil
    self[slot] = Slot()
    self[slot].older = firstFree
    firstFree = slot
    count -= 1
    if let sparse { compact(sparse) }
    return removed
  }

  // MARK: Order of use

  private mutating func touch(_ slot: Int32) {
    guard newest != slot else { return }
    unlink(slot)
    link(slot)
  }

  private mutating func link(_ slot: Int32) {
    self[slot].older = newest
    self[slot].newer = Self.none
    if newest == Self.none { oldest = slot } else { self[newest].newer = slot }
    newest = slot
  }

  private mutating func unlink(_ slot: Int32) {
    let (older, newer) = (self[slot].older, self[slot].newer)
    if older == Self.none { oldest = newer } else { self[older].newer = newer }
    if newer == Self.none { newest = older } else { self[newer].older = older }
  }

  // MARK: Deadlines and sizes

  private mutating func remember(_ deadline: Int64, of slot: Int32) {
    // Overwritten entries leave their old deadlines behind; once in a while they go.
    if deadlines.count > 2 * count + 1_024 {
      deadlines = DeadlineHeap()
      for slot in 0..<slotCount where self[slot].isUsed && self[slot].deadline != .max {
        deadlines.insert(self[slot].deadline, slot)
      }
    } else {
      deadlines.insert(deadline, slot)
    }
  }

  /// Records begin at multiples of eight, and no file of the log is too long for this.
  private static func eighths(_ offset: Int) -> UInt32 { UInt32(clamping: offset / 8) }

  /// Files take whole blocks.
  static func blocks(_ bytes: Int) -> Int { (bytes + 4_095) & ~4_095 }
}
