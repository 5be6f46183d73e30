#if Explorer
import CacheEngine
import Testing

@testable import CacheTorture

/// A part of what `make torture` does.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PowerCutTests {
  @Test(
    "P1 P3 a power cut loses nothing that was synced, and tears nothing",
    arguments: [Tier.synced, .buffered, .mixed], [true, false])
  func cuts(tier: Tier, isRoomy: Bool) async throws {
    #expect(try await PowerCuts(tier: tier, isRoomy: isRoomy, seed: 1).run(stride: 29, ways: 1).cuts > 10)
  }

  @Test("P3 directories that were just made are there after a power cut", arguments: [Tier.synced, .mixed])
  func fresh(tier: Tier) async throws {
    let cuts = PowerCuts(tier: tier, isRoomy: true, seed: 2, isFresh: true)
    #expect(try await cuts.run(stride: 5, ways: 1).cuts > 10)
  }

  @Test("P3 P6 a wait for the disk that failed loses nothing that was synced before or is synced later")
  func failing() async throws {
    let cuts = PowerCuts(tier: .synced, isRoomy: true, seed: 3, isFailing: true)
    #expect(try await cuts.run(stride: 29, ways: 1).cuts > 10)
  }
}
#endif
