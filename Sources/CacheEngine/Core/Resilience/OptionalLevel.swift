/// A level that others can do without: its failures to write fail no call.
///
/// Built by ``CacheLevel/optional(name:observer:clock:)``.
///
/// | the level inside | the call |
/// |---|---|
/// | fails a set, a removal or a clear | succeeds; the failure is reported |
/// | fails a read | fails: a composition skips its upper level by itself |
/// | fails to forget what others have changed (`invalidate`) | fails: who hears of changes must know what it cannot serve |
/// | is cancelled | `CancellationError` |
///
/// It does not take conditional stores: if one failed, it could not say whether the condition held.
///
/// An entry that could not be removed or replaced there may be read again, once the level can be read and nothing above holds the
/// key: give entries a lifetime that bounds this.
public struct OptionalLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  @usableFromInline let recorder: OperatorRecorder

  init(base: Base, recorder: OperatorRecorder) {
    self.base = base
    self.recorder = recorder
  }

  /// Reads the level inside.
  @inlinable
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    try await ask()
  }

  /// Returns the value of the level inside, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }

  /// Stores a value in the level inside, if that can.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: Only `CancellationError`.
  @inlinable
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value in the level inside on terms of its own, if that can.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and who stores it.
  /// - Throws: Only `CancellationError`.
  @inlinable
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await attempt(terms.purpose == .backFill ? .backFill : .set, key) {
      try await base.store(value, forKey: key, terms: terms)
    }
  }

  /// Removes the value for a key from the level inside, if that can.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: Only `CancellationError`.
  @inlinable
  public func remove(_ key: Key) async throws { try await attempt(.remove, key) { try await base.remove(key) } }

  /// Removes everything from the level inside, if that can.
  ///
  /// - Throws: Only `CancellationError`.
  public func clear() async throws { try await attempt(.clear, nil) { try await base.clear() } }

  @inlinable
  func attempt(_ operation: CacheEvent.Operation, _ key: Key?, _ write: () async throws -> Void) async throws {
    do { try await write() } catch let error as CancellationError { throw error } catch {
      tell(operation, key, error)
    }
  }

  @usableFromInline
  func tell(_ operation: CacheEvent.Operation, _ key: Key?, _ error: any Error) {
    guard let key else { return recorder.record(.failed(operation, String(describing: error), .zero)) }
    recorder.record(.failed(operation, String(describing: error), .zero), key: key)
  }
}

extension OptionalLevel: SelectiveRemoval where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition, if the level inside can; 0 where it cannot.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    var count = 0
    try await attempt(.remove, nil) { count = try await base.removeAll(where: condition) }
    return count
  }
}

extension OptionalLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag, if the level inside can; 0 where it cannot.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    var count = 0
    try await attempt(.remove, nil) { count = try await base.removeAll(tagged: tag) }
    return count
  }
}

extension OptionalLevel: BulkLevel where Base: BulkLevel {
  /// Asks the level inside.
  public func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>] { try await base.lookup(keys) }

  /// Stores values in the level inside, if that can.
  public func store(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws {
    try await attempt(.set, nil) { try await base.store(entries, terms: terms) }
  }

  /// Removes values from the level inside, if that can.
  public func remove(_ keys: [Key]) async throws {
    try await attempt(.remove, nil) { try await base.remove(keys) }
  }
}

extension OptionalLevel: EndingLevel {
  package func end(_ key: Key?) async throws {
    try await attempt(key == nil ? .clear : .remove, key) { try await base.endOrRemove(key) }
  }
}

extension OptionalLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension OptionalLevel: RenewingLevel where Base: RenewingLevel {}
extension OptionalLevel: ReloadableLevel where Base: ReloadableLevel {}

extension CacheLevel {
  /// Lets others do without this level: its failures to write are reported, and fail no call.
  ///
  /// ```swift
  /// let shared = redis.timeout(after: .milliseconds(50), writes: .milliseconds(50)).circuitBreaker().optional()
  /// let cache = memory.compose(shared)   // takes values and removes them while Redis is away
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of this level in events.
  ///   - observer: Notified of every failure; ``CacheStatistics`` counts them. By default the log.
  ///   - clock: The clock by which events are timed.
  /// - Returns: The level, which fails no write.
  public func optional(
    name: String = "optional", observer: (any CacheObserver)? = CacheLogger.failures,
    clock: any CacheClock = SystemClock()
  ) -> OptionalLevel<Self> {
    OptionalLevel(base: self, recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }
}

extension OptionalLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }
