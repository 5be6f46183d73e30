import CacheEngine
import Foundation

/// Many experiments, each with a seed of its own.
struct Trials {
  let seeds: Range<UInt64>
  var plan = Experiment.Plan()
  /// Runs on all threads of the machine instead of at a seed's pace.
  var isFree = false

  /// So many experiments, none of which should fail.
  ///
  /// A failure names its seed: `CACHEENGINE_SEED=n swift test --filter …` runs that one alone, and
  /// `CACHEENGINE_TRIALS=n` runs so many instead of the few that a usual run has time for.
  init(_ count: UInt64, plan: Experiment.Plan = .init(), isFree: Bool = false) {
    let environment = ProcessInfo.processInfo.environment
    #if CACHEENGINE_TSAN
    // Ten times as slow, and where a seed decides every step there are no races to be found.
    let usual = count / 10
    #else
    let usual = count
    #endif
    if let seed = environment["CACHEENGINE_SEED"].flatMap(UInt64.init) {
      seeds = seed..<seed + 1
    } else {
      seeds = 0..<(environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? usual)
    }
    self.plan = plan
    self.isFree = isFree
  }

  /// Experiments one of which should fail.
  init(upTo count: UInt64) { seeds = 0..<count }

  /// Runs each experiment on a fresh level, and says what was wrong with the first history that was not as promised.
  func failure<Level: CacheLevel>(
    of level: (Pace) -> Level, keeping promise: (History) -> Bool
  ) async -> String? where Level.Key == Int, Level.Value == Int {
    await firstFailure { seed in
      let scheduler = SeededScheduler(seed: seed)
      let pace = isFree ? Pace.free(scheduler) : .scheduled(scheduler)
      guard let history = await Experiment(plan, pace: pace).run(on: level(pace)) else {
        return "a task waits for ever"
      }
      return promise(history) ? nil : "this is not what was promised:\n\(history)"
    }
  }

  /// Tries seed after seed until something is wrong.
  func firstFailure(_ trial: (UInt64) async -> String?) async -> String? {
    for seed in seeds {
      if let failure = await trial(seed) { return "seed \(seed): \(failure)" }
    }
    return nil
  }
}
