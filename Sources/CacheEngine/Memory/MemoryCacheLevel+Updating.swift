public import CacheCore

/// Writes that never wait, and values that are computed from the previous ones.
extension MemoryCacheLevel: UpdatableLevel {
  /// The value for a key, read and written without `await`.
  ///
  /// Reading is ``get(_:)``, and counts as a hit or a miss like any other; ``peek(_:)`` counts no miss. Setting a value is
  /// ``set(_:forKey:)``, and setting `nil` is ``remove(_:)``. A read and a write are two steps, between which others may write:
  /// `level[key]? += 1` may lose one of two increments. ``update(_:terms:_:)`` does not.
  ///
  /// - Parameter key: The key.
  /// - Complexity: O(1) on average.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { getNow(key) }
    set {
      if let newValue { setNow(newValue, forKey: key) } else { removeNow(key) }
    }
  }

  /// Replaces a value with one computed from it, atomically.
  ///
  /// ```swift
  /// counters.update("visits") { ($0 ?? 0) + 1 }
  /// ```
  ///
  /// The closure runs on the caller's thread, under no lock. It is called again with the current value if the key has been written
  /// in the meantime (or its entry evicted, or expired). So it may run several times, and must not write this key of this level
  /// itself, which would never end; it may use everything else in the level. Whenever one caller has to try again, another one has
  /// succeeded.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - terms: The lifetime and cost of the new value: nothing is taken over from the previous one.
  ///   - change: Computes the new value from the present one, which is `nil` if there is none or it has expired. `nil` removes it.
  /// - Returns: The value that was stored, if there was room for it; `nil` if the key was removed.
  /// - Throws: What the closure throws; then nothing is changed.
  @inlinable
  @discardableResult
  public func update(
    _ key: Key, terms: StoreTerms = StoreTerms(), _ change: (Value?) throws -> Value?
  ) rethrows -> Value? {
    let hash = hashing(key)
    parts.withLock(of: hash) { entries, _ in entries.updates.begin(hash) }
    defer { parts.withLock(of: hash) { entries, _ in entries.updates.end(hash) } }
    while true {
      let seen = parts.withLock(of: hash) { entries, _ in entries.updates.writes(hash) }
      let present = getNow(key)
      // To look may have dropped what had expired.
      guard seen == parts.withLock(of: hash, { entries, _ in entries.updates.writes(hash) }) else { continue }
      if let value = try change(present) {
        if insert(value, forKey: key, terms: terms, if: nil, unwrittenSince: seen) { return value }
      } else if remove(key, hash, unwrittenSince: seen) {
        return nil
      }
    }
  }

  /// Removes a key if nothing was written since an update looked, and says so.
  @inlinable
  func remove(_ key: Key, _ hash: UInt32, unwrittenSince seen: Int) -> Bool {
    let (isUnwritten, removed) = parts.withLock(of: hash) { entries, order -> (Bool, Table.Record?) in
      guard entries.updates.writes(hash) == seen else { return (false, nil) }
      return (true, entries.remove(key, hash: hash, order: &order))
    }
    if let removed { report(removed, cause: .removed) }
    return isUnwritten
  }
}
