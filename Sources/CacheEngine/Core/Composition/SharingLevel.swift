/// A level whose simultaneous reads of a key share one, so that what their callers do with the answer can be shared as well.
@usableFromInline
protocol SharingLevel<Key, Value>: CacheLevel {
  /// Reads a key as `lookup` does, but by a load of the caller's making.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - caller: Whoever makes the load, for ``SharedAnswer/loader``.
  ///   - load: Asks the level below, with an expired entry to renew if it has one, and does more with the answer, once for
  ///     everybody who shares it.
  /// - Returns: The answer of this load, or of one that was under way.
  /// - Throws: The error of the load; `CancellationError` if this caller was cancelled.
  func share(
    _ key: Key, by caller: ObjectIdentifier,
    _ load:
      @escaping @Sendable (_ ask: @Sendable (Entry<Value>?) async throws -> Lookup<Value>) async throws -> Lookup<Value>
  ) async throws -> SharedAnswer<Value>
}

/// The answer of a load that is shared.
@usableFromInline
struct SharedAnswer<Value: Sendable>: Sendable {
  @usableFromInline let lookup: Lookup<Value>
  /// Who made the load, if it does more than to ask the level below.
  @usableFromInline let loader: ObjectIdentifier?

  @inlinable
  init(_ lookup: Lookup<Value>, loader: ObjectIdentifier? = nil) {
    self.lookup = lookup
    self.loader = loader
  }
}
