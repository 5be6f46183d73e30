import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import ExplorerCache

struct HeldMemoryTests {
  @Test("Held bytes come back as they were, few of them in place", arguments: [0, 1, 14, 15, 21, 22, 23, 1_000])
  func bytes(count: Int) {
    // A part of something longer: its first index is not 0.
    let bytes = Data((0..<count + 3).map { UInt8(truncatingIfNeeded: $0 * 7) }).dropFirst(3)
    let held = HeldBytes(bytes)
    #expect(held.data == bytes)
    #expect(held.cost == count)
    let isInPlace = if case .few = held { true } else { false }
    #expect(isInPlace == (count <= 22))
  }

  @Test("Held bytes take three words, so that a small value allocates nothing")
  func words() {
    #expect(MemoryLayout<HeldBytes>.stride == 24)
  }

  @Test("A memory level keeps its contract when its values are held otherwise", arguments: [nil, 60] as [Int?])
  func contract(capacity: Int?) async {
    let values = [Data("short".utf8), Data(repeating: 7, count: 30), Data()]
    let able: LevelCapabilities = capacity == nil ? .expiring : [.expiring, .bounded]
    let contract = LevelContract("held", values: values, capabilities: able) {
      let clock = ManualClock()
      return LevelUnderTest(
        HeldMemoryLevel<Data>(base: MemoryCacheLevel(capacity: capacity ?? 1 << 20, clock: clock)), clock: clock)
    }
    #expect(await contract.violations() == [])
  }

  @Test("All that a memory level says of an entry is said of a held one")
  func entry() async throws {
    let clock = ManualClock()
    let inside = MemoryCacheLevel<String, HeldBytes>(name: "inside", expiry: .after(.seconds(9)), clock: clock)
    let level = HeldMemoryLevel<Data>(base: inside)
    let value = Data("value".utf8)
    try await level.store(value, forKey: "key", terms: StoreTerms(cost: 77, tags: ["tag"]))
    for entry in [try await level.lookup("key").entry, level.peekEntry("key")] {
      let entry = try #require(entry)
      #expect(entry.value == value)
      #expect(entry.cost == 77)
      #expect(entry.level == "inside")
      #expect(entry.created == clock.now)
      #expect(entry.deadline == clock.now.advanced(by: .seconds(9)))
      #expect(entry.tags == ["tag"])
    }
    #expect(level.peek("key") == value)
    #expect(level.expiry == .after(.seconds(9)))
    #expect(level.usage == inside.usage)
    #expect(try await level.contents().map(\.cost) == [77])
    #expect(try await !level.setIfAbsent(Data(), forKey: "key"))
    #expect(try await level.removeAll(tagged: "tag") == 1)
    #expect(try await level.lookup("key").missReason == .absent)
  }
}
