public import CacheCore

/// A hash table of cache entries in which everything that a hit needs of an entry lies in one record.
///
/// A slot number names a record for as long as it lives; policies order these numbers and need to know nothing of keys.
/// The index is a `SlotIndex`, as that of `SlotTable` is. Unlike there, records lie in blocks and never move, and there is no
/// reference count between a reader and a record, so that two readers write to no line of the processor's cache in common.
///
/// The caller hashes, by one ``KeyHashing``, so that no key is hashed under a lock.
///
/// A record does not know its hash, which would take eight bytes of it: who takes one out has the key, or is told by the
/// policy, which keeps the hash for itself.
@usableFromInline
@safe
struct EntryTable<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  @usableFromInline
  struct Record: Sendable {
    @usableFromInline var key: Key
    @usableFromInline var entry: MemoryEntry<Value>

    @inlinable
    init(key: Key, entry: MemoryEntry<Value>) {
      self.key = key
      self.entry = entry
    }
  }

  @usableFromInline var index: UnsafeMutablePointer<UInt64>
  @usableFromInline var mask: Int
  /// Sixteen blocks hold as many records as there are in all blocks before, so that little room is spare.
  @usableFromInline var blocks: UnsafeMutablePointer<UnsafeMutablePointer<Record>>
  @usableFromInline var blockCount = 0
  /// The slots below this one have been used.
  @usableFromInline var used: Int32 = 0
  /// The slot that became free last, or -1.
  ///
  /// The first bytes of its record name the one before.
  @usableFromInline var lastFree: Int32 = -1
  @usableFromInline var freeCount = 0

  @inlinable
  init() {
    unsafe index = .allocate(capacity: 16)
    unsafe index.initialize(repeating: 0, count: 16)
    mask = 15
    unsafe blocks = .allocate(capacity: 0)
  }

  @inlinable
  deinit {
    for place in 0...mask {
      guard let slot = slot(at: place) else { continue }
      unsafe record(slot).deinitialize(count: 1)
    }
    for block in 0..<blockCount { unsafe blocks[block].deallocate() }
    unsafe blocks.deallocate()
    unsafe index.deallocate()
  }

  @inlinable var count: Int { Int(used) &- freeCount }

  @inlinable
  func find(_ key: Key, hash: UInt32) -> Int32? { unsafe locate(key, hash)?.slot }

  /// The slot of a key, and where its record lies.
  @inlinable
  @inline(__always)
  func locate(_ key: Key, _ hash: UInt32) -> (slot: Int32, record: UnsafeMutablePointer<Record>)? {
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let word = unsafe index[place]
      if UInt32(truncatingIfNeeded: word >> 32) == hash, word != 0 {
        let slot = Int32(truncatingIfNeeded: word) &- 1
        let record = unsafe record(slot)
        if unsafe record.pointee.key == key { return unsafe (slot, record) }
      } else if word == 0 {
        return nil
      }
      place = (place &+ 1) & mask
    }
  }

  @inlinable
  subscript(slot: Int32) -> MemoryEntry<Value> {
    get { unsafe record(slot).pointee.entry }
    set { unsafe record(slot).pointee.entry = newValue }
  }

  @inlinable
  func key(of slot: Int32) -> Key { unsafe record(slot).pointee.key }

  @inlinable
  func cost(of slot: Int32) -> Int { unsafe record(slot).pointee.entry.cost }

  @inlinable
  mutating func exchange(_ slot: Int32, _ entry: inout MemoryEntry<Value>) {
    unsafe swap(&record(slot).pointee.entry, &entry)
  }

  func copy(of slot: Int32) -> Record { unsafe record(slot).pointee }

  @inlinable
  func deadline(of slot: Int32) -> CacheInstant? { unsafe record(slot).pointee.entry.deadline }

  /// The time at which an entry leaves that has a deadline.
  @inlinable
  func due(_ slot: Int32, keepsExpired: Duration) -> CacheInstant {
    unsafe record(slot).pointee.entry.storedDeadline.advanced(by: keepsExpired)
  }

  /// Adds a key that is not there.
  @inlinable
  @inline(__always)
  mutating func insert(_ record: consuming Record, hash: UInt32) -> Int32 {
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    let slot = lastFree >= 0 ? takeFree() : nextSlot()
    unsafe SlotIndex.insert(SlotIndex.word(slot, hash: hash), into: index, mask: mask)
    unsafe self.record(slot).initialize(to: record)
    return slot
  }

  /// Takes a record out and returns it, so that its key and its value can die outside the caller's lock.
  ///
  /// The hash is the one that it was inserted with; with another the process ends, since it would search for ever.
  @inlinable
  @inline(__always)
  mutating func remove(_ slot: Int32, hash: UInt32) -> Record {
    let record = unsafe record(slot).move()
    let wasThere = unsafe SlotIndex.remove(SlotIndex.word(slot, hash: hash), from: index, mask: mask)
    precondition(wasThere, "an entry was taken out by a hash that it did not come with")
    unsafe remains(slot).storeBytes(of: lastFree, as: Int32.self)
    lastFree = slot
    freeCount &+= 1
    return record
  }

  /// Puts a key that is not there in the place of another one, which is returned; the entries change places.
  ///
  /// The old hash is the one that the other key was inserted with; with another the process ends.
  @inlinable
  @inline(__always)
  mutating func replace(
    _ slot: Int32, hash old: UInt32, with key: Key, _ entry: inout MemoryEntry<Value>, hash new: UInt32
  ) -> Key {
    // The places are those that a removal and an insertion would have found.
    let wasThere = unsafe SlotIndex.remove(SlotIndex.word(slot, hash: old), from: index, mask: mask)
    precondition(wasThere, "an entry was replaced by a hash that it did not come with")
    unsafe SlotIndex.insert(SlotIndex.word(slot, hash: new), into: index, mask: mask)
    let record = unsafe record(slot)
    unsafe swap(&record.pointee.entry, &entry)
    // Moved out and in, so that neither key is copied more than once; the pointer is to a part of a record that is there.
    return unsafe withUnsafeMutablePointer(to: &record.pointee.key) { place in
      let left = unsafe place.move()
      unsafe place.initialize(to: key)
      return left
    }
  }

  /// Every slot in use, in no particular order.
  var slots: [Int32] { (0...mask).compactMap { slot(at: $0) } }

  @inlinable
  func slot(at place: Int) -> Int32? {
    let word = unsafe index[place]
    return word == 0 ? nil : Int32(truncatingIfNeeded: word) &- 1
  }

  @inlinable
  func record(_ slot: Int32) -> UnsafeMutablePointer<Record> {
    let (block, place, _) = Self.position(of: slot)
    return unsafe blocks[block] + place
  }

  /// The block that a slot's record lies in, its place there, and the block's length.
  ///
  /// Every power of two from 64 on is divided into sixteen blocks.
  @inlinable
  static func position(of slot: Int32) -> (block: Int, place: Int, length: Int) {
    let number = Int(slot) &+ 64
    let part = (number.leadingZeroBitCount ^ 63) &- 4
    return ((part &- 2) &* 16 &+ (number &>> part) &- 16, number & (1 &<< part &- 1), 1 &<< part)
  }

  /// What is left of the record in a free slot.
  @inlinable
  func remains(_ slot: Int32) -> UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(record(slot)) }

  @inlinable
  mutating func takeFree() -> Int32 {
    let slot = lastFree
    lastFree = unsafe remains(slot).load(as: Int32.self)
    freeCount &-= 1
    return slot
  }

  @inlinable
  mutating func nextSlot() -> Int32 {
    let slot = used
    let (block, place, length) = Self.position(of: slot)
    if place == 0, block == blockCount { addBlock(length) }
    used += 1
    return slot
  }

  @inlinable
  @inline(never)
  mutating func addBlock(_ length: Int) {
    if blockCount % 16 == 0 {
      let old = unsafe blocks
      unsafe blocks = .allocate(capacity: blockCount + 16)
      unsafe blocks.moveInitialize(from: old, count: blockCount)
      unsafe old.deallocate()
    }
    unsafe (blocks + blockCount).initialize(to: .allocate(capacity: length))
    blockCount += 1
  }

  @inlinable
  mutating func grow() {
    let (old, oldCount) = unsafe (index, mask + 1)
    unsafe index = .allocate(capacity: oldCount * 2)
    unsafe index.initialize(repeating: 0, count: oldCount * 2)
    mask = oldCount * 2 - 1
    for place in 0..<oldCount where unsafe old[place] != 0 {
      unsafe SlotIndex.insert(old[place], into: index, mask: mask)
    }
    unsafe old.deallocate()
  }
}
