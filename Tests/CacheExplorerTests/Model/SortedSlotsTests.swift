import CacheEngineTesting
import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState

struct SortedSlotsTests {
  private let noTie: SortedSlots.Tie = { _, _ in 0 }

  @Test("However items come, go and change, they stand as a sort would put them", arguments: 1...12)
  func staysSorted(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let isReversed = seed % 2 == 0
    var slots = SortedSlots()
    var ranks: [Int32: Int64] = [:]
    for step in 0..<4_000 {
      let slot = Int32.random(in: 0..<900, using: &generator)
      if let rank = ranks.removeValue(forKey: slot) {
        let isRemoved = slots.remove(SortedSlots.Item(rank: rank, slot: slot), reversed: isReversed, tie: noTie)
        #expect(isRemoved)
      }
      if Bool.random(using: &generator) || step < 1_500 {
        let rank = Int64.random(in: -40...40, using: &generator)
        ranks[slot] = rank
        slots.insert(SortedSlots.Item(rank: rank, slot: slot), reversed: isReversed, tie: noTie)
      }
    }
    let expected = ranks.sorted { left, right in
      left.value == right.value
        ? left.key < right.key : isReversed ? left.value > right.value : left.value < right.value
    }.map { Int($0.key) }
    #expect(slots.count == expected.count)
    #expect(slots.window(slots.indices).slots == expected)
    #expect(slots.window(7..<19).slots == Array(expected[7..<19]))
    for (place, slot) in expected.enumerated() {
      let item = SortedSlots.Item(rank: ranks[Int32(slot)] ?? 0, slot: Int32(slot))
      let found = slots.place(of: item, reversed: isReversed, tie: noTie)
      #expect(found == place)
    }
    let isRemoved = slots.remove(SortedSlots.Item(rank: 1_000, slot: 1), reversed: isReversed, tie: noTie)
    #expect(!isRemoved)
  }

  @Test("A window of a million items, and a change among them, cost a few thousand steps and not a million")
  func aMillion() {
    var slots = SortedSlots()
    slots.replace(
      (0..<1_000_000).map { SortedSlots.Item(rank: Int64($0 &* 7_919 % 1_000_003), slot: $0) }, reversed: false,
      tie: noTie)
    let window = slots.window(700_000..<700_040)
    #expect(window.slots.count == 40)
    #expect(window.work < 5_000)
    let before = slots.work
    for slot in 0..<100 {
      let rank = Int64(slot &* 7_919 % 1_000_003)
      let isRemoved = slots.remove(SortedSlots.Item(rank: rank, slot: Int32(slot)), reversed: false, tie: noTie)
      #expect(isRemoved)
      slots.insert(SortedSlots.Item(rank: rank + 500_000, slot: Int32(slot)), reversed: false, tie: noTie)
    }
    #expect((slots.work - before) / 100 < 1_500)
  }
}
