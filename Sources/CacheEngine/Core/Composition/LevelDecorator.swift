/// A level around another one that changes a part of what it does.
///
/// Everything is handed to ``base`` but what the decorator implements itself.
///
/// ```swift
/// struct Shouting<Base: CacheLevel>: LevelDecorator where Base.Value == String {
///   let base: Base
///   func get(_ key: Base.Key) async throws -> String? { try await base.get(key)?.uppercased() }
/// }
/// ```
public protocol LevelDecorator<Base>: CacheLevel where Key == Base.Key, Value == Base.Value {
  /// The kind of level inside.
  associatedtype Base: CacheLevel

  /// The level inside.
  var base: Base { get }
}

extension LevelDecorator {
  /// The name of the level inside.
  public var name: String { base.name }

  /// Stores a value in the level inside.
  @inlinable
  public func set(_ value: Base.Value, forKey key: Base.Key) async throws { try await base.set(value, forKey: key) }

  /// Stores a value in the level inside, on terms of its own.
  @inlinable
  public func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await base.store(value, forKey: key, terms: terms)
  }

  /// Removes the value for a key from the level inside.
  @inlinable
  public func remove(_ key: Base.Key) async throws { try await base.remove(key) }

  /// Removes everything from the level inside.
  @inlinable
  public func clear() async throws { try await base.clear() }

  /// Passes the warning to the level inside.
  @inlinable
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}

/// What a level inside can do besides, a decorator can declare in one line each:
/// `extension Shouting: TaggedLevel where Base: TaggedLevel {}`.
extension LevelDecorator where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

// A decorator that is a storage level as well would have two ways to do this.
extension LevelDecorator where Self: StorageLevel, Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

extension LevelDecorator where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension LevelDecorator where Base: ConditionalLevel {
  /// Stores a value in the level inside if a condition holds there.
  public func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await base.store(value, forKey: key, terms: terms, if: condition)
  }
}

/// A decorator that does one thing to every read, whichever way it is asked: before it, after it, or in place of it.
///
/// ```swift
/// struct Counted<Base: CacheLevel>: ReadDecorator {
///   let base: Base
///   let count: @Sendable () -> Void
///   func read(
///     _ key: Base.Key, by ask: nonisolated(nonsending) @escaping @Sendable () async throws -> Lookup<Base.Value>
///   ) async throws -> Lookup<Base.Value> {
///     count()
///     return try await ask()
///   }
/// }
/// ```
///
/// A package that enables `NonisolatedNonsendingByDefault` may leave out `nonisolated(nonsending)`.
public protocol ReadDecorator<Base>: LevelDecorator {
  /// Answers a read.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside, in the way that this level is asked.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: An error if there is no answer.
  func read(
    _ key: Base.Key, by ask: nonisolated(nonsending) @escaping @Sendable () async throws -> Lookup<Base.Value>
  ) async throws -> Lookup<Base.Value>
}

extension ReadDecorator {
  /// Returns the value that can be peeked, or else that of ``lookup(_:)``.
  @inlinable
  @inline(__always)
  public func get(_ key: Base.Key) async throws -> Base.Value? {
    if let value = peek(key) { return value }
    return try await getSlowly(key)
  }

  @inlinable
  @inline(never)
  func getSlowly(_ key: Base.Key) async throws -> Base.Value? { try await lookup(key).entry?.value }

  // No capture lists here: a closure that has one leaves its caller's actor (Swift 6.3), and comes back, at the price of two
  // switches of threads.

  /// Reads the level inside in this decorator's way.
  @inlinable
  public func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    if let entry = peekEntry(key) { return .hit(entry) }
    return try await read(key) { try await base.lookup(key) }
  }

  /// Reads the level inside in this decorator's way, expired entries included.
  @inlinable
  public func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await read(key) { try await base.lookupIncludingExpired(key) }
  }
}
