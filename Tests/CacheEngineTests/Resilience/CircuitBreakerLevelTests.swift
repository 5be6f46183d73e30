import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore

@Suite struct CircuitBreakerLevelTests {
  let clock = ManualClock()
  let observer = RecordingObserver()
  private let isDown = Flag()

  private final class Flag: Sendable {
    private let state = Mutex(true)
    var value: Bool {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  private func level() -> ScriptedLevel<String, Int> {
    ScriptedLevel(
      onSet: { [isDown] _, _ in if isDown.value { throw CacheError(.simulated, "down") } },
      onGet: { [isDown] key in
        if isDown.value { throw CacheError(.simulated, "down") }
        return key == "a" ? .hit(Entry(1)) : .miss(.absent)
      })
  }

  private var phases: [CircuitPhase] {
    observer.events.compactMap { if case .operated(.circuit(let phase)) = $0.kind { phase } else { nil } }
  }

  @Test("so many failures in a row open the circuit; then the level is left alone until the reset time has passed")
  func opens() async throws {
    let level = level()
    let cache = level.circuitBreaker(failures: 3, reset: .seconds(30), name: "api", observer: observer, clock: clock)
    for _ in 0..<3 { await #expect(throws: CacheError.self) { try await cache.get("a") } }
    #expect(cache.phase == .open)
    #expect(cache.opensAgain == clock.now.advanced(by: .seconds(30)))
    for _ in 0..<5 {
      let error = await #expect(throws: CacheError.self) { try await cache.get("a") }
      #expect(error?.code == .circuitOpen)
      #expect(error?.level == "api")
    }
    await #expect(throws: CacheError.self) { try await cache.set(1, forKey: "a") }
    #expect(level.calls.count == 3)
    isDown.value = false
    clock.advance(by: .seconds(30))
    #expect(try await cache.get("a") == 1)
    #expect(cache.phase == .closed)
    #expect(phases == [.open, .halfOpen, .closed])
  }

  @Test("a trial that fails opens the circuit again for the whole reset time")
  func reopens() async throws {
    let level = level()
    let cache = level.circuitBreaker(failures: 1, reset: .seconds(30), clock: clock)
    await #expect(throws: CacheError.self) { try await cache.get("a") }
    clock.advance(by: .seconds(30))
    let error = await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(error?.code == .simulated)
    clock.advance(by: .seconds(29))
    let again = await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(again?.code == .circuitOpen)
    #expect(level.calls.count == 2)
  }

  @Test("a success between failures begins the count anew, and a miss is a success")
  func inARow() async throws {
    let cache = level().circuitBreaker(failures: 2, reset: .seconds(30), clock: clock)
    for key in ["b", "a", "b"] {
      isDown.value = true
      await #expect(throws: CacheError.self) { try await cache.get(key) }
      isDown.value = false
      _ = try await cache.get(key)
    }
    #expect(cache.phase == .closed)
  }

  @Test("while one call tries a half-open circuit, the others fail at once; a cancelled trial leaves it to the next")
  func oneTrial() async throws {
    let gate = Gate()
    let fails = Flag()
    let level = ScriptedLevel<String, Int> { key in
      if fails.value { throw CacheError(.simulated, "down") }
      if key == "slow" { try await gate.pass() }
      return .hit(Entry(1))
    }
    let cache = level.circuitBreaker(failures: 1, reset: .seconds(30), clock: clock)
    await #expect(throws: CacheError.self) { try await cache.get("a") }
    fails.value = false
    clock.advance(by: .seconds(30))
    let trial = Task { try await cache.get("slow") }
    await gate.arrivals(1)
    let error = await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(error?.code == .circuitOpen)
    trial.cancel()
    await #expect(throws: CancellationError.self) { try await trial.value }
    #expect(try await cache.get("a") == 1)
    #expect(cache.phase == .closed)
  }

  @Test("errors that say nothing of the level's health are not counted")
  func otherErrors() async throws {
    let cache = level().circuitBreaker(failures: 1, reset: .seconds(30), clock: clock) { _ in false }
    for _ in 0..<3 { await #expect(throws: CacheError.self) { try await cache.get("a") } }
    #expect(cache.phase == .closed)
  }

  @Test("what began before the circuit changed tells nothing of it now")
  func lateNews() throws {
    var state = CircuitState(failures: 1, reset: .seconds(30))
    let now = clock.now
    let (first, second) = (state.admit(at: now), state.admit(at: now))
    let early = try #require(first)
    let failing = try #require(second)
    state.failed(failing, at: now)
    state.succeeded(early)
    #expect(state.phase == .open)
    let third = state.admit(at: now.advanced(by: .seconds(30)))
    let trial = try #require(third)
    state.failed(early, at: now)
    #expect(state.phase == .halfOpen)
    state.succeeded(trial)
    #expect(state.phase == .closed)
  }

  private func admit(_ state: inout CircuitState, at now: CacheInstant) throws -> CircuitState.Pass {
    let pass = state.admit(at: now)
    return try #require(pass)
  }

  @Test("a cancelled trial says nothing: the circuit is open again, and the very next call tries")
  func forgottenTrial() throws {
    var state = CircuitState(failures: 2, reset: .seconds(30))
    let now = clock.now
    for _ in 0..<2 {
      let pass = try admit(&state, at: now)
      state.failed(pass, at: now)
    }
    let later = now.advanced(by: .seconds(30))
    let trial = try admit(&state, at: later)
    state.forgot(trial, at: later)
    #expect(state.phase == .open)
    #expect(state.opensAgain == later)
    let next = try admit(&state, at: later)
    #expect(state.phase == .halfOpen)
    let refused = state.admit(at: later)
    #expect(refused == nil)
    state.succeeded(trial)
    #expect(state.phase == .halfOpen)
    state.failed(next, at: later)
    #expect(state.opensAgain == later.advanced(by: .seconds(30)))
  }

  @Test("a cancelled call counts as neither success nor failure")
  func forgottenCall() throws {
    var state = CircuitState(failures: 2, reset: .seconds(30))
    let (first, second, third) = (
      try admit(&state, at: clock.now), try admit(&state, at: clock.now),
      try admit(&state, at: clock.now)
    )
    state.failed(first, at: clock.now)
    state.forgot(second, at: clock.now)
    #expect(state.phase == .closed)
    state.failed(third, at: clock.now)
    #expect(state.phase == .open)
  }

  @Test("a trial that does not end gives way to another after the reset time")
  func hungTrial() async throws {
    let gate = Gate()
    let fails = Flag()
    let level = ScriptedLevel<String, Int> { key in
      if fails.value { throw CacheError(.simulated, "down") }
      if key == "hung" { try await gate.pass() }
      return .hit(Entry(1))
    }
    let cache = level.circuitBreaker(failures: 1, reset: .seconds(30), clock: clock)
    await #expect(throws: CacheError.self) { try await cache.get("a") }
    fails.value = false
    clock.advance(by: .seconds(30))
    let trial = Task { try await cache.get("hung") }
    await gate.arrivals(1)
    clock.advance(by: .seconds(29))
    let error = await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(error?.code == .circuitOpen)
    clock.advance(by: .seconds(1))
    #expect(try await cache.get("a") == 1)
    #expect(cache.phase == .closed)
    gate.open()
    #expect(try await trial.value == 1)
  }

  @Test("a trial that takes longer than the reset time closes the circuit when it succeeds")
  func slowTrials() throws {
    var state = CircuitState(failures: 1, reset: .seconds(30))
    var now = clock.now
    let pass = try admit(&state, at: now)
    state.failed(pass, at: now)
    now = now.advanced(by: .seconds(30))
    let first = try admit(&state, at: now)
    now = now.advanced(by: .seconds(30))
    let second = try admit(&state, at: now)
    let refused = state.admit(at: now)
    #expect(refused == nil)
    state.forgot(first, at: now)
    #expect(state.phase == .halfOpen)
    state.succeeded(first)
    #expect(state.phase == .closed)
    state.failed(second, at: now)
    #expect(state.phase == .closed)
  }

  @Test("an open circuit is not passed by, by no way of asking")
  func noWayRound() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let fails = Flag()
    fails.value = false
    let level = FailingWrites(base: memory, fails: { fails.value })
    let cache = level.circuitBreaker(failures: 1, reset: .seconds(30), clock: clock)
    try await cache.set(1, forKey: "a")
    #expect(cache.peek("a") == 1)
    fails.value = true
    await #expect(throws: CacheError.self) { try await cache.set(2, forKey: "a") }
    #expect(cache.peek("a") == nil)
    for ask in [
      { @Sendable in _ = try await cache.get("a") }, { _ = try await cache.require("a") },
      { _ = try await cache.normalize().get("a") }, { _ = try await cache.pooled().get("a") },
      { _ = try await cache.normalize().require("a") },
    ] {
      let error = await #expect(throws: CacheError.self) { try await ask() }
      #expect(error?.code == .circuitOpen)
    }
    clock.advance(by: .seconds(30))
    #expect(cache.peek("a") == nil)
    #expect(try await cache.get("a") == 1)
    #expect(cache.peek("a") == 1)
  }

  @Test("a value that is given at once is a success as any other")
  func peekedSuccess() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let level = FailingWrites(base: memory, fails: { true })
    let cache = level.circuitBreaker(failures: 2, clock: clock)
    try await memory.set(1, forKey: "a")
    for _ in 0..<3 {
      await #expect(throws: CacheError.self) { try await cache.set(2, forKey: "a") }
      #expect(try await cache.normalize().get("a") == 1)
    }
    #expect(cache.phase == .closed)
  }
}

/// Memory that can be read at once, and written only sometimes.
private struct FailingWrites: LevelDecorator {
  let base: MemoryCacheLevel<String, Int>
  let fails: @Sendable () -> Bool

  func get(_ key: String) async throws -> Int? { try await base.get(key) }
  func lookup(_ key: String) async throws -> Lookup<Int> { try await base.lookup(key) }
  func peek(_ key: String) -> Int? { base.peek(key) }
  func store(_ value: Int, forKey key: String, terms: StoreTerms) async throws {
    if fails() { throw CacheError(.simulated, "down") }
    try await base.store(value, forKey: key, terms: terms)
  }
}
