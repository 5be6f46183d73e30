/// A level that can make a value of the one before, with no other write of the key in between.
///
/// Memory can, and a composition or a pool of whatever levels: there no write through that very composition or pool comes
/// between. Who writes a level inside past it may.
public protocol UpdatableLevel<Key, Value>: CacheLevel {
  /// Puts a value in the place of the one before.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - terms: How long the new value may live and what it weighs: nothing is taken over from the value before.
  ///   - change: Makes the new value of the present one, which is `nil` if there is none or it has expired. `nil` removes it.
  ///     It may be called several times, and must not write the key through this level.
  /// - Returns: The value that was stored; `nil` if there is none now.
  /// - Throws: What the closure throws, and then nothing is changed; else as ``CacheLevel/set(_:forKey:)``.
  @discardableResult
  func update(
    _ key: Key, terms: StoreTerms, _ change: (Value?) throws -> Value?
  ) async throws -> Value?
}

/// A level above others that can read a key anew from the lowest one, whatever it holds itself.
public protocol ReloadableLevel<Key, Value>: CacheLevel {
  /// Reads a key past all upper levels, and lets them have what there is, or drop what is gone.
  ///
  /// The levels above keep what they have if the lowest one fails, and a write that comes meanwhile wins. No other load is
  /// joined, so what is given was read after this was called.
  ///
  /// - Parameter key: The key to read again.
  /// - Returns: The entry of the lowest level, or the reason for its miss.
  /// - Throws: The error of the lowest level; `CancellationError`.
  func reload(_ key: Key) async throws -> Lookup<Value>
}

extension CacheLevel {
  /// Reads a key anew if this level has others below, and else as ever.
  package func reloadIfAble(_ key: Key) async throws -> Lookup<Value> {
    guard let able = self as? any ReloadableLevel<Key, Value> else { return try await lookup(key) }
    return try await able.reload(key)
  }
}
