import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct SlotTableTests {
  /// Keys that all but a few share their hash, so that every probe runs into a neighbour.
  struct Colliding: Hashable, Sendable {
    var number: Int
    func hash(into hasher: inout Hasher) { hasher.combine(number % 3) }
  }

  @Test("keys with equal hashes keep their own payloads through insertions and removals", arguments: 0..<6)
  func collisions(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = SlotTable<Colliding, Int>()
    var model: [Colliding: Int] = [:]
    for step in 0..<2_000 {
      let key = Colliding(number: Int.random(in: 0..<60, using: &generator))
      let hash = SlotTable<Colliding, Int>.hash(key)
      if let slot = table.find(key, hash: hash) {
        #expect(table.slots[Int(slot)]?.payload == model[key])
        expect(table.remove(slot, hash: hash)?.payload == model.removeValue(forKey: key))
      } else {
        #expect(model[key] == nil)
        _ = table.insert(key, hash: hash, payload: step)
        model[key] = step
      }
      #expect(table.count == model.count)
    }
    for (key, value) in model {
      let slot = table.find(key, hash: SlotTable<Colliding, Int>.hash(key))
      #expect(slot.flatMap { table.slots[Int($0)]?.payload } == value)
    }
  }

  @Test("a slot keeps its number while others come and go")
  func stableSlots() {
    var table = SlotTable<Int, Int>()
    let kept = table.insert(-1, hash: SlotTable<Int, Int>.hash(-1), payload: 0)
    for key in 0..<1_000 { _ = table.insert(key, hash: SlotTable<Int, Int>.hash(key), payload: key) }
    for key in 0..<1_000 {
      let hash = SlotTable<Int, Int>.hash(key)
      if let slot = table.find(key, hash: hash) { _ = table.remove(slot, hash: hash) }
    }
    #expect(table.find(-1, hash: SlotTable<Int, Int>.hash(-1)) == kept)
    #expect(table.count == 1)
  }
}
