import CacheCore

/// A place outside the process in which several processes store bytes: Redis, Valkey, a test double.
///
/// A ``SharedCacheLevel`` turns it into a level. A store may lose anything at any time, and a lost name reads as absent; it never
/// returns bytes that were not written under that name.
///
/// An adapter for a client that an app already has implements three methods, with a script or a transaction of that client.
public protocol SharedStore: Sendable {
  /// The name of the store in errors.
  var name: String { get }

  /// The time of day by the store's own clock, since 1970-01-01 00:00 UTC.
  ///
  /// All processes go by it, so that their own clocks may be hours apart.
  ///
  /// - Returns: The time; that of the process if the store has none.
  /// - Throws: An error if the store did not answer.
  func timeSinceEpoch() async throws -> Duration

  /// Returns the bytes under names, all as of one moment.
  ///
  /// - Parameter names: The names.
  /// - Returns: For each name its bytes, or `nil`.
  /// - Throws: An error if the store did not answer.
  func read(_ names: [[UInt8]]) async throws -> [[UInt8]?]

  /// Makes changes atomically if all conditions hold: either all of them or none, with nothing in between.
  ///
  /// - Parameters:
  ///   - changes: What to change, in this order.
  ///   - conditions: What must hold before the first change.
  ///   - names: What to read after the last change.
  /// - Returns: The bytes under `names`; `nil` if a condition did not hold, and nothing was changed.
  /// - Throws: An error if it is not certain that the changes were made. They may have been made all the same.
  func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]?
}

/// What a ``SharedStore`` changes under one name.
public enum SharedChange: Sendable, Equatable {
  /// Stores bytes, replacing any there, for at most this long; `nil` for ever.
  case set([UInt8], to: [UInt8], lifetime: Duration?)
  /// Stores bytes if there are none; if there are, nothing is changed and nobody is told.
  case make([UInt8], as: [UInt8], lifetime: Duration?)
  /// Removes what is there.
  case remove([UInt8])
}

/// What must hold for changes in a ``SharedStore``.
public enum SharedCondition: Sendable, Equatable {
  /// There is nothing under the name, or an empty value.
  case absent([UInt8])
  /// The value under the name begins with these bytes, of which there is at least one.
  case begins([UInt8], with: [UInt8])
}
