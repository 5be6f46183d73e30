/// A level that can compute a value from the previous one, with no other write of the key in between.
///
/// Memory can, and so can a composition or a pool of any levels: there, no write through that same composition or pool comes
/// between. A write to a level inside, past it, may.
public protocol UpdatableLevel<Key, Value>: CacheLevel {
  /// Replaces a value with one computed from it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - terms: The lifetime and cost of the new value: nothing is taken over from the previous one.
  ///   - change: Computes the new value from the present one, which is `nil` if there is none or it has expired. `nil` removes it.
  ///     It may be called several times, and must not write the key through this level.
  /// - Returns: The value that was stored; `nil` if there is none now.
  /// - Throws: Any error that the closure throws, and then nothing is changed; otherwise as ``CacheLevel/set(_:forKey:)``.
  @discardableResult
  func update(
    _ key: Key, terms: StoreTerms, _ change: (Value?) throws -> Value?
  ) async throws -> Value?
}

/// A level above others that can reload a key from the lowest one, whatever it holds itself.
public protocol ReloadableLevel<Key, Value>: CacheLevel {
  /// Reads a key past all upper levels, which then store what was found, or drop what is gone.
  ///
  /// The levels above keep what they have if the lowest one fails, and a write in the meantime wins. No other load is
  /// joined, so the result was read after this was called.
  ///
  /// - Parameter key: The key to read again.
  /// - Returns: The entry of the lowest level, or the reason for its miss.
  /// - Throws: The error of the lowest level; `CancellationError`.
  func reload(_ key: Key) async throws -> Lookup<Value>
}

extension CacheLevel {
  /// Reloads a key if this level has others below, and otherwise reads it as usual.
  package func reloadIfAble(_ key: Key) async throws -> Lookup<Value> {
    guard let able = self as? any ReloadableLevel<Key, Value> else { return try await lookup(key) }
    return try await able.reload(key)
  }
}
