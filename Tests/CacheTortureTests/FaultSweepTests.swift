#if Explorer
import CacheEngine
import Testing

@testable import CacheTorture

/// A part of what `make torture` does.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultSweepTests {
  @Test(
    "P3 P4 P6 an error at any system call breaks no promise, while the store is open and afterwards",
    arguments: Fault.Reach.allCases, [true, false])
  func faults(reach: Fault.Reach, isRoomy: Bool) async throws {
    // Which calls have their turn is another matter each time.
    let tier: Tier = isRoomy ? .synced : .mixed
    #expect(try await FaultSweep(tier: tier, isRoomy: isRoomy).run(reach, stride: 41) >= Call.allCases.count)
  }
}
#endif
