/// A level whose stores and removals never wait and never fail: memory.
///
/// A composition stores at once only below such a level, since it could not take back what the lower level has by then.
package protocol ImmediateLevel<Key, Value>: CacheLevel {
  /// Removes the value for a key.
  func removeAtOnce(_ key: Key)
}
