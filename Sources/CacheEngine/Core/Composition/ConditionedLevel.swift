/// A level that is asked only for keys that meet a condition.
///
/// Built by ``CacheLevel/conditioned(name:observer:clock:_:)``. Removals, clears and warnings ignore the condition, and so does
/// what somebody sets: the condition is about asking. What a composition copies upwards has to meet it, so that a level never
/// gets by a read what it may not be asked for. To keep some keys out of a level altogether, put it into a lane of its own
/// (``switchLevels(_:_:selector:)``).
///
/// | the condition | a read gives |
/// |---|---|
/// | true | what the level inside gives |
/// | false | a miss, ``MissReason/refused``; `require` throws ``CacheError/Code/conditionNotSatisfied`` |
/// | throws | the condition's error; the level inside is not asked |
public struct ConditionedLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level behind the condition.
  public let base: Base

  @usableFromInline let condition: @Sendable (Key) async throws -> Bool
  @usableFromInline let recorder: OperatorRecorder
  let loads = LoadScope()

  init(base: Base, recorder: OperatorRecorder, condition: @escaping @Sendable (Key) async throws -> Bool) {
    self.base = base
    self.recorder = recorder
    self.condition = condition
  }

  /// Asks the level behind the condition if the key meets it.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: The condition's error, or that of the level behind it.
  @inlinable
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    if try await condition(key) { return try await ask() }
    recorder.record(.refused, key: key)
    return .miss(.refused)
  }

  /// Stores a value in the level behind the condition, unless it is a copy for a key that does not meet it.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and who stores it.
  /// - Throws: The condition's error, or that of the level behind it.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    if terms.purpose == .backFill, try await !condition(key) { return recorder.record(.refused, key: key) }
    try await base.store(value, forKey: key, terms: terms)
  }
}

extension ConditionedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension ConditionedLevel: TaggedLevel where Base: TaggedLevel {}
extension ConditionedLevel: ConditionalLevel where Base: ConditionalLevel {}
extension ConditionedLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension CacheLevel {
  /// Asks this level only for keys that meet a condition.
  ///
  /// ```swift
  /// let avatars = disk.conditioned { key in key.hasPrefix("avatar/") }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the condition in events.
  ///   - observer: Notified of every refusal.
  ///   - clock: The clock by which events are timed.
  ///   - condition: Whether the level may be asked for a key. It is evaluated for every read, and may suspend.
  /// - Returns: The conditioned level.
  public func conditioned(
    name: String = "condition", observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock(),
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> ConditionedLevel<Self> {
    ConditionedLevel(
      base: self, recorder: OperatorRecorder(name: name, observer: observer, clock: clock), condition: condition)
  }
}

extension ConditionedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("conditioned", name: recorder.name), base) }
}

extension ConditionedLevel: EndingLevel {}
