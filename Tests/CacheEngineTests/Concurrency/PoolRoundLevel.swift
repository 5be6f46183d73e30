import CacheEngine
import Synchronization

/// The level under a pool in a ``PoolRound``: it takes its time, answers at random, and writes everything down.
final class PoolRoundLevel: CacheLevel {
  /// Names the load that failed.
  private struct Failure: Error { let load: Int }

  private struct State: Sendable {
    var round = PoolRound()
    var time = 0

    mutating func tick() -> Int {
      time += 1
      return time
    }
  }

  private let pace: Pace
  private let state = Mutex(State())

  private init(pace: Pace) { self.pace = pace }

  /// Runs a round with a pool over such a level.
  ///
  /// - Parameters:
  ///   - seed: Decides everything.
  ///   - makePool: Makes the pool.
  ///   - isIdle: Whether the pool's table is empty.
  /// - Returns: What happened.
  static func run<Pool: CacheLevel>(
    seed: UInt64, pool makePool: (PoolRoundLevel, Pace) -> Pool, isIdle: (Pool) -> Bool
  ) async -> PoolRound where Pool.Key == Int, Pool.Value == Int {
    let scheduler = SeededScheduler(seed: seed)
    let pace = Pace.scheduled(scheduler)
    let level = PoolRoundLevel(pace: pace)
    let pool = makePool(level, pace)
    for number in 0..<pace.random(2..<16) {
      let (key, isSet) = (pace.random(0..<4) / 3, pace.random(0..<8) == 0)
      level.state.withLock { $0.round.callers.append(PoolRound.Caller(key: key, isSet: isSet)) }
      let task = Task(executorPreference: scheduler) {
        for _ in 0..<pace.random(0..<4) { await pace.pause() }
        level.note { $0.callers[number].began = $1 }
        let answer = await level.ask(pool, key, isSet: isSet)
        level.note { round, time in
          round.callers[number].ended = time
          round.callers[number].answer = answer
        }
      }
      if !isSet, pace.random(0..<3) == 0 {
        scheduler.sometime {
          level.note { $0.callers[number].cancelled = $1 }
          task.cancel()
        }
      }
    }
    await scheduler.run()
    var round = level.state.withLock { $0.round }
    round.isIdle = isIdle(pool)
    return round
  }

  private func ask<Pool: CacheLevel>(_ pool: Pool, _ key: Int, isSet: Bool) async -> PoolRound.Answer
  where Pool.Key == Int, Pool.Value == Int {
    do {
      if isSet {
        try await pool.set(0, forKey: key)
        return .stored
      }
      return try await pool.get(key).map(PoolRound.Answer.value) ?? .miss
    } catch let failure as Failure { return .error(failure.load) } catch { return .cancelled }
  }

  func get(_ key: Int) async throws -> Int? {
    let number = state.withLock { state in
      state.round.loads.append(PoolRound.Load(key: key, began: state.tick()))
      return state.round.loads.count - 1
    }
    let answer = await withTaskCancellationHandler {
      await decide(number)
    } onCancel: {
      note { $0.loads[number].cancelled = $1 }
    }
    note { round, time in
      round.loads[number].ended = time
      round.loads[number].answer = answer
    }
    switch answer {
    case .value(let value): return value
    case .miss, .stored: return nil
    case .error(let load): throw Failure(load: load)
    case .cancelled: throw CancellationError()
    }
  }

  /// Some loads heed their cancellation, and some do not.
  private func decide(_ number: Int) async -> PoolRound.Answer {
    for _ in 0..<pace.random(0..<8) {
      await pace.pause()
      if Task.isCancelled, pace.random(0..<2) == 0 { return .cancelled }
    }
    return switch pace.random(0..<4) {
    case 0: .miss
    case 1: .error(number)
    default: .value(number)
    }
  }

  func set(_ value: Int, forKey key: Int) async throws { await pace.pause() }
  func remove(_ key: Int) async throws {}
  func clear() async throws {}

  private func note(_ change: @Sendable (inout PoolRound, Int) -> Void) {
    state.withLock { state in
      let time = state.tick()
      change(&state.round, time)
    }
  }
}
