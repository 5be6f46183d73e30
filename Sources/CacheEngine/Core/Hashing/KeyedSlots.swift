/// A dictionary for what comes and goes with every request: keys are hashed fast, and to remove one hashes nothing else.
///
/// Swift's `Dictionary` hashes the neighbours of a removed key again. The index is a ``SlotIndex``, as that of a ``SlotTable`` is,
/// but nothing asks at each change whether somebody else has the same memory: a copy is the same dictionary, so only one may be used.
@usableFromInline
@safe
struct KeyedSlots<Key: Hashable & Sendable, Payload: Sendable>: @unchecked Sendable {
  // Unchecked: it is part of what a lock guards.

  /// Where a key is, until the next change.
  @usableFromInline
  struct Place: Sendable {
    @usableFromInline let slot: Int32
    @usableFromInline let hash: UInt32

    @inlinable
    init(slot: Int32, hash: UInt32) {
      self.slot = slot
      self.hash = hash
    }
  }

  @usableFromInline
  struct Slot {
    @usableFromInline let key: Key
    @usableFromInline var payload: Payload

    @inlinable
    init(key: Key, payload: Payload) {
      self.key = key
      self.payload = payload
    }
  }

  /// Where everything lies: three quarters as many slots, and free ones, as there are places in the index.
  @usableFromInline
  @safe
  struct Memory {
    @usableFromInline var index: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask: Int
    /// Those below ``used`` that are not free have an entry.
    @usableFromInline var slots: UnsafeMutablePointer<Slot>
    @usableFromInline var used: Int32 = 0
    @usableFromInline var free: UnsafeMutablePointer<Int32>
    @usableFromInline var freeCount = 0

    @inlinable
    init(places: Int) {
      unsafe index = .allocate(capacity: places)
      unsafe index.initialize(repeating: 0, count: places)
      mask = places - 1
      unsafe slots = .allocate(capacity: places / 4 * 3)
      unsafe free = .allocate(capacity: places / 4 * 3)
    }

    @inlinable var count: Int { Int(used) &- freeCount }

    /// A slot for one more entry.
    @inlinable
    @inline(__always)
    mutating func takeSlot() -> Int32 {
      if freeCount > 0 {
        freeCount &-= 1
        return unsafe free[freeCount]
      }
      if Int(used) == (mask + 1) / 4 * 3 { grow() }
      used &+= 1
      return used &- 1
    }

    /// Makes room for as many again; all slots have an entry.
    @usableFromInline
    mutating func grow() {
      var larger = Memory(places: (mask + 1) * 2)
      for place in 0...mask where unsafe index[place] != 0 {
        unsafe SlotIndex.insert(index[place], into: larger.index, mask: larger.mask)
      }
      unsafe larger.slots.moveInitialize(from: slots, count: Int(used))
      larger.used = used
      deallocate()
      self = larger
    }

    @inlinable
    func deallocate() {
      unsafe index.deallocate()
      unsafe slots.deallocate()
      unsafe free.deallocate()
    }

    /// The slots that have an entry, in order.
    var slotsInUse: [Int] {
      (0...mask).compactMap { place in
        let word = unsafe index[place]
        return word == 0 ? nil : Int(Int32(truncatingIfNeeded: word) &- 1)
      }.sorted()
    }
  }

  /// Gives the memory back.
  @usableFromInline
  @safe
  final class Owner {
    @usableFromInline let memory: UnsafeMutablePointer<Memory>

    @inlinable
    init() {
      unsafe memory = .allocate(capacity: 1)
      unsafe memory.initialize(to: Memory(places: 16))
    }

    deinit {
      for slot in unsafe memory.pointee.slotsInUse { unsafe (memory.pointee.slots + slot).deinitialize(count: 1) }
      unsafe memory.pointee.deallocate()
      unsafe memory.deallocate()
    }
  }

  @usableFromInline let owner: Owner
  @usableFromInline let memory: UnsafeMutablePointer<Memory>
  @usableFromInline let hashing = KeyHashing<Key>()

  @usableFromInline
  init() {
    owner = Owner()
    unsafe memory = owner.memory
  }

  @inlinable var count: Int { unsafe memory.pointee.count }
  @inlinable var isEmpty: Bool { count == 0 }

  @usableFromInline var payloads: [Payload] {
    unsafe memory.pointee.slotsInUse.map { unsafe memory.pointee.slots[$0].payload }
  }

  /// The keys whose payload meets a condition.
  func keys(where isMeant: (Payload) -> Bool) -> [Key] {
    unsafe memory.pointee.slotsInUse.compactMap { slot in
      let slot = unsafe memory.pointee.slots[slot]
      return isMeant(slot.payload) ? slot.key : nil
    }
  }

  @inlinable
  func place(of key: Key) -> Place? {
    let hash = hashing(key)
    return find(key, hash).map { Place(slot: $0, hash: hash) }
  }

  @inlinable
  @inline(__always)
  func find(_ key: Key, _ hash: UInt32) -> Int32? {
    let (index, mask) = unsafe (memory.pointee.index, memory.pointee.mask)
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let word = unsafe index[place]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word >> 32) == hash {
        let slot = Int32(truncatingIfNeeded: word) &- 1
        if unsafe memory.pointee.slots[Int(slot)].key == key { return slot }
      }
      place = (place &+ 1) & mask
    }
  }

  /// Where a key is, which comes with a payload if it is not there.
  @inlinable
  mutating func place(of key: Key, adding payload: @autoclosure () -> Payload) -> Place {
    let hash = hashing(key)
    if let slot = find(key, hash) { return Place(slot: slot, hash: hash) }
    let payload = payload()
    let slot = unsafe memory.pointee.takeSlot()
    unsafe (memory.pointee.slots + Int(slot)).initialize(to: Slot(key: key, payload: payload))
    unsafe SlotIndex.insert(SlotIndex.word(slot, hash: hash), into: memory.pointee.index, mask: memory.pointee.mask)
    return Place(slot: slot, hash: hash)
  }

  /// The payload in a place.
  @inlinable
  subscript(place: Place) -> Payload {
    get { unsafe memory.pointee.slots[Int(place.slot)].payload }
    _modify { yield unsafe &memory.pointee.slots[Int(place.slot)].payload }
  }

  @inlinable
  subscript(key: Key) -> Payload? {
    guard let place = place(of: key) else { return nil }
    return self[place]
  }

  /// Changes the payload of a key, if that is there.
  @inlinable
  mutating func change(_ key: Key, _ body: (inout Payload) -> Void) {
    if let place = place(of: key) { body(&self[place]) }
  }

  /// Takes out what is in a place, and returns it, so that it can die outside the caller's lock; `nil` if nothing is there.
  @discardableResult
  @inlinable
  mutating func remove(at place: Place) -> Payload? {
    let word = SlotIndex.word(place.slot, hash: place.hash)
    guard unsafe SlotIndex.remove(word, from: memory.pointee.index, mask: memory.pointee.mask) else { return nil }
    unsafe memory.pointee.free[memory.pointee.freeCount] = place.slot
    unsafe memory.pointee.freeCount &+= 1
    return unsafe (memory.pointee.slots + Int(place.slot)).move().payload
  }
}
