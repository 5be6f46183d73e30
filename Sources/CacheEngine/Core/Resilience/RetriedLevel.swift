/// How often, and how long apart, a failed read is tried again.
///
/// The delay before the n-th retry is the initial delay times the factor to the power of n - 1, at most the maximum.
/// A part of that, the jitter, is left to chance, so that callers that failed together do not come back together
/// (M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015).
public struct RetryPolicy: Sendable, Equatable {
  /// How often a read is tried in all, at least 1.
  public var attempts: Int
  /// How long to wait before the first retry.
  public var initialDelay: Duration
  /// The factor by which each delay exceeds the previous one; at least 1.
  public var factor: Double
  /// The longest delay.
  public var maximumDelay: Duration
  /// The part of a delay that is left to chance, from 0 to 1.
  public var jitter: Double

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - attempts: How often a read is tried in all. At least 1.
  ///   - initialDelay: How long to wait before the first retry. Not negative.
  ///   - factor: By what each delay is longer than the one before. At least 1.
  ///   - maximumDelay: The longest delay.
  ///   - jitter: The part of a delay that is left to chance, from 0 to 1.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(100), factor: Double = 2,
    maximumDelay: Duration = .seconds(10), jitter: Double = 0.5
  ) {
    precondition(attempts >= 1, "a read is tried at least once")
    precondition(initialDelay >= .zero && maximumDelay >= .zero, "a delay cannot be negative")
    precondition(factor >= 1, "delays cannot become shorter")
    precondition((0...1).contains(jitter), "the jitter is a part of the delay, from 0 to 1")
    self.attempts = attempts
    self.initialDelay = initialDelay
    self.factor = factor
    self.maximumDelay = maximumDelay
    self.jitter = jitter
  }

  /// How long to wait before a retry.
  ///
  /// - Parameters:
  ///   - retry: Which one; 1 is the first.
  ///   - chance: A number from 0 up to 1 that decides the random part: 0 gives the shortest delay.
  /// - Returns: The delay.
  public func delay(before retry: Int, chance: Double) -> Duration {
    // By squares of the factor, since a retry may have any number.
    var (delay, power, left) = (initialDelay / .seconds(1), factor, max(retry, 1) - 1)
    while left > 0 {
      if left % 2 == 1 { delay *= power }
      (power, left) = (power * power, left / 2)
    }
    let longest = maximumDelay / .seconds(1)
    let seconds = min(delay, longest) * (1 - jitter + jitter * chance)
    // Nothing times an infinite factor is no number, and a duration of more than 292 years may not be one either.
    return seconds > 0 ? .seconds(min(seconds, 9e9)) : .zero
  }
}

/// A level whose failed reads are tried again.
///
/// Built by ``CacheLevel/retry(_:name:observer:clock:where:chance:)``.
///
/// | the level inside | a read gives |
/// |---|---|
/// | hit or miss | the same |
/// | failed, worth trying again, attempts left | what the next attempt gives, after a delay |
/// | failed otherwise | the last error |
/// | cancelled, also while waiting | `CancellationError` |
///
/// Writes, removals and clears are tried once: whether they may be repeated, only the caller knows.
public struct RetriedLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// How often and how long apart.
  public let policy: RetryPolicy

  let recorder: OperatorRecorder
  private let isWorthRetrying: @Sendable (any Error) -> Bool
  private let chance: @Sendable () -> Double

  init(
    base: Base, policy: RetryPolicy, recorder: OperatorRecorder,
    isWorthRetrying: @escaping @Sendable (any Error) -> Bool, chance: @escaping @Sendable () -> Double
  ) {
    self.base = base
    self.policy = policy
    self.recorder = recorder
    self.isWorthRetrying = isWorthRetrying
    self.chance = chance
  }

  /// Reads the level inside until it answers or the attempts are used up.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: The last error.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    var attempt = 1
    while true {
      do {
        return try await ask()
      } catch let error as CancellationError {
        throw error
      } catch {
        guard attempt < policy.attempts, isWorthRetrying(error) else { throw error }
        try Task.checkCancellation()
        let delay = policy.delay(before: attempt, chance: chance())
        attempt += 1
        recorder.record(.retried(attempt: attempt, after: delay, error: String(describing: error)), key: key)
        try await recorder.clock.sleep(until: recorder.clock.now.advanced(by: delay), tolerance: nil)
      }
    }
  }

  /// Returns the value of the level inside, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }
}

extension RetriedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension RetriedLevel: TaggedLevel where Base: TaggedLevel {}
extension RetriedLevel: ConditionalLevel where Base: ConditionalLevel {}
extension RetriedLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension RetriedLevel: RenewingLevel where Base: RenewingLevel {}
extension RetriedLevel: ReloadableLevel where Base: ReloadableLevel {}

extension CacheLevel {
  /// Tries reads of this level again when they fail.
  ///
  /// - Parameters:
  ///   - policy: How often and how long apart.
  ///   - name: The name of the retries in events.
  ///   - observer: Notified of every retry.
  ///   - clock: The clock by which delays are measured.
  ///   - isWorthRetrying: Whether an error may be temporary. By default all except a refused condition, an address that cannot be
  ///     fetched, damaged data and a status from 400 to 499 other than 408 and 429.
  ///   - chance: Gives numbers from 0 up to 1 for the jitter.
  /// - Returns: The level with retries.
  public func retry(
    _ policy: RetryPolicy = RetryPolicy(), name: String = "retry", observer: (any CacheObserver)? = nil,
    clock: any CacheClock = SystemClock(),
    where isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { RetryPolicy.mayPass($0) },
    chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
  ) -> RetriedLevel<Self> {
    RetriedLevel(
      base: self, policy: policy, recorder: OperatorRecorder(name: name, observer: observer, clock: clock),
      isWorthRetrying: isWorthRetrying, chance: chance)
  }
}

extension RetryPolicy {
  /// Whether trying again may help against an error.
  ///
  /// - Parameter error: The error of a read.
  /// - Returns: `false` for what will be the same the next time.
  public static func mayPass(_ error: any Error) -> Bool {
    guard let error = error as? CacheError else { return true }
    if let status = error.status, (400...499).contains(status) { return status == 408 || status == 429 }
    let lasting: [CacheError.Code] = [
      .conditionNotSatisfied, .invalidCachedData, .invalidAddress, .closed, .circuitOpen, .valueNotInCache,
    ]
    return !lasting.contains(error.code)
  }
}

extension RetriedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("retry", name: recorder.name, setting: "×\(policy.attempts)"), base) }
}

extension RetriedLevel: EndingLevel {}
