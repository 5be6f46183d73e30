import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// What each operator promises to tasks that use it at once, tested with random histories.
///
/// - `MemoryCacheLevel` is linearizable as a whole.
/// - `compose` is linearizable key by key, over levels that are, as long as the upper one answers reads and the lower
///   one carries out writes. A write that is cancelled, or fails in the upper level, may take effect later or never.
///   After one that failed in the lower level, reads may give its value or the one before, until a write succeeds.
/// - `pooled` is linearizable in its writes. A read answers as of some moment after every write that had ended when it
///   began; while a write of its key is under way, a later read may share a load that began before an earlier one ended.
@Suite(.timeLimit(.minutes(10))) struct LinearizabilityTests {
  private typealias Memory = MemoryCacheLevel<Int, Int>

  private static func perKey(_ history: History) -> Bool {
    LinearizabilityChecker.isLinearizable(history, keys: 0..<2)
  }

  private static func perKeyPooled(_ history: History) -> Bool { perKey(history.withPooledReads) }

  @Test("one seed gives one history, again and again, where a seed decides every step")
  func reproducible() async {
    for seed in UInt64(0)..<50 {
      var histories: Set<String> = []
      for _ in 0..<2 {
        let pace = Pace.scheduled(SeededScheduler(seed: seed))
        let lower = SteppingLevel(base: ScriptedLevel<Int, Int>(), pace: pace, faults: .readsAndWrites)
        let pool = PooledLevel(scheduled: Memory().compose(lower, observer: nil), by: pace)
        if let history = await Experiment(pace: pace).run(on: pool) { histories.insert(history.description) }
      }
      #expect(histories.count == 1)
    }
  }

  @Test("P1 memory is linearizable as a whole, on all threads of the machine")
  func memory() async {
    let failure = await Trials(2_000, plan: .init(tasks: 4), isFree: true).failure { _ in
      Memory()
    } keeping: {
      LinearizabilityChecker.isLinearizable($0)
    }
    #expect(failure == nil)
  }

  @Test("P1 so it is where every read opens a stripe of its thread and every write closes them")
  func memoryInStripes() async {
    let failure = await Trials(2_000, plan: .init(tasks: 4), isFree: true).failure { _ in
      let memory = Memory()
      memory.openStripes(after: 1)
      return memory
    } keeping: {
      LinearizabilityChecker.isLinearizable($0)
    }
    #expect(failure == nil)
  }

  @Test("P1 memory above memory is linearizable key by key, whatever is cancelled", arguments: [false, true])
  func composedMemory(isFree: Bool) async {
    let failure = await Trials(1_500, isFree: isFree).failure { pace in
      let lower = SteppingLevel(base: Memory(), pace: pace, faults: .reads)
      return SteppingLevel(base: Memory(), pace: pace, faults: .writes).compose(lower, observer: nil)
    } keeping: {
      Self.perKey($0)
    }
    #expect(failure == nil)
  }

  @Test("P1 where the lower level fails writes, a write that succeeds still leaves its own value and no other")
  func composedFailing() async {
    let failure = await Trials(1_500).failure { pace in
      let lower = SteppingLevel(base: Memory(), pace: pace, faults: .readsAndWrites)
      return SteppingLevel(base: Memory(countLimit: 1), pace: pace, faults: .writes).compose(lower, observer: nil)
    } keeping: {
      LinearizabilityChecker.isLinearizable($0, keys: 0..<2, failure: .leavesBoth)
    }
    #expect(failure == nil)
  }

  @Test("P1 so it is where tasks do little else than to clear, or to remove by tag", arguments: [5, 25])
  func composedAndCleared(tagRemovals: Int) async {
    let plan = Experiment.Plan(clears: 35 - tagRemovals, tagRemovals: tagRemovals)
    let failure = await Trials(1_500, plan: plan).failure { pace in
      let lower = SteppingLevel(base: Memory(), pace: pace, faults: .reads)
      return SteppingLevel(base: Memory(), pace: pace, faults: .writes).compose(lower, observer: nil)
    } keeping: {
      Self.perKey($0)
    }
    #expect(failure == nil)
  }

  @Test("P1 where values depend on those that are there, what is left is as if one write had come after the other")
  func composedAndUpdated() async {
    let plan = Experiment.Plan(cancelled: 0, clears: 15, tagRemovals: 10, updates: 70, keyRemovals: 30)
    let failure = await Trials(1_500).firstFailure { seed in
      let pace = Pace.scheduled(SeededScheduler(seed: seed))
      let (above, below) = (Memory(), Memory())
      let cache = SteppingLevel(base: above, pace: pace).compose(
        SteppingLevel(base: below, pace: pace), observer: nil)
      guard let history = await Experiment(plan, pace: pace).run(on: cache) else { return "a task waits for ever" }
      return Self.misfit(history, above: [above], below: below) ?? (cache.gate.isIdle ? nil : "the gate is not idle")
    }
    #expect(failure == nil)
  }

  @Test(
    "P1 so it is with three levels of which the upper ones are full, whatever is asked of one key or many",
    arguments: [false, true], [0, 40])
  func everything(fromBelow: Bool, updates: Int) async {
    let plan = Experiment.Plan(
      tasks: 4, operations: 6, keys: 1..<4, cancelled: 0, clears: 6, tagRemovals: 8, updates: updates,
      keyRemovals: 40, many: 25)
    let failure = await Trials(1_000).firstFailure { seed in
      let pace = Pace.scheduled(SeededScheduler(seed: seed))
      let (top, middle, bottom) = (Memory(countLimit: 1), Memory(countLimit: 2), Memory())
      let slow = SteppingLevel(base: middle, pace: pace)
      let slowest = SteppingLevel(base: bottom, pace: pace)
      let cache =
        fromBelow
        ? top.compose(slow.compose(slowest, observer: nil), observer: nil).normalize()
        : top.compose(slow, observer: nil).compose(slowest, observer: nil).normalize()
      guard let history = await Experiment(plan, pace: pace).run(on: cache) else { return "a task waits for ever" }
      return Self.misfit(history, above: [top, middle], below: bottom)
    }
    #expect(failure == nil)
  }

  /// What of a history and of what it left does not fit together.
  private static func misfit(_ history: History, above: [Memory], below: Memory) -> String? {
    var left: [Int: Int] = [:]
    for key in 0..<3 {
      left[key] = below.peek(key)
      for level in above {
        guard let value = level.peek(key), value != left[key] else { continue }
        return "\(key) is \(value) above, and not below:\n\(history)"
      }
    }
    let settled = history.settled(leaving: left)
    let fits = LinearizabilityChecker.isLinearizable(settled, keys: 0..<3)
    return fits ? nil : "this is not what was promised:\n\(settled)"
  }

  @Test("Where the upper level takes its time, it ends up with nothing that the lower level does not hold")
  func composedOfSlow() async {
    let failure = await Trials(1_500).firstFailure { seed in
      let pace = Pace.scheduled(SeededScheduler(seed: seed))
      let (above, below) = (Memory(), Memory())
      let cache = SteppingLevel(base: above, pace: pace, storesAtOnce: false).compose(
        SteppingLevel(base: below, pace: pace), backFill: .awaited, observer: nil)
      let plan = Experiment.Plan(cancelled: 0, clears: 25, tagRemovals: 15)
      guard let history = await Experiment(plan, pace: pace).run(on: cache) else { return "a task waits for ever" }
      for key in 0..<2 where above.peek(key) != nil && above.peek(key) != below.peek(key) {
        return "\(key) is \(String(describing: above.peek(key))) above and not below:\n\(history)"
      }
      return cache.gate.isIdle ? nil : "the gate is not idle"
    }
    #expect(failure == nil)
  }

  @Test("P1 memory above a slow level is linearizable key by key, though memory keeps one entry only")
  func composedSlow() async {
    let failure = await Trials(1_500).failure { pace in
      let slow = SteppingLevel(base: ScriptedLevel<Int, Int>(), pace: pace)
      return Memory(countLimit: 1).compose(slow, observer: nil)
    } keeping: {
      Self.perKey($0)
    }
    #expect(failure == nil)
  }

  @Test(
    "C28 P1 three levels are linearizable key by key, whichever way the brackets are put", arguments: [false, true])
  func threeLevels(fromBelow: Bool) async {
    let failure = await Trials(1_000).failure { pace in
      let (top, middle) = (Memory(countLimit: 1), SteppingLevel(base: Memory(), pace: pace))
      let bottom = SteppingLevel(base: ScriptedLevel<Int, Int>(), pace: pace)
      return fromBelow
        ? top.compose(middle.compose(bottom, observer: nil), observer: nil).normalize()
        : top.compose(middle, observer: nil).compose(bottom, observer: nil).normalize()
    } keeping: {
      Self.perKey($0)
    }
    #expect(failure == nil)
  }

  @Test("C80 P1 a pooled read answers as of a moment after every write that had ended when it began")
  func pooled() async {
    let failure = await Trials(1_500).failure { pace in
      PooledLevel(scheduled: SteppingLevel(base: Memory(), pace: pace, faults: .readsAndWrites), by: pace)
    } keeping: {
      Self.perKeyPooled($0)
    }
    #expect(failure == nil)
  }

  @Test("C80 P1 a pool over a composition answers so too", arguments: [false, true])
  func pooledComposition(isFree: Bool) async {
    let failure = await Trials(1_000, isFree: isFree).failure { pace in
      let lower = SteppingLevel(base: ScriptedLevel<Int, Int>(), pace: pace, faults: .reads)
      let upper = SteppingLevel(base: Memory(), pace: pace, faults: .writes)
      return PooledLevel(scheduled: upper.compose(lower, observer: nil), by: pace)
    } keeping: {
      Self.perKeyPooled($0)
    }
    #expect(failure == nil)
  }

  @Test("a pool promises no more: while a write is under way, a later read may share a load that began earlier")
  func pooledIsWeaker() async throws {
    let (early, shared, writing) = (Gate(), Gate(), Gate())
    let memory = Memory()
    let reads = Mutex(0)
    let level = ScriptedLevel<Int, Int> { value, key in
      try await memory.set(value, forKey: key)
      if value == 2 { try await writing.pass() }
    } onGet: { key in
      let number = reads.withLock { number in
        number += 1
        return number
      }
      // The first load waits before it looks, the second one after.
      if number == 1 { try await early.pass() }
      let answer = try await memory.lookup(key)
      if number == 2 { try await shared.pass() }
      return answer
    }
    let observer = RecordingObserver()
    let pool = level.pooled(observer: observer)
    async let first = pool.get(0)
    await early.arrivals(1)
    try await pool.set(1, forKey: 0)
    async let second = pool.get(0)
    await shared.arrivals(1)
    async let write: Void = pool.set(2, forKey: 0)
    await writing.arrivals(1)
    early.open()
    #expect(try await first == 2)
    async let third = pool.get(0)
    await observer.event { $0.kind.isJoin }
    shared.open()
    #expect(try await second == 1)
    #expect(try await third == 1)
    writing.open()
    try await write
    #expect(try await pool.get(0) == 2)
  }
}

extension CacheEvent.Kind {
  fileprivate var isJoin: Bool {
    if case .flightJoined = self { return true }
    return false
  }
}

extension PooledLevel {
  /// A pool whose loads run at the pace of a test.
  convenience init(scheduled base: Base, by pace: Pace) {
    self.init(
      base: base, recorder: OperatorRecorder(name: "pool", observer: nil, clock: SystemClock()), executor: pace.executor
    )
  }
}
