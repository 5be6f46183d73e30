import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CoherentLevelTests {
  typealias Shared = SharedCacheLevel<String, Int>
  typealias Memory = MemoryCacheLevel<String, Int>

  /// A process: its client, what it shares, its memory, and all of it as one.
  struct Process {
    let client: SimulatedSharedClient
    let shared: Shared
    let memory = Memory()
    let cache: CoherentLevel<Memory, Shared>

    init(
      _ name: String, _ store: SimulatedSharedStore, whileDeaf: Coherence<String>.WhileDeaf = .serve(for: .seconds(5)),
      hearsItself: Bool = false, encryption: SharedEncryption? = nil, clock: ManualClock
    ) async throws {
      client = store.client(name, hearsItself: hearsItself)
      shared = try Shared(client, namespace: "test", encryption: encryption, valueCoding: .json, clock: clock)
      cache = memory.compose(
        shared, coherence: Coherence(client, of: shared, whileDeaf: whileDeaf), observer: nil, clock: clock)
      try await turns { [cache] in cache.coherence.deafSince == nil }
    }
  }

  let clock = ManualClock()
  let store: SimulatedSharedStore

  init() { store = SimulatedSharedStore(clock: clock) }

  func twoProcesses(encryption: SharedEncryption? = nil) async throws -> (Process, Process) {
    (
      try await Process("here", store, encryption: encryption, clock: clock),
      try await Process("there", store, encryption: encryption, clock: clock)
    )
  }

  @Test("a removal or a set while a value is loaded wins", arguments: ["remove", "set", "clear"])
  func loads(_ write: String) async throws {
    let (here, _) = try await twoProcesses()
    let gate = Gate()
    let maker = Task {
      try await here.cache.value(forKey: "a") { _ in
        try await gate.pass()
        return .value(1)
      }
    }
    await gate.arrivals(1)
    switch write {
    case "set": try await here.cache.set(2, forKey: "a")
    case "remove": try await here.cache.remove("a")
    default: try await here.cache.clear()
    }
    gate.open()
    #expect(try await maker.value == 1)
    #expect(try await here.cache.get("a") == (write == "set" ? 2 : nil))
    #expect(try await here.shared.get("a") == (write == "set" ? 2 : nil))
  }

  @Test("a reload finds what nobody has told of")
  func reloads() async throws {
    let (here, there) = try await twoProcesses()
    try await here.cache.set(1, forKey: "a")
    store.holdBack(true)
    try await there.cache.set(2, forKey: "a")
    #expect(try await here.cache.get("a") == 1)
    #expect(try await here.cache.normalize().reload("a").entry?.value == 2)
    #expect(here.cache.peek("a") == 2)
    store.holdBack(false)
  }

  @Test("what one process sets or removes the other forgets; what one wrote itself stays", arguments: [false, true])
  func forgets(isSealed: Bool) async throws {
    let (here, there) = try await twoProcesses(
      encryption: isSealed ? SharedEncryption(TestCipher(), secret: TestCipher.secret) : nil)
    // Who never asked for a key need not know its name.
    #expect(try await there.cache.get("a") == nil)
    try await here.cache.set(1, forKey: "a")
    #expect(here.cache.peek("a") == 1)
    try await turns { there.cache.coherence.keys == 1 }
    #expect(try await there.cache.get("a") == 1)
    #expect(there.cache.peek("a") == 1)
    try await there.cache.set(2, forKey: "a")
    try await turns { here.cache.peek("a") == nil }
    #expect(there.cache.peek("a") == 2)
    #expect(try await here.cache.get("a") == 2)
    try await there.cache.remove("a")
    try await turns { here.cache.peek("a") == nil }
    #expect(try await here.cache.get("a") == nil)
    #expect(here.cache.coherence.keys >= 2)
  }

  @Test("clears, removals by tag and flushes hold above as well, and a removal by tag for what has it alone")
  func forgetsMany() async throws {
    let (here, there) = try await twoProcesses()
    for round in 0..<3 {
      try await here.cache.set(1, forKey: "a", tags: ["x"])
      try await here.cache.set(2, forKey: "b", tags: ["y"])
      #expect(here.cache.peek("a") == 1 && here.cache.peek("b") == 2)
      switch round {
      case 0: try await there.cache.removeAll(tagged: "x")
      case 1: try await there.cache.clear()
      default: store.flush()
      }
      try await turns { here.cache.peek("a") == nil && (round == 0 || here.cache.peek("b") == nil) }
      #expect(try await here.cache.get("a") == nil)
      #expect(try await here.cache.get("b") == (round == 0 ? 2 : nil))
    }
    #expect(here.cache.coherence.tags == 1)
  }

  @Test("G1 a value that was read below before the change arrived is not served from above after it")
  func noResurrection() async throws {
    let (here, there) = try await twoProcesses()
    try await there.cache.set(1, forKey: "a")
    let answers = Gate()
    let slow = HoldingLevel(base: here.shared, gate: answers)
    let cache = here.memory.compose(slow, coherence: Coherence(here.client, of: here.shared), observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    let late = Task { try await cache.get("a") }
    await answers.arrivals(1)
    try await there.cache.set(2, forKey: "a")
    try await turns { cache.coherence.keys == 1 }
    answers.open()
    #expect(try await late.value == 1)
    #expect(cache.peek("a") == nil)
    #expect(try await cache.get("a") == 2)
  }

  @Test("what is written while the change arrives is forgotten when the write ends")
  func writeUnderWay() async throws {
    let (here, there) = try await twoProcesses()
    let gate = Gate()
    here.client.onCall { call in
      if case .commit = call { try await gate.pass() }
      return .done
    }
    let writer = Task { try await here.cache.set(1, forKey: "a") }
    await gate.arrivals(1)
    try await there.cache.set(2, forKey: "a")
    try await turns { here.cache.coherence.keys == 1 }
    gate.open()
    try await writer.value
    #expect(here.cache.peek("a") == nil)
    #expect(try await here.cache.get("a") == 1)
  }

  @Test("what is written while another write of its key fails is not served from above once it is gone below")
  func settledBehindAWrite() async throws {
    let (here, _) = try await twoProcesses()
    try await here.cache.set(0, forKey: "a")
    let gate = Gate()
    let commits = Mutex(0)
    here.client.onCall { call in
      guard case .commit = call else { return .done }
      let number = commits.withLock { commits in
        commits += 1
        return commits
      }
      if number > 1 { return .unanswered }
      try await gate.pass()
      return .done
    }
    let write = Task { try await here.cache.set(2, forKey: "a") }
    await gate.arrivals(1)
    await #expect(throws: CacheError.self) { try await here.shared.set(1, forKey: "a") }
    here.client.onCall(nil)
    gate.open()
    try await write.value
    #expect(here.cache.peek("a") == 2)
    try await turns {
      clock.advance(by: .milliseconds(50))
      return here.cache.peek("a") == nil
    }
    #expect(try await here.cache.get("a") == nil)
  }

  @Test("G2 while deaf what is above is served for a while, counted from what was heard last; then it is passed by")
  func deaf() async throws {
    let (here, there) = try await twoProcesses()
    try await here.cache.set(1, forKey: "a")
    let lastHeard = clock.now
    clock.advance(by: .seconds(2))
    here.client.turn(deaf: true, lastHeard: lastHeard)
    try await turns { here.cache.coherence.deafSince == lastHeard }
    try await there.cache.set(2, forKey: "a")
    clock.advance(by: .seconds(3) - .nanoseconds(1))
    #expect(here.cache.peek("a") == 1)
    clock.advance(by: .nanoseconds(1))
    #expect(here.cache.peek("a") == nil)
    #expect(try await here.cache.get("a") == 2)
    #expect(try await here.cache.lookup(["a"]).map { try $0.result.get().entry?.value } == [2])
    #expect(try await here.cache.lookupIncludingExpired("a").entry?.value == 2)
    // Nothing is copied up, and a write shows through the shared level.
    try await here.cache.set(3, forKey: "b")
    #expect(here.cache.peek("b") == nil)
    #expect(try await here.cache.get("b") == 3)
    here.client.turn(deaf: false)
    try await turns { here.cache.coherence.deafSince == nil }
    #expect(here.memory.usage.count == 0)
    #expect(try await here.cache.get("a") == 2)
    #expect(here.cache.peek("a") == 2)
  }

  @Test("a cache that never heard anything serves what is above no longer than a deaf one")
  func neverHeard() async throws {
    let bus = SilentBus()
    let shared = try Shared(store.client("here"), namespace: "test", valueCoding: .json, clock: clock)
    let cache = Memory().compose(
      shared, coherence: Coherence(bus, of: shared, whileDeaf: .serve(for: .seconds(1))), clock: clock)
    try await cache.set(1, forKey: "a")
    #expect(cache.peek("a") == 1)
    clock.advance(by: .seconds(1))
    #expect(cache.peek("a") == nil)
    #expect(cache.coherence.deafSince != nil)
    let strict = Memory().compose(shared, coherence: Coherence(bus, of: shared, whileDeaf: .passBy), clock: clock)
    try await strict.set(1, forKey: "a")
    #expect(strict.peek("a") == nil)
  }

  @Test("more changes than the listener takes in make it forget everything")
  func overflow() async throws {
    let feed = InvalidationFeed(limit: 3)
    for number in 0..<4 { feed.send(.names([[UInt8(number)]])) }
    feed.send(.lost(lastHeard: clock.now))
    var told: [SharedInvalidation] = []
    var next = feed.makeAsyncIterator()
    while told.count < 2, let change = await next.next() { told.append(change) }
    #expect(told == [.everything(.overflow), .lost(lastHeard: clock.now)])
    feed.send(.names([[1]]))
    feed.send(.everything(.flushed))
    #expect(await next.next() == .everything(.flushed))
  }

  @Test("too many changes do not make it hear again what it has lost, known yet or not", arguments: [false, true])
  func overflowWhileDeaf(isKnown: Bool) async throws {
    let feed = InvalidationFeed(limit: 1)
    let lost = SharedInvalidation.lost(lastHeard: clock.now)
    var next = feed.makeAsyncIterator()
    feed.send(lost)
    if isKnown { #expect(await next.next() == lost) }
    // As those servers of a cluster tell that are heard still.
    for _ in 0..<2 { feed.send(.names([[1], [2]])) }
    #expect(await next.next() == .everything(.overflow))
    #expect(await next.next() == lost)
    feed.send(.everything(.connected))
    #expect(await next.next() == .everything(.connected))
    feed.send(.names([[1], [2]]))
    #expect(await next.next() == .everything(.overflow))
    feed.send(.everything(.flushed))
    #expect(await next.next() == .everything(.flushed))
  }

  @Test("with encryption, names that were forgotten make it forget everything rather than nothing")
  func forgottenNames() async throws {
    let encryption = SharedEncryption(TestCipher(), secret: TestCipher.secret)
    let (here, there) = try await twoProcesses(encryption: encryption)
    try await here.cache.set(1, forKey: "a")
    _ = try await here.shared.lookup((0..<65_536).map { "k\($0)" })
    try await there.cache.set(2, forKey: "a")
    try await turns { here.cache.peek("a") == nil }
    #expect(try await here.cache.get("a") == 2)
  }

  @Test("a condition is judged by what all share, not by a copy")
  func conditions() async throws {
    let (here, there) = try await twoProcesses()
    try await here.cache.set(1, forKey: "a")
    store.holdBack(true)
    try await there.cache.remove("a")
    #expect(here.cache.peek("a") == 1)
    #expect(try await here.cache.setIfAbsent(2, forKey: "a"))
    #expect(here.cache.peek("a") == 2)
    #expect(try await !there.cache.setIfAbsent(3, forKey: "a"))
  }

  @Test("an upper level that cannot forget is passed by until everything was forgotten")
  func failingUpper() async throws {
    let fails = Mutex(false)
    @Sendable func fail() throws { if fails.withLock({ $0 }) { throw CacheError(.simulated, "stuck") } }
    let upper = HookedLevel(base: Memory(), onRemove: { _ in try fail() }, onClear: { try fail() })
    let client = store.client("here")
    let shared = try Shared(client, namespace: "test", valueCoding: .json, clock: clock)
    let observer = RecordingObserver()
    let cache = upper.compose(shared, coherence: Coherence(client, of: shared), observer: observer, clock: clock)
    try await turns { cache.coherence.deafSince == nil }
    let there = try await Process("there", store, clock: clock)
    try await cache.set(1, forKey: "a")
    fails.withLock { $0 = true }
    try await there.cache.set(2, forKey: "a")
    try await turns { cache.coherence.deafSince != nil }
    #expect(try await cache.get("a") == 2)
    #expect(observer.events.contains { if case .failed(.remove, _, _) = $0.kind { true } else { false } })
    fails.withLock { $0 = false }
    // With the next change, whichever that is.
    try await there.cache.set(3, forKey: "b")
    try await turns { cache.coherence.deafSince == nil }
    #expect(try await cache.get("a") == 2)
    #expect(cache.peek("a") == 2)
  }

  @Test(
    "a removal by tag that is heard empties an upper level that keeps no tags, which serves on",
    arguments: [false, true])
  func tagAboveHidden(isComposed: Bool) async throws {
    let plain = ScriptedLevel<String, Int>()
    let memory = Memory()
    let upper = isComposed ? memory.compose(plain.normalize()).normalize() : plain.normalize()
    let client = store.client("here")
    let shared = try Shared(client, namespace: "test", valueCoding: .json, clock: clock)
    let cache = upper.compose(shared, coherence: Coherence(client, of: shared), observer: nil, clock: clock)
    try await turns { cache.coherence.deafSince == nil }
    let there = try await Process("there", store, clock: clock)
    try await cache.store(1, forKey: "a", terms: StoreTerms(tags: ["x"]))
    try await there.cache.removeAll(tagged: "x")
    try await turns { cache.coherence.tags == 1 || cache.coherence.deafSince != nil }
    #expect(cache.coherence.deafSince == nil)
    #expect(plain.stored("a") == nil && memory.peek("a") == nil)
    try await cache.set(2, forKey: "b")
    #expect(try await upper.get("b") == 2)
  }

  @Test("G1 a removal by tag that is heard reaches copies below, and lets nobody join a load that began before")
  func tagBelow() async throws {
    let client = store.client("here")
    let shared = try Shared(client, namespace: "test", valueCoding: .json, clock: clock)
    let (copies, gate) = (Memory(), Gate())
    let isHeld = Mutex(false)
    let slow = BasicCache<String, Int>(
      get: { key in
        let value = try await shared.get(key)
        if isHeld.withLock({ $0 }) { try await gate.pass() }
        return value
      }, set: { try await shared.set($0, forKey: $1) }, remove: { try await shared.remove($0) },
      clear: { try await shared.clear() })
    let cache = Memory().compose(
      copies.compose(slow.pooled()), coherence: Coherence(client, of: shared), observer: nil, clock: clock)
    try await turns { cache.coherence.deafSince == nil }
    let there = try await Process("there", store, clock: clock)
    try await there.cache.store(1, forKey: "a", terms: StoreTerms(tags: ["x"]))
    try await there.cache.store(1, forKey: "b", terms: StoreTerms(tags: ["x"]))
    try await turns { cache.coherence.keys == 2 }
    let heard = cache.coherence.tags
    try await copies.store(1, forKey: "a", terms: StoreTerms(tags: ["x"]))
    isHeld.withLock { $0 = true }
    let early = Task { try await cache.get("b") }
    await gate.arrivals(1)
    try await there.cache.removeAll(tagged: "x")
    try await turns { cache.coherence.tags > heard || cache.coherence.deafSince != nil }
    #expect(cache.coherence.deafSince == nil)
    #expect(copies.peek("a") == nil)
    isHeld.withLock { $0 = false }
    #expect(try await cache.get("b") == nil)
    gate.open()
    _ = try await early.value
    for key in ["a", "b"] { #expect(try await cache.get(key) == nil) }
  }

  @Test("the bus is let go of with the cache")
  func endsListening() async throws {
    let ended = Mutex(false)
    let bus = SilentBus(onEnd: { ended.withLock { $0 = true } })
    let shared = try Shared(store.client("here"), namespace: "test", valueCoding: .json, clock: clock)
    do {
      let cache = Memory().compose(shared, coherence: Coherence(bus, of: shared), clock: clock)
      try await cache.set(1, forKey: "a")
    }
    try await turns { ended.withLock { $0 } }
  }
}

/// A bus that tells nothing.
private struct SilentBus: InvalidationBus {
  var onEnd: @Sendable () -> Void = {}

  func changes(of prefixes: [[UInt8]]) -> InvalidationFeed { InvalidationFeed(onEnd: onEnd) }
}

/// Holds back what the level inside has answered.
struct HoldingLevel<Base: CacheLevel>: ReadDecorator {
  let base: Base
  let gate: Gate

  func read(
    _ key: Base.Key, by ask: @escaping @Sendable () async throws -> Lookup<Base.Value>
  ) async throws -> Lookup<Base.Value> {
    let answer = try await ask()
    try await gate.pass()
    return answer
  }
}
