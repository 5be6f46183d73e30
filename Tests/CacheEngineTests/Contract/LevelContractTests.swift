import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

/// Runs every kind of level through the contract.
@Suite struct LevelContractTests {
  private typealias Memory = MemoryCacheLevel<String, Data>
  private typealias Disk = DiskCacheLevel<String, Data>

  private static let values = (0..<3).map { Data("value \($0)".utf8) }

  private func expectContract<Level: CacheLevel>(
    _ name: String, _ capabilities: LevelCapabilities,
    sourceLocation: SourceLocation = #_sourceLocation,
    make: @escaping @Sendable () async throws -> LevelUnderTest<Level>
  ) async where Level.Key == String, Level.Value == Data {
    let contract = LevelContract(name, values: Self.values, capabilities: capabilities, make: make)
    #expect(await contract.violations() == [], sourceLocation: sourceLocation)
  }

  /// A memory level with a clock of its own.
  private static func memory(expiry: Expiry = .never, _ clock: ManualClock) -> Memory {
    Memory(expiry: expiry, clock: clock)
  }

  private static func disk(_ folder: DiskFolder, expiry: Expiry = .never, _ clock: ManualClock) throws -> Disk {
    try Disk(directory: folder.path, capacity: 8 << 20, expiry: expiry, clock: clock)
  }

  @Test("C131 C132 C133 H25 a memory level keeps the contract, with a lifetime of its own and without")
  func memory() async {
    for expiry in [Expiry.never, .after(.seconds(3_600))] {
      await expectContract("memory", .expiring) {
        let clock = ManualClock()
        return LevelUnderTest(Self.memory(expiry: expiry, clock), clock: clock)
      }
    }
  }

  @Test("P5 a small memory level keeps the contract within its limits")
  func boundedMemory() async {
    await expectContract("small memory", [.expiring, .bounded]) {
      let clock = ManualClock()
      return LevelUnderTest(Memory(capacity: 60, countLimit: 5, clock: clock), clock: clock)
    }
  }

  @Test("C131 C132 C133 C139 P18 a disk level keeps the contract, over restarts too")
  func disk() async {
    for expiry in [Expiry.never, .after(.seconds(3_600))] {
      await expectContract("disk", [.expiring, .durable]) {
        let (clock, folder) = (ManualClock(), DiskFolder())
        let level = try Self.disk(folder, expiry: expiry, clock)
        return LevelUnderTest(level, clock: clock) { level in
          try await level.close()
          return try Self.disk(folder, expiry: expiry, clock)
        }
      }
    }
  }

  @Test("C28 C30 C36 P18 memory above a disk keeps the contract as one level")
  func composed() async {
    await expectContract("memory+disk", [.expiring, .durable]) {
      let (clock, folder) = (ManualClock(), DiskFolder())
      let level = Self.memory(clock).compose(try Self.disk(folder, clock))
      return LevelUnderTest(level, clock: clock) { level in
        try await level.lower.close()
        return Self.memory(clock).compose(try Self.disk(folder, clock))
      }
    }
  }

  @Test("C96 a pool keeps the contract, over memory and over a composition")
  func pooled() async {
    await expectContract("pooled memory", .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(Self.memory(clock).pooled(), clock: clock)
    }
    await expectContract("pooled composition", .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(Self.memory(clock).compose(Self.memory(clock)).pooled(), clock: clock)
    }
  }

  @Test("C37 C41 a level behind a condition that holds keeps the contract")
  func conditioned() async {
    await expectContract("conditioned", .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(Self.memory(clock).conditioned { _ in true }, clock: clock)
    }
  }

  @Test("C45 C47 C50 a level that is asked with other keys keeps the contract")
  func keyTransformed() async {
    await expectContract("key-transformed", .expiring) {
      let clock = ManualClock()
      let level = Self.memory(clock).transformKeys { (key: String) in "prefix/" + key }
      return LevelUnderTest(level, clock: clock)
    }
  }

  @Test("C104 a level without its type keeps the contract")
  func normalized() async {
    await expectContract("normalized", .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(Self.memory(clock).normalize(), clock: clock)
    }
  }

  @Test("an observed level keeps the contract")
  func observed() async {
    await expectContract("observed", .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(
        Self.memory(clock).observed(as: "memory", by: RecordingObserver(), clock: clock), clock: clock)
    }
  }

  @Test("the scripted level for tests keeps the contract of a level")
  func scripted() async {
    await expectContract("scripted", []) { LevelUnderTest(ScriptedLevel<String, Data>()) }
  }

  @Test("C10 C11 a fetcher keeps the contract of a level that is only read")
  func fetcher() async {
    await expectContract("fetcher", .readOnly) { LevelUnderTest(Shouting()) }
    await expectContract("memory+fetcher", []) { LevelUnderTest(Memory().compose(Silent())) }
  }
}

private struct Shouting: Fetcher {
  func get(_ key: String) async throws -> Data? { Data(key.uppercased().utf8) }
}

private struct Silent: Fetcher {
  func get(_ key: String) async throws -> Data? { nil }
}
