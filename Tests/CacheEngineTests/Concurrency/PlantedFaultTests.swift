import CacheEngine
import CacheEngineTesting
import Testing

/// The histories must find bugs that are planted on purpose, and quickly.
@Suite(.timeLimit(.minutes(10))) struct PlantedFaultTests {
  typealias Memory = MemoryCacheLevel<Int, Int>
  typealias Composition = FaultyCompose<SteppingLevel<Memory>, SteppingLevel<ScriptedLevel<Int, Int>>>

  private func failure(in trials: Trials, flaw: Composition.Flaw?) async -> String? {
    await trials.failure { pace in
      Composition(
        SteppingLevel(base: Memory(), pace: pace, peeks: false),
        SteppingLevel(base: ScriptedLevel(), pace: pace), flaw: flaw)
    } keeping: {
      LinearizabilityChecker.isLinearizable($0, keys: 0..<2)
    }
  }

  @Test("a composition without a flaw passes, so that what follows is due to the flaws alone")
  func flawless() async {
    let failure = await failure(in: Trials(500), flaw: nil)
    #expect(failure == nil)
  }

  @Test("the histories find every flaw that is planted in a composition", arguments: Composition.Flaw.allCases)
  func findsFlaw(flaw: Composition.Flaw) async {
    let failure = await failure(in: Trials(upTo: 5_000), flaw: flaw)
    #expect(failure != nil)
  }

  @Test("the histories find a pool whose callers join loads from before a write that has ended")
  func findsOldLoads() async {
    let failure = await Trials(upTo: 500).failure { pace in
      FaultyPool(SteppingLevel(base: Memory(), pace: pace), flaw: .joinsOldLoads, by: pace)
    } keeping: {
      LinearizabilityChecker.isLinearizable($0.withPooledReads, keys: 0..<2)
    }
    #expect(failure != nil)
  }

  @Test("the histories find a task that waits for ever")
  func findsHang() async {
    let failure = await Trials(upTo: 100).failure { pace in
      FaultyPool(SteppingLevel(base: Memory(), pace: pace), flaw: .forgetsFollowers, by: pace)
    } keeping: { _ in
      true
    }
    #expect(failure?.contains("a task waits for ever") == true)
  }
}
