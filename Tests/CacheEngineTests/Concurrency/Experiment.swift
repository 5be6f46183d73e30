import CacheEngine
import CacheEngineTesting
import Synchronization

@testable import CacheCore

/// A few tasks that use a level at random, with everything they asked and were told.
///
/// All of it follows from the seed: run the same seed again and get the same history, where the pace is scheduled.
struct Experiment {
  /// What all experiments of a kind have in common.
  struct Plan: Sendable {
    var tasks = 3
    var operations = 5
    /// One key or two, as the seed decides: one makes tasks meet, two let a clear fall between.
    var keys = 1..<3
    /// Of a hundred operations so many are cancelled at some time.
    var cancelled = 15
    /// Of a hundred operations so many remove everything.
    var clears = 10
    /// Of a hundred operations so many remove what has a tag: that of even values, or of odd ones.
    var tagRemovals = 0
    /// Of a hundred sets so many depend on what is there.
    var updates = 0
    /// Of a hundred removals so many are of all even keys, or of all odd ones.
    var keyRemovals = 0
    /// Of a hundred reads and sets so many are of all keys.
    var many = 0
  }

  let plan: Plan
  let pace: Pace

  init(_ plan: Plan = Plan(), pace: Pace) {
    self.plan = plan
    self.pace = pace
  }

  /// Runs the tasks on a level.
  ///
  /// - Returns: The history; `nil` if a task waits for ever.
  func run<Level: CacheLevel>(on level: Level) async -> History? where Level.Key == Int, Level.Value == Int {
    let recorder = Recorder(tasks: plan.tasks)
    let keys = pace.random(plan.keys)
    let scripts = (0..<plan.tasks).map { task in
      (0..<plan.operations).map { call(task * 100 + $0 + 1, keys: keys) }
    }
    for (task, script) in scripts.enumerated() {
      Task(executorPreference: pace.executor) {
        for calls in script {
          for _ in 0..<pace.random(0..<3) { await pace.pause() }
          await perform(calls, by: task, on: level, recorder)
        }
        recorder.endTask()
      }
    }
    switch pace {
    case .scheduled(let scheduler):
      await scheduler.run()
      return recorder.isOver ? recorder.history : nil
    case .free:
      // Where a task never ends, the time limit of the test does.
      do { try await recorder.over.pass() } catch { return nil }
      return recorder.history
    }
  }

  /// What a task asks in one go: the same of each of several keys, or one thing.
  private func call(_ value: Int, keys: Int) -> [History.Call] {
    let key = pace.random(0..<keys)
    func each(_ call: (_ key: Int, _ number: Int) -> History.Call) -> [History.Call] {
      guard happens(plan.many) else { return [call(key, value)] }
      // Values of one parity, so that all have the same tags.
      return (0..<keys).map { call($0, value + 1_000 * $0) }
    }
    return switch pace.random(0..<100) {
    case (100 - plan.clears)...: [.clear]
    case (100 - plan.clears - plan.tagRemovals)...: [.removeTagged(value % 2)]
    case 0..<50: each { key, _ in .get(key) }
    case 50..<80: happens(plan.updates) ? [change(key, value)] : each { .set($0, $1) }
    default: happens(plan.keyRemovals) ? [.removeKeys(value % 2)] : [.remove(key)]
    }
  }

  /// A chance out of a hundred; what never happens costs no random number.
  private func happens(_ chance: Int) -> Bool { chance > 0 && pace.random(0..<100) < chance }

  private func change(_ key: Int, _ value: Int) -> History.Call {
    switch pace.random(0..<3) {
    case 0: .update(key, value)
    case 1: .replace(key, value)
    default: .add(key, value)
    }
  }

  private func perform<Level: CacheLevel>(
    _ calls: [History.Call], by task: Int, on level: Level, _ recorder: Recorder
  ) async where Level.Key == Int, Level.Value == Int {
    // A task of its own, so that it can be cancelled by itself.
    let work = Task(executorPreference: pace.executor) {
      let operations = calls.map { recorder.begin($0, by: task) }
      let outcomes: [History.Outcome]
      do {
        outcomes = calls.count == 1 ? [try await outcome(of: calls[0], on: level)] : try await all(calls, on: level)
      } catch {
        outcomes = calls.map { _ in .failed }
      }
      for (operation, outcome) in zip(operations, outcomes) { recorder.end(operation, outcome) }
    }
    if pace.random(0..<100) < plan.cancelled {
      switch pace {
      case .scheduled(let scheduler): scheduler.sometime { work.cancel() }
      case .free:
        await pace.pause()
        work.cancel()
      }
    }
    await work.value
  }

  private func outcome<Level: CacheLevel>(
    of call: History.Call, on level: Level
  ) async throws -> History.Outcome where Level.Key == Int, Level.Value == Int {
    func store(_ value: Int, _ key: Int, if condition: StoreCondition) async throws -> History.Outcome {
      let able = level as? any ConditionalLevel<Int, Int>
      return .stored(try await able?.store(value, forKey: key, terms: tagged(value), if: condition) ?? false)
    }
    switch call {
    case .get(let key): return .read(try await level.get(key))
    case .set(let key, let value): try await level.store(value, forKey: key, terms: tagged(value))
    case .update(let key, let value):
      var seen: Int?
      _ = try await (level as? any UpdatableLevel<Int, Int>)?.update(key, terms: tagged(value)) { present in
        seen = present
        return value
      }
      return .updated(seen)
    case .replace(let key, let value): return try await store(value, key, if: .present)
    case .add(let key, let value): return try await store(value, key, if: .absent)
    case .removeTagged(let tag): try await (level as? any TaggedLevel<Int, Int>)?.removeAll(tagged: "\(tag)")
    case .removeKeys(let parity):
      _ = try await (level as? any SelectiveRemoval<Int, Int>)?.removeAll { $0 % 2 == parity }
    case .remove(let key): try await level.remove(key)
    case .clear: try await level.clear()
    }
    return .written
  }

  /// What reads or sets of many keys with one call come to.
  private func all<Level: CacheLevel>(
    _ calls: [History.Call], on level: Level
  ) async throws -> [History.Outcome] where Level.Key == Int, Level.Value == Int {
    var entries: [(key: Int, value: Int)] = []
    for case .set(let key, let value) in calls { entries.append((key, value)) }
    if !entries.isEmpty {
      try await level.storeKeyByKey(entries, terms: tagged(entries[0].value))
      return calls.map { _ in .written }
    }
    return try await level.answers(for: calls.indices.map { $0 }).map { answer in
      switch answer.result {
      case .success(let lookup): .read(lookup.entry?.value)
      case .failure: .failed
      }
    }
  }

  private func tagged(_ value: Int) -> StoreTerms { StoreTerms(tags: ["\(value % 2)"]) }
}

/// Writes a history down while it happens.
final class Recorder: Sendable {
  private struct State: Sendable {
    var history = History()
    var time = 0
    var tasks: Int

    mutating func tick() -> Int {
      time += 1
      return time
    }
  }

  /// Opens when all tasks have ended.
  let over = Gate()

  private let state: Mutex<State>

  init(tasks: Int) { state = Mutex(State(tasks: tasks)) }

  var history: History { state.withLock { $0.history } }

  var isOver: Bool { state.withLock { $0.tasks == 0 } }

  func endTask() {
    let isLast = state.withLock { state in
      state.tasks -= 1
      return state.tasks == 0
    }
    if isLast { over.open() }
  }

  func begin(_ call: History.Call, by task: Int) -> Int {
    state.withLock { state in
      state.history.operations.append(History.Operation(task: task, call: call, began: state.tick()))
      return state.history.operations.count - 1
    }
  }

  func end(_ operation: Int, _ outcome: History.Outcome) {
    state.withLock { state in
      state.history.operations[operation].outcome = outcome
      // What failed may take effect later still.
      if outcome != .failed { state.history.operations[operation].ended = state.tick() }
    }
  }
}
