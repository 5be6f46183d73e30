import CacheEngine
import CacheEngineTesting
import Synchronization

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
        for call in script {
          for _ in 0..<pace.random(0..<3) { await pace.pause() }
          await perform(call, by: task, on: level, recorder)
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

  private func call(_ value: Int, keys: Int) -> History.Call {
    let key = pace.random(0..<keys)
    return switch pace.random(0..<100) {
    case (100 - plan.clears)...: .clear
    case (100 - plan.clears - plan.tagRemovals)...: .removeTagged(value % 2)
    case 0..<50: .get(key)
    case 50..<80: .set(key, value)
    default: .remove(key)
    }
  }

  private func perform<Level: CacheLevel>(
    _ call: History.Call, by task: Int, on level: Level, _ recorder: Recorder
  ) async where Level.Key == Int, Level.Value == Int {
    // A task of its own, so that it can be cancelled by itself.
    let work = Task(executorPreference: pace.executor) {
      let operation = recorder.begin(call, by: task)
      var outcome = History.Outcome.written
      do {
        switch call {
        case .get(let key): outcome = .read(try await level.get(key))
        case .set(let key, let value):
          try await level.store(value, forKey: key, terms: StoreTerms(tags: ["\(value % 2)"]))
        case .removeTagged(let tag): try await (level as? any TaggedLevel<Int, Int>)?.removeAll(tagged: "\(tag)")
        case .remove(let key): try await level.remove(key)
        case .clear: try await level.clear()
        }
      } catch { outcome = .failed }
      recorder.end(operation, outcome)
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
