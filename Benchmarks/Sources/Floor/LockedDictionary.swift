public import Synchronization

/// A bare dictionary behind a mutex: no limits, no expiry, no order.
public final class LockedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let values: Mutex<[Key: Value]>

  /// Creates an empty dictionary.
  public init() { values = Mutex([:]) }

  /// The value for a key.
  @inlinable
  public func get(_ key: Key) -> Value? { values.withLock { $0[key] } }

  /// Stores a value.
  @inlinable
  public func set(_ value: Value, forKey key: Key) { values.withLock { $0[key] = value } }
}
