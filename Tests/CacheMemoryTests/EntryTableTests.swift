import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheCore
@testable import CacheMemory

@Suite struct EntryTableTests {
  /// Keys that all but a few share their hash, so that every probe runs into a neighbour.
  struct Colliding: Hashable, Sendable {
    var number: Int
    func hash(into hasher: inout Hasher) { hasher.combine(number % 3) }
  }

  private typealias Table = EntryTable<Colliding, Int>

  private let hashing = KeyHashing<Colliding>()

  private func record(_ key: Colliding, _ value: Int) -> Table.Record {
    let entry = MemoryEntry(value: value, cost: 1, created: CacheInstant(nanoseconds: 0), deadline: nil)
    return Table.Record(key: key, entry: entry)
  }

  private func insert(_ key: Colliding, _ value: Int, in table: inout Table) -> Int32 {
    table.insert(record(key, value), hash: hashing(key))
  }

  @Test("keys with equal hashes keep their own entries through insertions and removals", arguments: 0..<6)
  func collisions(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = Table()
    var model: [Colliding: Int] = [:]
    for step in 0..<2_000 {
      let key = Colliding(number: Int.random(in: 0..<60, using: &generator))
      if let slot = table.find(key, hash: hashing(key)) {
        let value = table.remove(slot, hash: hashing(key)).entry.value
        #expect(value == model.removeValue(forKey: key))
      } else {
        #expect(model[key] == nil)
        _ = insert(key, step, in: &table)
        model[key] = step
      }
      let count = table.count
      #expect(count == model.count)
    }
    for (key, value) in model {
      let found = table.find(key, hash: hashing(key)).map { table[$0].value }
      #expect(found == value)
    }
  }

  @Test(
    "a key that takes the place of another is found, and the other is not, with equal hashes as well", arguments: 0..<6)
  func replacements(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = Table()
    var model: [Colliding: Int] = [:]
    for number in 0..<30 {
      _ = insert(Colliding(number: number), number, in: &table)
      model[Colliding(number: number)] = number
    }
    for step in 30..<2_000 {
      let key = Colliding(number: Int.random(in: 0..<60, using: &generator))
      let held = model.keys.sorted { $0.number < $1.number }
      guard model[key] == nil, let old = held.randomElement(using: &generator),
        let slot = table.find(old, hash: hashing(old))
      else { continue }
      var entry = record(key, step).entry
      let left = table.replace(slot, hash: hashing(old), with: key, &entry, hash: hashing(key))
      #expect(left == old)
      #expect(entry.value == model.removeValue(forKey: old))
      model[key] = step
      let (found, gone, count) = (table.find(key, hash: hashing(key)), table.find(old, hash: hashing(old)), table.count)
      #expect(found == slot && gone == nil && count == 30)
    }
    for (key, value) in model {
      let found = table.find(key, hash: hashing(key)).map { table[$0].value }
      #expect(found == value)
    }
  }

  @Test("a slot keeps its number while so many others come that everything grows")
  func stableSlots() {
    var table = Table()
    let kept = insert(Colliding(number: -1), 7, in: &table)
    var others: [Int32] = []
    for number in 0..<5_000 { others.append(insert(Colliding(number: number), number, in: &table)) }
    #expect(Set(others).count == 5_000)
    let value = table[kept].value
    #expect(value == 7)
    for slot in others { _ = table.remove(slot, hash: hashing(table.key(of: slot))) }
    let left = table.slots
    #expect(left == [kept])
  }

  @Test("the values that a table still holds die with it, and those taken out do not die twice")
  func lifetimes() {
    final class Token: Sendable {}
    let hashing = KeyHashing<Int>()
    weak var held: Token?
    weak var taken: Token?
    weak var replaced: Token?
    do {
      var table = EntryTable<Int, Token>()
      for key in 0..<100 {
        let token = Token()
        if key == 50 { held = token }
        if key == 51 { taken = token }
        if key == 52 { replaced = token }
        let entry = MemoryEntry(value: token, cost: 1, created: CacheInstant(nanoseconds: 0), deadline: nil)
        _ = table.insert(.init(key: key, entry: entry), hash: hashing(key))
      }
      let hash = hashing(51)
      if let slot = table.find(51, hash: hash) { _ = table.remove(slot, hash: hash) }
      #expect(taken == nil)
      if let slot = table.find(52, hash: hashing(52)) {
        var entry = MemoryEntry(value: Token(), cost: 1, created: CacheInstant(nanoseconds: 0))
        _ = table.replace(slot, hash: hashing(52), with: 200, &entry, hash: hashing(200))
        #expect(replaced === entry.value)
      }
      #expect(replaced == nil)
      #expect(held != nil)
    }
    #expect(held == nil)
  }
}
