/// A dictionary for what comes and goes with every request: keys are hashed fast, and to remove one hashes nothing else.
///
/// Swift's `Dictionary` hashes the neighbours of a removed key again.
@usableFromInline
struct KeyedSlots<Key: Hashable & Sendable, Payload: Sendable>: Sendable {
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

  @usableFromInline var table = SlotTable<Key, Payload>()
  @usableFromInline let hashing = KeyHashing<Key>()

  @usableFromInline
  init() {}

  @inlinable var count: Int { table.count }
  @inlinable var isEmpty: Bool { table.count == 0 }

  @usableFromInline var payloads: [Payload] { table.slots.compactMap { $0?.payload } }

  /// The keys whose payload meets a condition.
  func keys(where isMeant: (Payload) -> Bool) -> [Key] {
    table.slots.compactMap { slot in slot.flatMap { isMeant($0.payload) ? $0.key : nil } }
  }

  @inlinable
  func place(of key: Key) -> Place? {
    let hash = hashing(key)
    return table.find(key, hash: hash).map { Place(slot: $0, hash: hash) }
  }

  /// Where a key is, which comes with a payload if it is not there.
  @inlinable
  mutating func place(of key: Key, adding payload: @autoclosure () -> Payload) -> Place {
    let hash = hashing(key)
    let slot = table.find(key, hash: hash) ?? table.insert(key, hash: hash, payload: payload())
    return Place(slot: slot, hash: hash)
  }

  /// The payload in a place.
  @inlinable
  subscript(place: Place) -> Payload {
    get { table[payload: place.slot] }
    _modify { yield &table[payload: place.slot] }
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

  @discardableResult
  @inlinable
  mutating func remove(at place: Place) -> Payload? { table.remove(place.slot, hash: place.hash)?.payload }
}
