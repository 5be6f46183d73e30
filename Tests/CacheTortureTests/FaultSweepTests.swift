import CacheEngine
import Foundation
import Testing

@testable import CacheTorture

@Suite(.timeLimit(.minutes(10))) struct FaultSweepTests {
  @Test(
    "P3 P4 P6 an error at any system call breaks no promise, while the store is open and afterwards",
    arguments: Durability.allCases, [EIO, ENOSPC, EMFILE])
  func once(durability: Durability, code: Int32) async throws {
    let sweep = FaultSweep(durability: durability, isRoomy: true)
    #expect(try await sweep.run(code: code, isForGood: false) > 20)
  }

  @Test("P3 P4 whatever call is the last, the store opens with what was acknowledged", arguments: Durability.allCases)
  func forGood(durability: Durability) async throws {
    #expect(try await FaultSweep(durability: durability, isRoomy: true).run(code: EIO, isForGood: true) > 20)
    // Here a removal follows a set that could not be taken back on the disk.
    #expect(try await FaultSweep(durability: durability, isRoomy: true, seed: 2).run(code: EIO, isForGood: true) > 20)
  }

  @Test("P5 P6 the same where there is not room for everything", arguments: Durability.allCases)
  func tight(durability: Durability) async throws {
    let sweep = FaultSweep(durability: durability, isRoomy: false, seed: 3, rounds: 4, operations: 120)
    _ = try await sweep.run(code: EIO, isForGood: false, stride: 97)
  }
}
