/// A level that has nothing and keeps nothing: the neutral element of composition.
///
/// Composed with it, above or below, a level behaves as it does alone. It is the place to begin when levels are put
/// together in a loop, and stands for a level that is switched off.
///
/// ```swift
/// let stack = folders.reduce(EmptyLevel<String, Data>().normalize()) { stack, disk in stack.compose(disk).normalize() }
/// ```
public struct EmptyLevel<Key: Hashable & Sendable, Value: Sendable>: Fetcher {
  /// The name of the level in errors, events and logs.
  public var name: String { "empty" }

  /// Creates a level that has nothing.
  public init() {}

  /// Has nothing.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  public func get(_ key: Key) async throws -> Value? { nil }

  /// Has nothing, and no say in why.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: A miss with the reason ``MissReason/nothingToAsk``.
  /// - Throws: Nothing.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { .miss(.nothingToAsk) }
}

extension EmptyLevel {
  /// There is nothing to store in.
  @inlinable public var storesAtOnce: Bool { true }
}

extension EmptyLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "empty") } }
