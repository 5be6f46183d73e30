/// Why every copy above a shared level is in doubt.
public enum InvalidationCause: String, Sendable, CaseIterable {
  /// A caller asked for it.
  case requested
  /// Changes are heard from now on; earlier ones were not.
  case connected
  /// Changes are no longer heard.
  case lost
  /// The shared level was emptied.
  case flushed
  /// There were more changes than could be taken in.
  case overflow
}

/// A level that keeps copies of what another one holds, and can be told that these are out of date.
///
/// A composition can, and so can operators around one. Nothing is removed from the level that the copies come from.
///
/// ```swift
/// let cache = memory.compose(shared)
/// for await key in changesElsewhere { try await cache.invalidate(key) }
/// ```
public protocol InvalidatableLevel<Key, Value>: CacheLevel {
  /// Forgets the copies of what was changed elsewhere.
  ///
  /// A read of the key that is under way may return what it has found, but copies nothing upwards. A write of the key that
  /// is under way keeps its value out of the copies, or has it forgotten when it ends. Neither is waited for.
  ///
  /// - Parameter key: The key that was changed.
  /// - Throws: An error if a copy may still be there; `CancellationError`.
  func invalidate(_ key: Key) async throws

  /// Forgets every copy, because it is not known which are out of date.
  ///
  /// - Parameter cause: Why.
  /// - Throws: As ``invalidate(_:)``.
  func invalidateAll(_ cause: InvalidationCause) async throws
}

extension InvalidatableLevel {
  /// Forgets every copy, because somebody asked for it.
  ///
  /// - Throws: As ``invalidate(_:)``.
  public func invalidateAll() async throws { try await invalidateAll(.requested) }
}

/// A composition that listens to what other processes change.
package protocol ListeningLevel: Sendable {
  /// Since when nothing is heard; `nil` while changes are heard.
  var deafSince: CacheInstant? { get }

  /// Begins to tell what stands around the level of every change that it hears of, once its copies are forgotten.
  ///
  /// - Parameter ear: Is given the key that was changed, or `nil` if that may be any; it answers whether it is still needed.
  func tell(_ ear: @escaping @Sendable (_ key: (any Sendable)?) -> Bool)
}
