import CacheCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where the newest record of each key lies, and which key was not used for the longest time.
///
/// A plain value, of which an entry takes some 65 bytes and its key. An entry stands in a slot, which it keeps for as long as
/// it lives; slots stand in chunks, so that none is copied when there are more. What few entries have is kept beside them.
///
/// Open addressing with linear probing and backward-shift deletion (Knuth, The Art of Computer Programming 3, 6.4, algorithm
/// R) over slot numbers of four bytes; a slot holds the hash of its key, so that probing compares keys only where hashes are
/// equal.
struct StoreIndex: Sendable {
  /// What the index knows of an entry.
  struct Entry: Sendable, Equatable, RecordShape {
    var segment: UInt64
    var offset: Int
    /// The lower half of the record's number: enough to tell a record from those that stood in its place.
    var sequence: UInt32
    var keyLength: UInt32
    var typeLength: UInt16
    var tagsLength: UInt32
    var valueLength: UInt64
    var cost: Int64
    var isSealed: Bool
    /// Its lifetime was ended by hand, of which its record does not tell.
    var isEnded = false
    /// The number of the file that holds the value, if that is not in the record.
    var ownFile: UInt64?
    var ownFileLength = 0
    /// By this process's clock; `Int64.max` for never.
    var deadline: Int64
    var created: Int64
    /// In an encrypted store: the key itself, if it is known; the store knows the entry by a name for it.
    var realKey: StoreKey?

    /// What the entry takes on the disk, its own file included.
    var bytes: Int { recordLength + StoreIndex.blocks(ownFileLength) }
    var deadlineInstant: CacheInstant? { deadline == .max ? nil : CacheInstant(nanoseconds: deadline) }
    /// The length of the value, wherever it stands.
    var size: Int { ownFile == nil ? Int(valueLength) : ownFileLength }
  }

  /// An entry as it is kept.
  private struct Slot: Sendable {
    var deadline: Int64 = .max
    var created: Int64 = 0
    /// A number that stands for the segment's, see ``SegmentUse``.
    var segment: UInt32 = 0
    /// In eights, at which records begin.
    var offset: UInt32 = 0
    var sequence: UInt32 = 0
    var valueLength: UInt32 = 0
    var cost: UInt32 = 0
    /// Its place in the arena, unless it is among the rare things.
    var key: UInt32 = 0
    var hash: UInt32 = 0
    /// Neighbours in the order of use; of a free slot, `older` is the next free one.
    var (older, newer): (Int32, Int32) = (none, none)
    var typeLength: UInt16 = 0
    var isUsed = false
    var flags: Flags = []
  }

  private struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let isSealed = Flags(rawValue: 1)
    static let isEnded = Flags(rawValue: 2)
    static let hasRarities = Flags(rawValue: 4)
  }

  /// What few entries have.
  private struct Rarities: Sendable {
    var ownFile: UInt64?
    var ownFileLength = 0
    var tagsLength: UInt32 = 0
    var realKey: StoreKey?
    /// A cost that the slot has no room for.
    var cost: Int64?
    /// A key that the arena does not take.
    var key: [UInt8]?

    var isNone: Bool {
      ownFile == nil && ownFileLength == 0 && tagsLength == 0 && realKey == nil && cost == nil && key == nil
    }
  }

  /// A segment in which entries live.
  private struct SegmentUse: Sendable {
    var number: UInt64
    var count = 0
    /// What the records take that live there.
    var bytes = 0
  }

  /// What an entry takes beside its key and its place in the table.
  static let slotLength = MemoryLayout<Slot>.stride
  private static let none: Int32 = -1
  private static let chunkBits: Int32 = 12

  private var chunks: ContiguousArray<ContiguousArray<Slot>> = []
  /// How many slots there are, and the first of those that are free.
  private var slotCount: Int32 = 0
  private var firstFree = none
  /// 0 for an empty place, else a slot number and one.
  private var places = ContiguousArray<UInt32>(repeating: 0, count: 16)
  private var keys = KeyArena()
  private var rarities: [Int32: Rarities] = [:]
  private var tags = TagIndex<Int32>()
  /// Segments in which something lives, by the numbers that stand for theirs; and what stands for a number.
  private var segments: ContiguousArray<SegmentUse> = []
  private var freeSegments: [UInt32] = []
  private var segmentPlaces: [UInt64: UInt32] = [:]
  private var joinedLast: UInt32 = 0
  private var (oldest, newest) = (none, none)
  /// The deadlines of entries that can expire, soonest first.
  private var deadlines = DeadlineHeap()
  /// Makes hashes shorter, so that a test has many that are equal.
  private let hashMask: UInt32

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

  func find(_ key: StoreKey) -> Entry? { slot(of: key).map(entry) }

  /// Finds an entry and notes that it was used.
  mutating func use(_ key: StoreKey) -> Entry? {
    guard let slot = slot(of: key) else { return nil }
    touch(slot)
    return entry(slot)
  }

  func tags(of key: StoreKey) -> Set<String> { slot(of: key).map { tags.tags(of: $0) } ?? [] }

  func keys(tagged tag: String) -> [StoreKey] { tags.keys(with: tag).map(key) }

  /// Entries from a place on, at most so many; `next` is where to go on, `nil` after the last.
  ///
  /// Whoever goes through all entries so meets each that was there all the time once.
  func entries(from place: Int, count: Int) -> (entries: [(key: StoreKey, entry: Entry)], next: Int?) {
    guard place < slotCount else { return ([], nil) }
    let end = place + min(count, Int(slotCount) - place)
    let slots = (Int32(place)..<Int32(end)).lazy.filter { self[$0].isUsed }
    return (slots.map { (key($0), entry($0)) }, end)
  }

  /// The entry that was not used for the longest time.
  var leastRecentlyUsed: (key: StoreKey, entry: Entry)? {
    oldest == Self.none ? nil : (key(oldest), entry(oldest))
  }

  /// What lives in a segment; the rest of it was overwritten, removed or evicted.
  func liveBytes(in segment: UInt64) -> Int { segmentPlaces[segment].map { segments[Int($0)].bytes } ?? 0 }

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
    leave(self[slot].segment, length)
    self[slot].segment = join(segment, length)
    self[slot].offset = Self.eighths(offset)
    self[slot].sequence = UInt32(truncatingIfNeeded: sequence)
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

  private subscript(slot: Int32) -> Slot {
    _read { yield chunks[Int(slot >> Self.chunkBits)][Int(slot & (1 << Self.chunkBits - 1))] }
    _modify { yield &chunks[Int(slot >> Self.chunkBits)][Int(slot & (1 << Self.chunkBits - 1))] }
  }

  private func entry(_ slot: Int32) -> Entry {
    let kept = self[slot]
    var entry = Entry(
      segment: segments[Int(kept.segment)].number, offset: Int(kept.offset) * 8, sequence: kept.sequence, keyLength: 0,
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
    let place = join(entry.segment, entry.recordLength)
    var flags: Flags = entry.isSealed ? .isSealed : []
    if entry.isEnded { flags.insert(.isEnded) }
    if !rare.isNone { flags.insert(.hasRarities) }
    self[slot].deadline = entry.deadline
    self[slot].created = entry.created
    self[slot].segment = place
    self[slot].offset = Self.eighths(entry.offset)
    self[slot].sequence = entry.sequence
    // What a file of the log can hold is far shorter.
    self[slot].valueLength = UInt32(clamping: entry.valueLength)
    self[slot].cost = UInt32(clamping: entry.cost)
    self[slot].typeLength = entry.typeLength
    self[slot].flags = flags
    liveBytes += entry.bytes
    if entry.deadline != .max { remember(entry.deadline, of: slot) }
  }

  /// Takes what is known of the entry out of all counts; its key stays.
  private mutating func forget(_ slot: Int32, _ entry: Entry) {
    liveBytes -= entry.bytes
    leave(self[slot].segment, entry.recordLength)
    tags.remove(slot)
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

  // MARK: Keys

  private func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    unsafe UInt32(truncatingIfNeeded: HashSecrets.hash(key) >> 32) & hashMask
  }

  private func slot(of key: StoreKey) -> Int32? {
    unsafe key.bytes.withUnsafeBytes { unsafe find($0, hash($0)) }
  }

  private func find(_ key: UnsafeRawBufferPointer, _ hash: UInt32) -> Int32? {
    let mask = places.count - 1
    var place = Int(hash) & mask
    while places[place] != 0 {
      let slot = Int32(bitPattern: places[place] &- 1)
      if self[slot].hash == hash, unsafe withKey(slot, { unsafe Self.areEqual($0, key) }) { return slot }
      place = (place &+ 1) & mask
    }
    return nil
  }

  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
    return unsafe memcmp(first, second, left.count) == 0
  }

  private func withKey<Answer>(_ slot: Int32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    if self[slot].flags.contains(.hasRarities), let key = rarities[slot]?.key {
      return unsafe key.withUnsafeBytes { unsafe body($0) }
    }
    return unsafe keys.withKey(self[slot].key, body)
  }

  private func key(_ slot: Int32) -> StoreKey { unsafe withKey(slot) { unsafe StoreKey(Array($0)) } }

  /// Keeps a key that the arena does not take.
  private mutating func keepAside(_ key: [UInt8], _ slot: Int32) {
    self[slot].flags.insert(.hasRarities)
    rarities[slot, default: Rarities()].key = key
  }

  /// Empties a block of the arena, of which little is held.
  private mutating func compact(_ block: Int) {
    for (place, key) in keys.keys(in: block) {
      guard let slot = slot(at: place, unsafe key.withUnsafeBytes { unsafe hash($0) }) else { continue }
      if let new = unsafe key.withUnsafeBytes({ unsafe keys.add($0) }) {
        self[slot].key = new
      } else {
        keepAside(key, slot)
      }
    }
    keys.free(block)
  }

  /// The slot whose key has a place in the arena; `nil` if that was released.
  private func slot(at keyPlace: UInt32, _ hash: UInt32) -> Int32? {
    let mask = places.count - 1
    var place = Int(hash) & mask
    while places[place] != 0 {
      let slot = Int32(bitPattern: places[place] &- 1)
      if self[slot].key == keyPlace, self[slot].hash == hash,
        !self[slot].flags.contains(.hasRarities) || rarities[slot]?.key == nil
      {
        return slot
      }
      place = (place &+ 1) & mask
    }
    return nil
  }

  private mutating func place(_ slot: Int32, _ hash: UInt32) {
    let mask = places.count - 1
    var place = Int(hash) & mask
    while places[place] != 0 { place = (place &+ 1) & mask }
    places[place] = UInt32(bitPattern: slot) &+ 1
  }

  private mutating func takePlace(of slot: Int32) {
    let mask = places.count - 1
    let word = UInt32(bitPattern: slot) &+ 1
    var hole = Int(self[slot].hash) & mask
    while places[hole] != word { hole = (hole &+ 1) & mask }
    var next = (hole &+ 1) & mask
    while places[next] != 0 {
      let home = Int(self[Int32(bitPattern: places[next] &- 1)].hash) & mask
      // An entry may move back into the hole only if the hole lies between its home and its place.
      if (next &- home) & mask >= (next &- hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next &+ 1) & mask
    }
    places[hole] = 0
  }

  private mutating func growPlaces() {
    places = ContiguousArray(repeating: 0, count: places.count * 2)
    for slot in 0..<slotCount where self[slot].isUsed { place(slot, self[slot].hash) }
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

  // MARK: Segments and deadlines

  /// Counts a record in a segment, and gives what stands for that.
  private mutating func join(_ number: UInt64, _ length: Int) -> UInt32 {
    if segments.isEmpty || segments[Int(joinedLast)].number != number || segments[Int(joinedLast)].count == 0 {
      joinedLast = segmentPlaces[number] ?? freeSegments.popLast() ?? UInt32(segments.count)
      if segmentPlaces[number] == nil {
        if joinedLast == segments.count { segments.append(SegmentUse(number: number)) }
        segments[Int(joinedLast)] = SegmentUse(number: number)
        segmentPlaces[number] = joinedLast
      }
    }
    segments[Int(joinedLast)].count += 1
    segments[Int(joinedLast)].bytes += length
    return joinedLast
  }

  private mutating func leave(_ place: UInt32, _ length: Int) {
    segments[Int(place)].count -= 1
    segments[Int(place)].bytes -= length
    guard segments[Int(place)].count == 0 else { return }
    segmentPlaces[segments[Int(place)].number] = nil
    freeSegments.append(place)
  }

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

  /// Records begin at multiples of eight, and no file of the log is so long that this were too much.
  private static func eighths(_ offset: Int) -> UInt32 { UInt32(clamping: offset / 8) }

  /// Files take whole blocks.
  static func blocks(_ bytes: Int) -> Int { (bytes + 4_095) & ~4_095 }
}

extension StoreIndex.Entry {
  /// What the index knows of a record.
  init(
    _ header: RecordHeader, segment: UInt64, offset: Int, ownFile: UInt64? = nil, ownFileLength: Int = 0,
    at reading: ClockReading, realKey: StoreKey? = nil
  ) {
    self.init(
      segment: segment, offset: offset, sequence: UInt32(truncatingIfNeeded: header.sequence),
      keyLength: header.keyLength, typeLength: header.typeLength, tagsLength: header.tagsLength,
      valueLength: header.valueLength, cost: header.cost, isSealed: header.flags & RecordHeader.isSealed != 0,
      ownFile: ownFile, ownFileLength: ownFileLength, deadline: header.times.deadline(at: reading),
      created: header.times.created(at: reading), realKey: realKey)
  }
}
