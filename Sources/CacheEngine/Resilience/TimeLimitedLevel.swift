/// A level whose reads may take only so long.
///
/// Built by ``CacheLevel/timeout(after:name:observer:clock:)``.
///
/// | the level inside | a read gives |
/// |---|---|
/// | answers in time | the same |
/// | has not answered in time | ``CacheError/Code/timedOut``, at once; the work is cancelled and not waited for |
/// | the caller is cancelled | `CancellationError`, at once; the work is cancelled |
///
/// Writes are not limited: one that was given up might still be carried out later.
public struct TimeLimitedLevel<Base: CacheLevel>: ReadDecorator {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// How long a read may take.
  public let limit: Duration

  let recorder: OperatorRecorder

  init(base: Base, limit: Duration, recorder: OperatorRecorder) {
    self.base = base
    self.limit = limit
    self.recorder = recorder
  }

  /// Reads the level inside, for as long as it may take.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/timedOut``; else the error of the level inside.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    let race = Race<Lookup<Value>>()
    let (clock, deadline) = (recorder.clock, recorder.clock.now.advanced(by: limit))
    let answer = try await race.first(of: ask) {
      try await clock.sleep(until: deadline, tolerance: nil)
    }
    if let answer { return answer }
    recorder.record(.timedOut(limit), key: key)
    throw CacheError(.timedOut, "no answer within \(limit)", level: base.name)
  }

  /// Returns the value of the level inside, if that can answer at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if only ``CacheLevel/get(_:)`` can tell.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }
}

extension TimeLimitedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension TimeLimitedLevel: TaggedLevel where Base: TaggedLevel {}
extension TimeLimitedLevel: ConditionalLevel where Base: ConditionalLevel {}

extension CacheLevel {
  /// Gives reads of this level a time limit.
  ///
  /// - Parameters:
  ///   - limit: How long a read may take.
  ///   - name: What the limit is called in events.
  ///   - observer: Told of every read that took longer.
  ///   - clock: The clock that the limit is measured by.
  /// - Returns: The limited level.
  public func timeout(
    after limit: Duration, name: String = "timeout", observer: (any CacheObserver)? = nil,
    clock: any CacheClock = SystemClock()
  ) -> TimeLimitedLevel<Self> {
    TimeLimitedLevel(
      base: self, limit: limit, recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }
}
