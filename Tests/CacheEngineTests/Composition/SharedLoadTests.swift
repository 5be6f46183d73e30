import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

/// Loads that are shared: by whom, how urgently, and who would wait for himself.
@Suite(.timeLimit(.minutes(10))) struct SharedLoadTests {
  typealias Memory = MemoryCacheLevel<String, Int>
  typealias Level = ScriptedLevel<String, Int>

  let observer = RecordingObserver()
  let gate = Gate()

  @Test(
    "Memory above a pool: who missed above and comes when the load has ended finds the value, and loads nothing")
  func lateCaller() async throws {
    let missed = Gate()
    let memory = Memory()
    let isFirst = Mutex(true)
    // The first caller learns that the key is not there, and is slow to go on.
    let above = SlowLookup(base: memory) {
      let isSlow = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if isSlow { try await missed.pass() }
    }
    let source = Level { _ in .hit(Entry(7)) }
    let cache = above.compose(source.pooled())
    async let late = cache.get("a")
    await missed.arrivals(1)
    #expect(try await cache.get("a") == 7)
    missed.open()
    #expect(try await late == 7)
    #expect(source.count(of: .get("a")) == 1)
  }

  @Test("A load goes on until the upper level has its value: who comes between joins it")
  func callerDuringCopy() async throws {
    let memory = Memory()
    let above = HookedLevel(base: memory, storesAtOnce: true, onStore: { [gate] _, _ in try await gate.pass() })
    let source = Level { _ in .hit(Entry(7)) }
    let cache = above.compose(source.pooled(observer: observer))
    async let first = cache.get("a")
    await gate.arrivals(1)
    async let second = cache.get("a")
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    gate.open()
    #expect(try await (first, second) == (7, 7))
    #expect(source.count(of: .get("a")) == 1)
    #expect(memory.peek("a") == 7)
    #expect(cache.gate.isIdle)
  }

  @Test(
    "A thousand callers of a cold key make one load, in either order of pool and memory", arguments: [false, true])
  func crowd(isPoolAbove: Bool) async throws {
    let source = Level { [gate] _ in
      try await gate.pass()
      return .hit(Entry(7))
    }
    let cache =
      isPoolAbove
      ? Memory().compose(source).pooled().normalize() : Memory().compose(source.pooled()).normalize()
    let callers = (0..<1_000).map { _ in Task { try await cache.get("a") } }
    await gate.arrivals(1)
    gate.open()
    for caller in callers { #expect(try await caller.value == 7) }
    #expect(source.count(of: .get("a")) == 1)
  }

  typealias Loads = SharedLoads<String, Int>

  /// A load by its first caller, who does not wait yet; it passes the gate before it gives 7, and opens the other one if it may not.
  private func led(_ isRefused: Gate = Gate()) throws -> (Loads, Loads.Table.Flight, LoadCaller) {
    let loads = Loads(recorder: OperatorRecorder(name: "pool", observer: observer, clock: SystemClock()))
    let load = ClosureLoad { [gate] in
      do { try await gate.pass() } catch {
        isRefused.open()
        throw error
      }
      return 7
    }
    let caller = LoadCaller(1)
    var flight: Loads.Table.Flight?
    let answer = loads.lead("a", caller, load, &flight)
    #expect(answer == nil)
    return (loads, try #require(flight), caller)
  }

  @Test("A first caller whose load ends before it begins to wait is given the answer")
  func endBeforeWait() async throws {
    let (loads, flight, caller) = try led()
    await gate.arrivals(1)
    gate.open()
    await observer.event { if case .flightEnded = $0.kind { true } else { false } }
    #expect(try await loads.waitForOwn(flight, "a", caller) == 7)
    #expect(loads.isIdle)
  }

  @Test("A first caller that is cancelled before it begins to wait leaves, and its load is cancelled")
  func cancelledBeforeWait() async throws {
    let isRefused = Gate()
    let task = Task {
      let (loads, flight, caller) = try led(isRefused)
      await gate.arrivals(1)
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await loads.waitForOwn(flight, "a", caller) }
      #expect(loads.isIdle)
    }
    try await task.value
    try await isRefused.pass()
  }

  @Test("Two callers whose values are made from each other: one is told, and nobody waits for ever")
  func circleOfTwo() async throws {
    let pool = Memory().pooled(observer: observer)
    let (first, second) = (Gate(), Gate())
    let a = Task {
      try await pool.value(forKey: "a") {
        try await first.pass()
        return try await pool.value(forKey: "b") { 2 } + 1
      }
    }
    let b = Task {
      try await pool.value(forKey: "b") {
        try await second.pass()
        return try await pool.value(forKey: "a") { 1 } + 1
      }
    }
    await first.arrivals(1)
    await second.arrivals(1)
    first.open()
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    second.open()
    for task in [a, b] {
      let error = await #expect(throws: CacheError.self) { try await task.value }
      #expect(error?.code == .circular)
    }
    #expect(pool.isIdle)
    #expect(try await pool.value(forKey: "a") { 5 } == 5)
  }

  @Test("A source that asks its own pool for the key that it loads is told, also over another pool")
  func sourceAsksItsPool() async throws {
    let pool = Mutex<BasicCache<String, Int>?>(nil)
    let source = Level { key in
      guard let pool = pool.withLock({ $0 }) else { return .miss(.absent) }
      return try await pool.lookup(key == "b" ? "other" : key)
    }
    let pooled = source.pooled().postProcess { $0 }.pooled()
    pool.withLock { $0 = pooled.normalize() }
    defer { pool.withLock { $0 = nil } }
    let error = await #expect(throws: CacheError.self) { try await pooled.get("a") }
    #expect(error?.code == .circular)
  }

  @Test("A load is not told of a circle over one that has given up waiting for it")
  func circleThatWasLeft() async throws {
    let pool = Memory().pooled(observer: observer)
    let (left, hold) = (Gate(), Gate())
    let a = Task {
      try await pool.value(forKey: "a") { [gate] in
        let asking = Task {
          try await pool.value(forKey: "b") {
            try await gate.pass()
            return try await pool.value(forKey: "a") { 0 } + 1
          }
        }
        await gate.arrivals(1)
        try await left.pass()
        asking.cancel()
        _ = try? await asking.value
        try await hold.pass()
        return 1
      }
    }
    await gate.arrivals(1)
    let b = Task { try await pool.value(forKey: "b") { 0 } }
    await observer.event { if case .flightJoined = $0.kind { $0.key == "b" } else { false } }
    left.open()
    await hold.arrivals(1)
    gate.open()
    await observer.event { event in
      switch event.kind {
      case .flightJoined: event.key == "a"
      case .flightEnded: event.key == "b"
      default: false
      }
    }
    hold.open()
    #expect(try await a.value == 1)
    #expect(try await b.value == 2)
    #expect(pool.isIdle)
  }

  @Test(
    "what a load was asked for by is forgotten with its end, however many loads beget each other",
    arguments: [false, true])
  func forgetsWhoAsked(isWaitedFor: Bool) async throws {
    // What a load begins and leaves behind remembers that load, which does not remember what asked for it.
    let outer = Mutex(WeakWork())
    let left = Mutex<AwaitedWork?>(nil)
    let inner = Level { _ in
      left.withLock { $0 = Waiting().work }
      if isWaitedFor { await Task.yield() }
      return .hit(Entry(7))
    }.pooled()
    let pool = Level { key in
      let work = Waiting().work
      outer.withLock { $0.work = work }
      return try await inner.lookup(key)
    }.pooled()
    #expect(try await pool.get("a") == 7)
    try await turns { outer.withLock { $0.work } == nil }
    #expect(left.withLock { $0 }?.waiting(isEverybodyMeant: true).count == 0)
    var limited: MovedWork? = MovedWork()
    weak let task = limited
    let within = await Waiting.work(on: try #require(limited)) { MovedWork() }
    #expect(within.waiting(isEverybodyMeant: true).first?.who.work === limited)
    within.end()
    limited = nil
    #expect(task == nil)
  }

  @Test("A place of a cap that has been given back is not given back again by what goes on in the background")
  func placeAfterItsEnd() async throws {
    let clock = ManualClock()
    let memory = Memory(expiry: .after(.seconds(1)), keepsExpired: .seconds(60), clock: clock)
    let source = Level { _ in .hit(Entry(2)) }
    let below = SlowLookup(base: source.pooled()) { [gate] in try await gate.pass() }
    let cache = memory.staleWhileRevalidate(below, for: .seconds(60), observer: observer, clock: clock).capRequests(1)
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(2))
    #expect(try await cache.get("a") == 1)
    await gate.arrivals(1)
    gate.open()
    await observer.event { if case .operated(.refreshEnded) = $0.kind { true } else { false } }
    #expect(try await cache.get("a") == 2)
    #expect(cache.load == (running: 0, waiting: 0))
  }

  @Test("A load takes the priority of the most urgent caller, also within a time limit", arguments: [false, true])
  func hurries(isLimited: Bool) async throws {
    let priority = Mutex<TaskPriority?>(nil)
    let source = Level { [gate] _ in
      try await gate.pass()
      priority.withLock { $0 = Task.currentPriority }
      return .hit(Entry(7))
    }
    let inside = isLimited ? source.timeout(after: .seconds(60), clock: ManualClock()).normalize() : source.normalize()
    let pool = inside.pooled(observer: observer)
    let slow = Task(priority: .background) { try await pool.get("a") }
    await gate.arrivals(1)
    let urgent = Task(priority: .high) { try await pool.get("a") }
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    gate.open()
    _ = try await (slow.value, urgent.value)
    #expect(try #require(priority.withLock { $0 }) >= .high)
  }

  @Test("Work that a time limit gave up keeps its place in the cap around it until it ends")
  func capAroundTimeout() async throws {
    let clock = ManualClock()
    let (stream, finish) = AsyncStream<Void>.makeStream()
    let level = Level { key in
      if key == "stubborn" { await Task { for await _ in stream {} }.value }
      return .hit(Entry(1))
    }
    let cache = level.timeout(after: .seconds(1), clock: clock).capRequests(1, observer: observer)
    let first = Task { try await cache.get("stubborn") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await #expect(throws: CacheError.self) { try await first.value }
    expect(cache.load == (running: 1, waiting: 0))
    let second = Task { try await cache.get("a") }
    await observer.event { $0.key == "a" && $0.isQueued }
    #expect(level.count(of: .get("a")) == 0)
    finish.finish()
    #expect(try await second.value == 1)
    await observer.event { if case .operated(.released(0, 0)) = $0.kind { true } else { false } }
    expect(cache.load == (running: 0, waiting: 0))
  }

  @Test("a caller that gives up in the line of a cap is told of")
  func leavesLine() async throws {
    let level = Level { [gate] _ in
      try await gate.pass()
      return .hit(Entry(1))
    }
    let cache = level.capRequests(1, observer: observer)
    let first = Task { try await cache.get("a") }
    await gate.arrivals(1)
    let second = Task { try await cache.get("b") }
    await observer.event { $0.key == "b" && $0.isQueued }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    let left = observer.events.contains {
      if case .operated(.released(running: 1, waiting: 0)) = $0.kind { $0.key == "b" } else { false }
    }
    #expect(left)
    gate.open()
    #expect(try await first.value == 1)
  }

  @Test(
    "C80 whatever is written through a pool, later callers share no load that began before, of reads or of values",
    arguments: ["set", "remove", "clear", "removeAll", "replace"])
  func writesDetach(write: String) async throws {
    let memory = Memory()
    let slow = SlowLookup(base: memory) { [gate] in try await gate.pass() }
    let pool = slow.pooled()
    async let old = pool.lookup("a")
    async let oldValue = pool.value(forKey: "a") { 1 }
    await gate.arrivals(2)
    switch write {
    case "set": try await pool.set(2, forKey: "a")
    case "remove": try await pool.remove("a")
    case "clear": try await pool.clear()
    case "replace": _ = try await pool.replace(2, forKey: "a")
    default: _ = try await pool.removeAll { _ in true }
    }
    async let new = pool.lookup("a")
    async let newValue = pool.value(forKey: "a") { 3 }
    await gate.arrivals(4)
    gate.open()
    _ = try await (old, oldValue, new, newValue)
    #expect(pool.isIdle)
  }

  @Test(
    "C80 who asks for a value after something was written through a composition joins no load that began before",
    arguments: ["set", "remove", "clear", "removeAll", "replace"], ["compose", "traced", "keys", "hidden"])
  func writesKeepFromJoining(write: String, shape: String) async throws {
    let stack = Memory(capacity: 0).compose(Memory())
    let level: BasicCache<String, Int> =
      switch shape {
      case "traced": stack.traced(by: observer).normalize()
      case "keys": stack.transformKeys { (key: String) in key }.normalize()
      case "hidden": stack.normalize().retry().normalize()
      default: stack.normalize()
      }
    let early = Task.immediate { [gate] in
      try await level.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1)
      }
    }
    await gate.arrivals(1)
    switch write {
    case "set": try await stack.set(2, forKey: "a")
    case "remove": try await stack.remove("a")
    case "clear": try await stack.clear()
    case "replace": _ = try await stack.replace(2, forKey: "a")
    default: _ = try await stack.removeAll { $0 == "a" }
    }
    let late = Task.immediate { try await level.value(forKey: "a") { _ in .value(3) } }
    gate.open()
    #expect(try await early.value == 1)
    #expect(try await late.value == (write == "set" ? 2 : 3))
    #expect(stack.gate.isIdle)
  }

  @Test(
    "who asks for a value joins the load under way though others were removed or forgotten since",
    arguments: [false, true])
  func othersKeepNobodyFromJoining(areForgotten: Bool) async throws {
    let stack = Memory().compose(Memory())
    let early = Task.immediate { [gate] in
      try await stack.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1)
      }
    }
    await gate.arrivals(1)
    if areForgotten { try await stack.invalidate("b") } else { _ = try await stack.removeAll { $0 == "b" } }
    let late = Task.immediate { try await stack.value(forKey: "a") { _ in .value(3) } }
    gate.open()
    #expect(try await early.value == 1)
    #expect(try await late.value == 1)
    #expect(stack.gate.isIdle)
  }

  @Test("A first caller whose load ends before it begins to wait keeps no answer from those who joined")
  func endBeforeWaitOfOthers() async throws {
    let (loads, flight, caller) = try led()
    await gate.arrivals(1)
    let other = Task { try await loads.join("a", LoadCaller(2), ClosureLoad { 0 }) }
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    gate.open()
    #expect(try await other.value == 7)
    #expect(try await loads.waitForOwn(flight, "a", caller) == 7)
    #expect(loads.isIdle)
  }

  @Test("A caller that is cancelled before it joins a load leaves that, and the others go on")
  func cancelledBeforeJoining() async throws {
    let (loads, flight, caller) = try led()
    await gate.arrivals(1)
    let other = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await loads.join("a", LoadCaller(2), ClosureLoad { 0 })
    }
    try await turns { observer.events.contains { if case .flightLeft = $0.kind { true } else { false } } }
    gate.open()
    await #expect(throws: CancellationError.self) { try await other.value }
    #expect(try await loads.waitForOwn(flight, "a", caller) == 7)
  }

  @Test("A load whose last caller leaves before its task is known is cancelled")
  func abandonedBeforeItsTaskIsKnown() async throws {
    let loads = Loads(recorder: OperatorRecorder(name: "pool", observer: observer, clock: SystemClock()))
    let begin = Gate()
    let isRefused = Mutex(false)
    let caller = Mutex<Task<Int, any Error>?>(nil)
    let load = ClosureLoad { [gate] in
      caller.withLock { $0 }?.cancel()
      do { try await gate.pass() } catch {
        isRefused.withLock { $0 = true }
        throw error
      }
      return 7
    }
    let task = Task {
      try await begin.pass()
      return try await loads.join("a", LoadCaller(1), load)
    }
    caller.withLock { $0 = task }
    begin.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await turns { isRefused.withLock { $0 } }
    #expect(loads.isIdle)
  }

  @Test("A load takes the priority of a caller that joined before its task was known")
  func hurriesBeforeItsTaskIsKnown() async throws {
    let loads = Loads(recorder: OperatorRecorder(name: "pool", observer: observer, clock: SystemClock()))
    let load = ClosureLoad {
      // As another caller does, while the first one is still about to begin this.
      #expect(loads.table.withLock { $0.hasten("a", to: TaskPriority.high.rawValue) } == nil)
      try await turns { Task.currentPriority >= .high }
      return 7
    }
    let slow = Task(priority: .background) { try await loads.join("a", LoadCaller(1), load) }
    #expect(try await slow.value == 7)
  }

  @Test("the observer is told of the end of a load that everybody left")
  func endOfNobodysLoad() async throws {
    let source = Level { [gate] _ in
      try await gate.pass()
      return .hit(Entry(7))
    }
    let pool = source.pooled(observer: observer)
    let caller = Task { try await pool.get("a") }
    await gate.arrivals(1)
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    try await turns {
      observer.events.contains { if case .flightEnded(callers: 0, _) = $0.kind { true } else { false } }
    }
  }

  @Test("who joined a load is forgotten with its end")
  func forgetsWhoJoined() async throws {
    let outer = Mutex(WeakWork())
    let left = Mutex<AwaitedWork?>(nil)
    let inner = Level { [gate] _ in
      left.withLock { $0 = Waiting().work }
      try await gate.pass()
      return .hit(Entry(7))
    }.pooled(observer: observer)
    let pool = Level { key in
      let work = Waiting().work
      outer.withLock { $0.work = work }
      return try await inner.lookup(key)
    }.pooled()
    async let first = inner.get("a")
    await gate.arrivals(1)
    async let second = pool.get("a")
    await observer.event { if case .flightJoined = $0.kind { true } else { false } }
    gate.open()
    #expect(try await (first, second) == (7, 7))
    try await turns { outer.withLock { $0.work } == nil }
    #expect(left.withLock { $0 }?.waiting(isEverybodyMeant: true).count == 0)
  }
}

/// A level that knows the answer before it gives it, and never at once.
private struct SlowLookup<Base: CacheLevel>: LevelDecorator {
  let base: Base
  let wait: @Sendable () async throws -> Void
  var storesAtOnce: Bool { base.storesAtOnce }
  func get(_ key: Base.Key) async throws -> Base.Value? { try await lookup(key).entry?.value }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    let answer = try await base.lookup(key)
    try await wait()
    return answer
  }
}

extension SlowLookup: SelectiveRemoval where Base: SelectiveRemoval {}

extension SlowLookup: ConditionalLevel where Base: ConditionalLevel {
  func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value, forKey: key, terms: terms, if: condition)
  }
}

private struct WeakWork: Sendable {
  weak var work: AwaitedWork?
}
