import CacheEngine
import Testing
@testable import CacheCore

/// Thousands of rounds round a pool, each from a seed of its own.
@Suite(.timeLimit(.minutes(10))) struct PoolRoundTests {
  private func failure<Pool: CacheLevel>(
    in trials: Trials, of pool: (PoolRoundLevel, Pace) -> Pool, isIdle: (Pool) -> Bool
  ) async -> String? where Pool.Key == Int, Pool.Value == Int {
    await trials.firstFailure { seed in
      let problems = await PoolRoundLevel.run(seed: seed, pool: pool, isIdle: isIdle).problems
      return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }
  }

  @Test(
    "P9 C73 C77 C78 C79 in every round one load where one suffices, nobody hangs, nobody gets a stranger's answer")
  func rounds() async {
    let failure = await failure(in: Trials(3_000)) {
      PooledLevel(scheduled: $0, by: $1)
    } isIdle: {
      $0.isIdle
    }
    #expect(failure == nil)
  }

  @Test("a pool without a flaw passes, so that what follows is due to the flaws alone")
  func flawless() async {
    let failure = await failure(in: Trials(500)) {
      FaultyPool($0, flaw: nil, by: $1)
    } isIdle: {
      $0.isIdle
    }
    #expect(failure == nil)
  }

  @Test("the rounds find every planted flaw", arguments: FaultyPool<PoolRoundLevel>.Flaw.allCases)
  func findsFlaw(flaw: FaultyPool<PoolRoundLevel>.Flaw) async {
    let failure = await failure(in: Trials(upTo: 500)) {
      FaultyPool($0, flaw: flaw, by: $1)
    } isIdle: {
      $0.isIdle
    }
    #expect(failure != nil)
  }
}
