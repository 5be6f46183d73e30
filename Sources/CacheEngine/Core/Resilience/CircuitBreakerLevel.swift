import Synchronization

/// A level that is left alone for a while after it has failed several times in a row.
///
/// Built by ``CacheLevel/circuitBreaker(failures:reset:name:observer:clock:where:)``.
///
/// | phase | a read or write |
/// |---|---|
/// | closed | goes to the level inside; a number of failures in a row opens the circuit |
/// | open | fails at once with ``CacheError/Code/circuitOpen``, until the reset time has passed |
/// | half-open | one call goes to the level inside, the others fail at once; it closes the circuit or opens it again |
/// | half-open, and that call has not ended within the reset time | one more goes to the level inside |
///
/// A miss is an answer and counts as a success. A cancelled call counts as neither. Clears, removals of several keys and
/// warnings always pass. After M. Nygard, Release It!, 2007.
public final class CircuitBreakerLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  let recorder: OperatorRecorder
  private let isFailure: @Sendable (any Error) -> Bool
  private let state: Mutex<CircuitState>

  init(
    base: Base, failures: Int, reset: Duration, recorder: OperatorRecorder,
    isFailure: @escaping @Sendable (any Error) -> Bool
  ) {
    precondition(failures >= 1, "a circuit opens after at least one failure")
    precondition(reset >= .zero, "a reset time cannot be negative")
    self.base = base
    self.recorder = recorder
    self.isFailure = isFailure
    state = Mutex(CircuitState(failures: failures, reset: reset))
  }

  /// The phase that the circuit is in; an open one lets a call through when its reset time has passed.
  public var phase: CircuitPhase { state.withLock { $0.phase } }

  /// When an open circuit will let a call through; `nil` if it is not open.
  public var opensAgain: CacheInstant? { state.withLock { $0.opensAgain } }

  /// Reads the level inside if the circuit lets the call through.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circuitOpen``; otherwise the error of the level inside.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    try await guarded(key, ask)
  }

  /// Returns the value of the level inside, if that can answer at once and the circuit is closed.
  public func peek(_ key: Key) -> Value? {
    guard let value = base.peek(key), state.withLock({ $0.answersAtOnce() }) else { return nil }
    return value
  }

  /// Stores a value in the level inside, if the circuit lets the call through.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circuitOpen``; otherwise the error of the level inside.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the level inside on terms of its own, if the circuit lets the call through.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await guarded(key) { try await base.store(value, forKey: key, terms: terms) }
  }

  /// Removes the value for a key from the level inside, if the circuit lets the call through.
  public func remove(_ key: Key) async throws { try await guarded(key) { try await base.remove(key) } }

  private func guarded<Answer>(_ key: Key, _ call: () async throws -> Answer) async throws -> Answer {
    guard let pass = change(key, { $0.admit(at: $1) }) else {
      throw CacheError(
        .circuitOpen, "it failed several times in a row and is left alone for a while", level: recorder.name)
    }
    do {
      let answer = try await call()
      change(key) { state, _ in state.succeeded(pass) }
      return answer
    } catch {
      change(key) { state, now in
        if error is CancellationError || !isFailure(error) {
          state.forgot(pass, at: now)
        } else {
          state.failed(pass, at: now)
        }
      }
      throw error
    }
  }

  /// Changes the state, and tells of a new phase.
  @discardableResult
  private func change<Answer>(_ key: Key, _ body: (inout CircuitState, CacheInstant) -> Answer) -> Answer {
    let now = recorder.clock.now
    let (answer, before, after) = state.withLock { state in
      let before = state.phase
      let answer = body(&state, now)
      return (answer, before, state.phase)
    }
    if before != after { recorder.record(.circuit(after), key: key) }
    return answer
  }
}

extension CircuitBreakerLevel: ConditionalLevel where Base: ConditionalLevel {
  /// Stores a value in the level inside if a condition holds there, and if the circuit lets the call through.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await guarded(key) { try await base.store(value, forKey: key, terms: terms, if: condition) }
  }
}

extension CircuitBreakerLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension CircuitBreakerLevel: TaggedLevel where Base: TaggedLevel {}
extension CircuitBreakerLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension CircuitBreakerLevel: RenewingLevel where Base: RenewingLevel {}
extension CircuitBreakerLevel: ReloadableLevel where Base: ReloadableLevel {}

extension CacheLevel {
  /// Leaves this level alone for a while after it has failed several times in a row.
  ///
  /// - Parameters:
  ///   - failures: How many failures in a row open the circuit. At least 1.
  ///   - reset: How long it stays open before a trial call is let through.
  ///   - name: The name of the breaker in errors and events.
  ///   - observer: Notified of every change of phase.
  ///   - clock: The clock by which the reset time is measured.
  ///   - isFailure: Whether an error means that the level is in trouble. By default every error does.
  /// - Returns: The level with its breaker.
  public func circuitBreaker(
    failures: Int = 5, reset: Duration = .seconds(30), name: String = "breaker",
    observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock(),
    where isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> CircuitBreakerLevel<Self> {
    CircuitBreakerLevel(
      base: self, failures: failures, reset: reset,
      recorder: OperatorRecorder(name: name, observer: observer, clock: clock), isFailure: isFailure)
  }
}

extension CircuitBreakerLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("breaker", name: recorder.name), base) }
}

extension CircuitBreakerLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    guard let key else { return try await base.endOrRemove(nil) }
    try await guarded(key) { try await base.endOrRemove(key) }
  }
}
