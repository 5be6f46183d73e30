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

  /// Hands the warning to the level inside.
  @inlinable
  public func onMemoryWarning() async { await base.onMemoryWarning() }
}
