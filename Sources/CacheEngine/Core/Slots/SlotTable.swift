/// A hash table whose entries keep their place, a small number, for as long as they live.
///
/// Eviction policies order these numbers and need to know nothing of keys. Swift's `Dictionary` costs several times
/// as much where every insertion evicts, since each removal hashes the neighbours of the removed key again.
///
/// Its index is a ``SlotIndex``.
@usableFromInline
package struct SlotTable<Key: Hashable & Sendable, Payload: Sendable>: Sendable {
  @usableFromInline
  package struct Slot: Sendable {
    @usableFromInline package var key: Key
    @usableFromInline package var payload: Payload

    @inlinable
    init(key: Key, payload: Payload) {
      self.key = key
      self.payload = payload
    }
  }

  @usableFromInline package var index: ContiguousArray<UInt64>
  @usableFromInline package var slots: ContiguousArray<Slot?>
  @usableFromInline var freeSlots: [Int32]
  @usableFromInline var mask: Int

  @inlinable
  package init() {
    index = ContiguousArray(repeating: 0, count: 16)
    slots = []
    freeSlots = []
    mask = 15
  }

  @inlinable package var count: Int { slots.count - freeSlots.count }

  /// The hash that the other methods take.
  ///
  /// Computed by the caller, so that no key is hashed under a lock.
  @inlinable
  package static func hash(_ key: Key) -> UInt32 {
    UInt32(truncatingIfNeeded: key.hashValue)
  }

  @inlinable
  package func find(_ key: Key, hash: UInt32) -> Int32? {
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let word = index[place]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word >> 32) == hash {
        let slot = Int32(truncatingIfNeeded: word) &- 1
        if slots[Int(slot)]?.key == key { return slot }
      }
      place = (place &+ 1) & mask
    }
  }

  /// The payload of a slot in use.
  @inlinable
  package subscript(payload slot: Int32) -> Payload {
    // Found a moment ago, so that there is one.
    get { unsafe slots[Int(slot)].unsafelyUnwrapped.payload }
    _modify { yield &slots[Int(slot)]!.payload }
  }

  /// Adds a key that is not there.
  @inlinable
  package mutating func insert(_ key: Key, hash: UInt32, payload: Payload) -> Int32 {
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    let slot: Int32
    if let free = freeSlots.last {
      freeSlots.removeLast()
      slot = free
      // It has nothing to let go of.
      unsafe slots.withUnsafeMutableBufferPointer { slots in
        unsafe slots.initializeElement(at: Int(slot), to: Slot(key: key, payload: payload))
      }
    } else {
      slot = Int32(slots.count)
      slots.append(Slot(key: key, payload: payload))
    }
    place(SlotIndex.word(slot, hash: hash))
    return slot
  }

  /// Takes an entry out and returns it, so that its value can die outside the caller's lock.
  @inlinable
  package mutating func remove(_ slot: Int32, hash: UInt32) -> Slot? {
    let word = SlotIndex.word(slot, hash: hash)
    let mask = mask
    let wasThere = unsafe index.withUnsafeMutableBufferPointer { index in
      unsafe SlotIndex.remove(word, from: index.baseAddress.unsafelyUnwrapped, mask: mask)
    }
    guard wasThere else { return nil }
    freeSlots.append(slot)
    var content: Slot?
    swap(&content, &slots[Int(slot)])
    return content
  }

  @inlinable
  @inline(__always)
  mutating func place(_ word: UInt64) {
    let mask = mask
    unsafe index.withUnsafeMutableBufferPointer { index in
      unsafe SlotIndex.insert(word, into: index.baseAddress.unsafelyUnwrapped, mask: mask)
    }
  }

  @usableFromInline
  mutating func grow() {
    let old = index
    index = ContiguousArray(repeating: 0, count: old.count * 2)
    mask = index.count - 1
    for word in old where word != 0 { place(word) }
  }
}
