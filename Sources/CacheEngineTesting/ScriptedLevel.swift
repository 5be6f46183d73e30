public import CacheEngine
import Synchronization

/// A level that does what a test says and remembers what it was asked.
///
/// Without a script it holds values in a dictionary.
public final class ScriptedLevel<Key: Hashable & Sendable, Value: Sendable>: CacheLevel {
  /// Something that was asked of the level.
  public enum Call: Hashable, Sendable {
    /// A read of a key.
    case get(Key)
    /// A write of a key, by somebody or by a back-fill.
    case set(Key, StoreTerms.Purpose)
    /// A removal.
    case remove(Key)
    /// A removal of everything.
    case clear
    /// A memory warning.
    case warn
  }

  private struct State {
    var entries: [Key: Entry<Value>] = [:]
    var calls: [Call] = []
  }

  /// What the level is called.
  public let name: String

  private let clock: any CacheClock
  private let state = Mutex(State())
  private let onGet: (@Sendable (Key) async throws -> Lookup<Value>)?
  private let onSet: (@Sendable (Value, Key) async throws -> Void)?

  /// Creates a level that reads what was written.
  ///
  /// - Parameters:
  ///   - name: What the level is called.
  ///   - clock: The clock that deadlines are made by.
  ///   - onSet: Runs before a write is carried out; throwing fails the write.
  public init(
    name: String = "scripted", clock: any CacheClock = SystemClock(),
    onSet: (@Sendable (Value, Key) async throws -> Void)? = nil
  ) {
    self.name = name
    self.clock = clock
    self.onSet = onSet
    onGet = nil
  }

  /// Creates a level that answers reads as told.
  ///
  /// - Parameters:
  ///   - name: What the level is called.
  ///   - clock: The clock that deadlines are made by.
  ///   - onSet: Runs before a write is carried out; throwing fails the write.
  ///   - onGet: Answers reads.
  public init(
    name: String = "scripted", clock: any CacheClock = SystemClock(),
    onSet: (@Sendable (Value, Key) async throws -> Void)? = nil,
    onGet: @escaping @Sendable (Key) async throws -> Lookup<Value>
  ) {
    self.name = name
    self.clock = clock
    self.onSet = onSet
    self.onGet = onGet
  }

  /// Everything that was asked so far, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// How often something was asked.
  ///
  /// - Parameter call: What was asked.
  /// - Returns: The number of times.
  public func count(of call: Call) -> Int { calls.count { $0 == call } }

  /// The entry that was last written for a key, as written.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or `nil`.
  public func stored(_ key: Key) -> Entry<Value>? { state.withLock { $0.entries[key] } }

  /// Answers with the value of ``lookup(_:)``.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil`.
  /// - Throws: Any error that the script throws.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Answers as the script says, else with what was written.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: Any error that the script throws.
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    state.withLock { $0.calls.append(.get(key)) }
    if let onGet { return try await onGet(key) }
    return stored(key).map(Lookup.hit) ?? .miss(.absent)
  }

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value to write.
  ///   - key: The key to write it under.
  /// - Throws: Any error that the script throws.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Writes a value with its deadline.
  ///
  /// - Parameters:
  ///   - value: The value to write.
  ///   - key: The key to write it under.
  ///   - terms: How long it may live, and who writes.
  /// - Throws: Any error that the script throws.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    state.withLock { $0.calls.append(.set(key, terms.purpose)) }
    try await onSet?(value, key)
    let entry = Entry(value, deadline: terms.deadline(levelDefault: .never, clock: clock), level: name)
    state.withLock { $0.entries[key] = entry }
  }

  /// Removes a value.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: Nothing as yet.
  public func remove(_ key: Key) async throws {
    state.withLock { state in
      state.calls.append(.remove(key))
      state.entries[key] = nil
    }
  }

  /// Removes everything.
  public func clear() async throws {
    state.withLock { state in
      state.calls.append(.clear)
      state.entries = [:]
    }
  }

  /// Remembers the warning.
  public func onMemoryWarning() async { state.withLock { $0.calls.append(.warn) } }
}
