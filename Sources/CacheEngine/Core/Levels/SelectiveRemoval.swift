/// A level from which entries can be removed by a condition on their keys.
///
/// Memory and disk levels can do this, and so can compositions of them and operators around them. A fetcher has nothing to remove.
public protocol SelectiveRemoval<Key, Value>: CacheLevel {
  /// Removes the entries whose keys meet a condition.
  ///
  /// - Parameter condition: Whether the entry of a key goes. It never runs under a lock.
  /// - Returns: How many entries were removed. In a composition, from all levels together.
  /// - Throws: An error if some may still be there.
  /// - Complexity: O(n): every key is looked at.
  @discardableResult
  func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int
}

/// A level whose entries can be marked with tags, and removed by them.
///
/// Tags are given in ``StoreTerms/tags`` when a value is stored. What operators make of such levels is one as well.
public protocol TaggedLevel<Key, Value>: CacheLevel {
  /// Removes every entry that was stored with a tag.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many entries were removed.
  /// - Throws: An error if some may still be there.
  /// - Complexity: O(k) for k entries with the tag.
  @discardableResult
  func removeAll(tagged tag: String) async throws -> Int
}

extension TaggedLevel {
  /// Stores a value under a key, marked with tags.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - tags: What the entry can be removed by. They replace those of the value stored before.
  ///   - expiry: When the entry expires; `nil` for the level's own default.
  /// - Throws: As ``CacheLevel/set(_:forKey:)``.
  public func set(_ value: Value, forKey key: Key, tags: Set<String>, expiry: Expiry? = nil) async throws {
    try await store(value, forKey: key, terms: StoreTerms(expiry: expiry, tags: tags))
  }
}
