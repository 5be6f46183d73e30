public import CacheCore

/// What became of one key of a ``Storage``, as reported to its observers.
public enum KeyChange<Value: Sendable>: Sendable {
  /// A value was stored.
  ///
  /// `before` is the value that it took the place of, `nil` if there was none. Either is `nil` too if it was stored
  /// through a view of another type and cannot be read through the one that observes.
  case edit(before: Value?, after: Value?)
  /// The key has no value any more.
  ///
  /// It was removed, or cleared with all others, or its last copy expired, was evicted or was found damaged.
  case remove(cause: RemovalCause)
}

extension KeyChange: Equatable where Value: Equatable {}
