import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

/// The tests of the contract itself.
@Suite struct BrokenContractTests {
  private func contract(of flaw: Flaw?) -> LevelContract<FlawedLevel> {
    LevelContract(
      "flawed", keys: SampleKeys.texts, equalKeys: SampleKeys.equalTexts, values: [1, 2, 3],
      capabilities: [.expiring, .durable]
    ) {
      let clock = ManualClock()
      return LevelUnderTest(FlawedLevel(flaw, clock: clock), clock: clock) { FlawedLevel(reopening: $0) }
    }
  }

  @Test("a level without a flaw keeps the contract, so that what follows is due to the flaws alone")
  func flawless() async {
    #expect(await contract(of: nil).violations() == [])
  }

  @Test("the check named after a flaw reports it, and says which level it was", arguments: Flaw.allCases)
  func catches(flaw: Flaw) async throws {
    let check = try #require(contract(of: flaw).checks.first { $0.id == flaw.rawValue })
    let violations = await check.violations()
    #expect(!violations.isEmpty)
    #expect(violations.allSatisfy { $0.level == "flawed" && $0.check == flaw.rawValue && $0.expected != $0.seen })
  }

  @Test("every check has a flaw that it is tested with, and a name of its own")
  func complete() {
    let ids = contract(of: nil).checks.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(Set(ids) == Set(Flaw.allCases.map(\.rawValue)))
  }

  @Test("no sample key leads to a place that matters, for a level that takes keys for paths")
  func harmless() {
    let leading = SampleKeys.texts.filter { $0.hasPrefix("/") || $0.split(separator: "/").contains("..") }
    #expect(leading.count >= 2)
    #expect(leading.allSatisfy { $0.hasSuffix("/outside") })
  }

  @Test("a read-only level that stores is reported")
  func readOnly() async {
    let contract = LevelContract("writable", values: [1, 2], capabilities: .readOnly) {
      LevelUnderTest(MemoryCacheLevel<String, Int>())
    }
    #expect(await Set(contract.violations().map(\.check)) == ["stores-nothing"])
  }

  @Test("a level beyond its limits is reported")
  func unbounded() async {
    let contract = LevelContract("boastful", values: [1, 2], capabilities: .bounded) { LevelUnderTest(Boastful()) }
    #expect(await Set(contract.violations().map(\.check)) == ["usage"])
  }

  @Test("a small level is not reported because an overwrite with a larger value takes others' room")
  func unlikeValues() async {
    let contract = LevelContract(
      "small", keys: ["a", "b", "c", "d"], values: [Data(count: 10), Data(count: 1)], capabilities: .bounded
    ) {
      LevelUnderTest(MemoryCacheLevel<String, Data>(capacity: 12, eviction: .lru))
    }
    #expect(await contract.violations() == [])
  }

  @Test("a level is not reported because there are more keys than tasks that write them")
  func manyKeys() async {
    let contract = LevelContract("wide", keys: Array(0..<150), values: [1, 2]) {
      LevelUnderTest(MemoryCacheLevel<Int, Int>())
    }
    #expect(await contract.violations() == [])
  }

  @Test("a fixture without what its capabilities need is told so, check by check")
  func incomplete() async {
    let contract = LevelContract("bare", values: [1, 2], capabilities: [.expiring, .durable]) {
      LevelUnderTest(MemoryCacheLevel<String, Int>())
    }
    let seen = Set(await contract.violations().map(\.seen))
    #expect(seen.contains("the error: an expiring level needs a clock"))
    #expect(seen.contains("the error: a durable level needs a way to reopen it"))
  }

  @Test("a factory that fails is a violation, not a crash")
  func failingFactory() async {
    let contract = LevelContract<MemoryCacheLevel<String, Int>>("none", values: [1, 2]) {
      throw CacheError(.simulated, "no level today")
    }
    let violations = await contract.violations()
    #expect(violations.count == contract.checks.count)
    let first = violations.first?.description
    #expect(first == "none, readers-agree: expected a fresh level, saw the error: no level today")
  }
}

/// A level that promises fewer entries than it keeps.
private struct Boastful: StorageDecorator {
  let base = MemoryCacheLevel<String, Int>()
  var usage: LevelUsage {
    LevelUsage(count: base.usage.count, cost: base.usage.cost, capacity: 5, countLimit: 5)
  }
}
