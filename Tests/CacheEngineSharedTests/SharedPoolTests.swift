import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SharedPoolTests {
  typealias Shared = SharedCacheLevel<String, Int>

  let clock = ManualClock()
  let store: SimulatedSharedStore

  init() { store = SimulatedSharedStore(clock: clock) }

  private func shared(_ client: SimulatedSharedClient) throws -> Shared {
    try Shared(client, namespace: "test", valueCoding: .json, clock: clock)
  }

  /// A source that answers when its gate is opened.
  private func source(_ gate: Gate, _ answer: Lookup<Int>) -> ScriptedLevel<String, Int> {
    ScriptedLevel { _ in
      try await gate.pass()
      return answer
    }
  }

  /// Lets the clock go on, so that those who wait look again, until something holds.
  private func wait(until holds: () async throws -> Bool) async throws {
    try await turns {
      clock.advance(by: .milliseconds(5))
      return try await holds()
    }
  }

  @Test("durations that cannot be added up are as long as any time that can be told")
  func endless() async throws {
    let most = Duration.seconds(Int64.max) * 10
    let shared = try Shared(
      store.client("a"), namespace: "test", keepsExpired: most, longestLife: most, valueCoding: .json, clock: clock)
    let origin = ScriptedLevel<String, Int> { _ in .hit(Entry(7)) }
    #expect(try await origin.sharedPool(shared, lease: most, observer: nil, clock: clock).get("a") == 7)
    #expect(try await shared.get("a") == 7)
  }

  @Test("G6 however many processes and callers miss a key, it is loaded once")
  func oneLoad() async throws {
    let gate = Gate()
    let origin = source(gate, .hit(Entry(7)))
    let pools = try (0..<4).map { number in
      origin.sharedPool(try shared(store.client("\(number)")), observer: nil, clock: clock)
    }
    let answered = Tally()
    let readers = pools.flatMap { pool in
      (0..<10).map { _ in
        Task {
          let value = try await pool.get("a")
          answered.add()
          return value
        }
      }
    }
    await gate.arrivals(1)
    try await wait { clock.now > CacheInstant(nanoseconds: 1_000_500_000_000) }
    gate.open()
    try await wait { answered.count == 40 }
    for reader in readers { #expect(try await reader.value == 7) }
    #expect(origin.calls.count == 1)
    #expect(store.contents.keys.allSatisfy { !$0.starts(with: Array("test:l:".utf8)) })
  }

  @Test("A value that is loaded by a closure is loaded once, in the pool and without it")
  func loadedOnce() async throws {
    let pool = try EmptyLevel<String, Int>().sharedPool(shared(store.client("a")), observer: nil, clock: clock)
    for level in [pool.normalize(), pool.base.normalize()] {
      try await level.clear()
      let gate = Gate()
      let loads = Tally()
      let callers = (0..<10).map { _ in
        Task {
          try await level.value(forKey: "a") { _ in
            loads.add()
            try await gate.pass()
            return .value(7, expiry: .after(.seconds(60)))
          }
        }
      }
      await gate.arrivals(1)
      gate.open()
      for caller in callers { #expect(try await caller.value == 7) }
      #expect(loads.count == 1)
    }
  }

  @Test("A key is read anew from the source for everybody, unless it is written meanwhile, and what is gone is dropped")
  func reloads() async throws {
    let answer = Mutex(Lookup.hit(Entry(1)))
    let (gate, last) = (Gate(), Gate())
    let source = ScriptedLevel<String, Int> { _ in
      let answer = answer.withLock { $0 }
      if answer.entry?.value == 3 { try await gate.pass() }
      if case .miss(.refused) = answer { try await last.pass() }
      return answer
    }
    let pool = try source.sharedPool(shared(store.client("a")), observer: nil, clock: clock)
    let other = try shared(store.client("b"))
    #expect(try await pool.get("a") == 1)
    answer.withLock { $0 = .hit(Entry(2)) }
    #expect(try await pool.get("a") == 1)
    #expect(try await pool.reload("a").entry?.value == 2)
    #expect(try await other.get("a") == 2)
    answer.withLock { $0 = .hit(Entry(3)) }
    let reload = Task { try await pool.base.reload("a") }
    await gate.arrivals(1)
    try await other.set(4, forKey: "a")
    gate.open()
    #expect(try await reload.value.entry?.value == 3)
    #expect(try await other.get("a") == 4)
    answer.withLock { $0 = .miss(.refused) }
    let goneReload = Task { try await pool.base.reload("a") }
    await last.arrivals(1)
    try await other.set(5, forKey: "a")
    last.open()
    #expect(try await goneReload.value.entry == nil)
    #expect(try await other.get("a") == 5)
    answer.withLock { $0 = .miss(.absent) }
    #expect(try await pool.reload("a").entry == nil)
    #expect(try await other.get("a") == nil)
  }

  @Test("G6 if the one who loads is gone, another does when the lease has run out")
  func holderGone() async throws {
    let (stuck, open) = (Gate(), Gate())
    open.open()
    let (first, second) = (source(stuck, .hit(Entry(1))), source(open, .hit(Entry(2))))
    let gone = try first.sharedPool(shared(store.client("gone")), lease: .seconds(5), observer: nil, clock: clock)
    let pool = try second.sharedPool(shared(store.client("here")), lease: .seconds(5), observer: nil, clock: clock)
    let began = clock.now
    let dead = Task { try await gone.get("a") }
    await stuck.arrivals(1)
    let isAnswered = Mutex(false)
    let reader = Task {
      defer { isAnswered.withLock { $0 = true } }
      return try await pool.get("a")
    }
    try await wait { isAnswered.withLock { $0 } }
    #expect(try await reader.value == 2)
    #expect(began.duration(to: clock.now) >= .seconds(5))
    // The first comes too late: what it loaded is delivered, and replaces nothing.
    stuck.open()
    #expect(try await dead.value == 1)
    #expect(try await shared(store.client("look")).get("a") == 2)
  }

  @Test("G6 who has waited for as long as four leases may take loads without one")
  func waitsNoLonger() async throws {
    store.plant(Array("test:l:a".utf8), [UInt8](repeating: 7, count: 16) + [0x4c])
    let origin = ScriptedLevel<String, Int> { _ in .hit(Entry(7)) }
    let pool = origin.sharedPool(
      try shared(store.client("a")), lease: .milliseconds(100), observer: nil, clock: clock)
    let began = clock.now
    let answered = Tally()
    let reader = Task {
      defer { answered.add() }
      return try await pool.get("a")
    }
    try await wait { answered.count == 1 }
    #expect(try await reader.value == 7)
    #expect(began.duration(to: clock.now) >= .milliseconds(400))
  }

  @Test("who waited for a load that found nothing is told so, and does not load once more")
  func nothingFound() async throws {
    let gate = Gate()
    let origin = source(gate, .miss(.absent))
    let pools = try (0..<3).map {
      origin.sharedPool(try shared(store.client("\($0)")), observer: nil, clock: clock)
    }
    let leader = Task { try await pools[0].get("a") }
    await gate.arrivals(1)
    let answered = Tally()
    let followers = pools.dropFirst().map { pool in
      Task {
        defer { answered.add() }
        return try await pool.get("a")
      }
    }
    await clock.waitForSleepers(2)
    gate.open()
    #expect(try await leader.value == nil)
    try await turns { store.contents[Array("test:l:a".utf8)]?.last == 0x4d }
    try await wait { answered.count == 2 }
    for follower in followers { #expect(try await follower.value == nil) }
    #expect(origin.calls.count == 1)
    // Who comes afterwards asks anew.
    #expect(try await pools[1].get("a") == nil)
    #expect(origin.calls.count == 2)
  }

  @Test("a load that fails fails its own process; another one takes over at once")
  func leaderFails() async throws {
    let gate = Gate()
    let broken = ScriptedLevel<String, Int> { _ in
      try await gate.pass()
      throw CacheError(.simulated, "down")
    }
    let first = try broken.sharedPool(shared(store.client("first")), observer: nil, clock: clock)
    let second = try BasicFetcher<String, Int> { _ in 2 }.sharedPool(
      shared(store.client("second")), observer: nil, clock: clock)
    let began = clock.now
    let leader = Task { try await first.get("a") }
    await gate.arrivals(1)
    let isAnswered = Mutex(false)
    let follower = Task {
      defer { isAnswered.withLock { $0 = true } }
      return try await second.get("a")
    }
    await clock.waitForSleepers(1)
    gate.open()
    await #expect(throws: CacheError.self) { try await leader.value }
    try await turns { store.contents[Array("test:l:a".utf8)] == nil }
    try await wait { isAnswered.withLock { $0 } }
    #expect(try await follower.value == 2)
    #expect(began.duration(to: clock.now) < .seconds(5))
  }

  enum Change: CaseIterable { case set, remove, clear, tag, otherTag, failedSet, lostStamps, nothing }

  @Test("G8 what was loaded before the key was changed is delivered and not filled in", arguments: Change.allCases)
  func noStaleFill(change: Change) async throws {
    let (client, gate) = (store.client("here"), Gate())
    let (here, there) = (try shared(client), try shared(store.client("there")))
    try await there.set(0, forKey: "other", tags: ["x", "y"])
    var old = Entry(1)
    old.tags = ["x"]
    let pool = source(gate, .hit(old)).sharedPool(here, observer: nil, clock: clock)
    let reader = Task { try await pool.get("a") }
    await gate.arrivals(1)
    switch change {
    case .set: try await there.set(2, forKey: "a")
    case .remove: try await there.remove("a")
    case .clear: try await there.clear()
    case .tag: try await there.removeAll(tagged: "x")
    case .otherTag: try await there.removeAll(tagged: "y")
    case .failedSet:
      client.onCall { _ in .refused }
      await #expect(throws: CacheError.self) { try await here.set(2, forKey: "a") }
      client.onCall(nil)
    case .lostStamps: store.evict { $0.starts(with: Array("test:s:".utf8)) || $0.starts(with: Array("test:g:".utf8)) }
    case .nothing: break
    }
    gate.open()
    #expect(try await reader.value == 1)
    // Nothing is written that nobody could read.
    if change == .clear { #expect(store.contents[Array("test:r:a".utf8)] == nil) }
    let held = try await there.lookup("a").entry
    #expect(held?.value == (change == .set ? 2 : change == .nothing ? 1 : nil))
    #expect(held?.tags == (change == .nothing ? ["x"] : change == .set ? [] : nil))
    // Nobody waits for a lease whose value was not stored.
    try await turns { store.contents.keys.allSatisfy { !$0.starts(with: Array("test:l:".utf8)) } }
  }

  @Test("G6 a lease that was taken and not heard of is given back, so that nobody waits for it")
  func takenUnheard() async throws {
    let client = store.client("here")
    let pool = try BasicFetcher<String, Int> { _ in 1 }.sharedPool(shared(client), observer: nil, clock: clock)
    let isFirst = Mutex(true)
    client.onCall { call in
      guard case .commit = call else { return .done }
      return isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? .unanswered : .done
      }
    }
    #expect(try await pool.get("a") == 1)
    try await turns { store.contents.keys.allSatisfy { !$0.starts(with: Array("test:l:".utf8)) } }
    #expect(try await pool.get("a") == 1)
    #expect(try await shared(store.client("look")).get("a") == 1)
  }

  @Test("G8 a write that is cancelled once the source may have it leaves no old value", arguments: [false, true])
  func cancelledWrite(isAnswered: Bool) async throws {
    let gate = Gate()
    let answer: @Sendable () async throws -> Void = {
      do { try await gate.pass() } catch { if !isAnswered { throw error } }
    }
    let origin = BasicCache<String, Int>(
      get: { _ in nil }, set: { _, _ in try await answer() }, remove: { _ in try await answer() }, clear: answer)
    let here = try shared(store.client("here"))
    let pool = origin.sharedPool(here, observer: nil, clock: clock)
    let writes: [@Sendable () async throws -> Void] = [
      { try await pool.set(2, forKey: "a") }, { try await pool.remove("a") }, { try await pool.clear() },
    ]
    for (number, write) in writes.enumerated() {
      try await here.set(1, forKey: "a")
      let writer = Task { try await write() }
      await gate.arrivals(number + 1)
      writer.cancel()
      _ = await writer.result
      #expect(try await here.get("a") == (isAnswered && number == 0 ? 2 : nil))
    }
  }

  @Test("a store that cannot answer is done without, and the value is kept nowhere")
  func failsOpen() async throws {
    let client = store.client("here")
    let observer = RecordingObserver()
    let pool = try BasicFetcher<String, Int> { _ in 1 }.sharedPool(
      shared(client), observer: observer, clock: clock)
    client.onCall { _ in .refused }
    #expect(try await pool.get("a") == 1)
    #expect(!observer.events.isEmpty)
    client.onCall(nil)
    #expect(try await shared(store.client("look")).get("a") == nil)
    #expect(try await pool.get("a") == 1)
    #expect(try await shared(store.client("look")).get("a") == 1)
  }

  @Test("memory above a pool with leases is filled once, and forgets what others write")
  func composed() async throws {
    let client = store.client("here")
    let here = try shared(client)
    let origin = ScriptedLevel<String, Int> { _ in .hit(Entry(1)) }
    let memory = MemoryCacheLevel<String, Int>()
    let cache = memory.compose(
      origin.sharedPool(here, observer: nil, clock: clock), coherence: Coherence(client, of: here), clock: clock)
    try await turns { cache.coherence.deafSince == nil }
    #expect(try await cache.get("a") == 1)
    #expect(cache.peek("a") == 1)
    try await shared(store.client("there")).set(2, forKey: "a")
    try await turns { cache.peek("a") == nil }
    #expect(try await cache.get("a") == 2)
    try await cache.set(3, forKey: "a")
    #expect(cache.peek("a") == 3)
    #expect(try await here.get("a") == 3)
    try await cache.remove("a")
    #expect(origin.calls.count == 3)
  }
}
