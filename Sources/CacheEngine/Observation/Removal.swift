/// An entry that left a level, as told to a removal listener.
public struct Removal<Key: Hashable & Sendable>: Sendable {
  /// The key of the entry.
  public var key: Key
  /// Why it left.
  public var cause: RemovalCause
  /// What it weighed.
  public var cost: Int

  /// Creates a removal.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - cause: Why it left.
  ///   - cost: What it weighed.
  public init(key: Key, cause: RemovalCause, cost: Int) {
    self.key = key
    self.cause = cause
    self.cost = cost
  }
}
