import CacheCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How an entry is found by its key.
extension StoreIndex {
  func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    unsafe UInt32(truncatingIfNeeded: HashSecrets.hash(key) >> 32) & hashMask
  }

  func slot(of key: StoreKey) -> Int32? {
    unsafe key.bytes.withUnsafeBytes { unsafe find($0, hash($0)) }
  }

  func find(_ key: UnsafeRawBufferPointer, _ hash: UInt32) -> Int32? {
    let mask = places.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
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

  func withKey<Answer>(_ slot: Int32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    if self[slot].flags.contains(.hasRarities), let key = rarities[slot]?.key {
      return unsafe key.withUnsafeBytes { unsafe body($0) }
    }
    return unsafe keys.withKey(self[slot].key, body)
  }

  func key(_ slot: Int32) -> StoreKey { unsafe withKey(slot) { unsafe StoreKey(Array($0)) } }

  /// Keeps a key that the arena does not take.
  mutating func keepAside(_ key: [UInt8], _ slot: Int32) {
    self[slot].flags.insert(.hasRarities)
    rarities[slot, default: Rarities()].key = key
  }

  /// Empties a block of the arena in which little is held.
  mutating func compact(_ block: Int) {
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
    var place = Int(truncatingIfNeeded: hash) & mask
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

  mutating func place(_ slot: Int32, _ hash: UInt32) {
    let mask = places.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while places[place] != 0 { place = (place &+ 1) & mask }
    places[place] = UInt32(bitPattern: slot) &+ 1
  }

  mutating func takePlace(of slot: Int32) {
    let mask = places.count - 1
    let word = UInt32(bitPattern: slot) &+ 1
    var hole = Int(truncatingIfNeeded: self[slot].hash) & mask
    while places[hole] != word { hole = (hole &+ 1) & mask }
    var next = (hole &+ 1) & mask
    while places[next] != 0 {
      let home = Int(truncatingIfNeeded: self[Int32(bitPattern: places[next] &- 1)].hash) & mask
      // An entry may move back into the hole only if the hole lies between its home and its place.
      if (next &- home) & mask >= (next &- hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next &+ 1) & mask
    }
    places[hole] = 0
  }

  mutating func growPlaces() {
    places = ContiguousArray(repeating: 0, count: places.count * 2)
    for slot in 0..<slotCount where self[slot].isUsed { place(slot, self[slot].hash) }
  }
}
