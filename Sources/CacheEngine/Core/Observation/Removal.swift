/// An entry that left a level, as reported to a removal listener.
public struct Removal<Key: Hashable & Sendable>: Sendable {
  /// The key of the entry.
  public var key: Key
  /// Why it left.
  public var cause: RemovalCause
  /// The cost of the entry.
  public var cost: Int
  /// The key whose value needed the room, for an entry that was evicted and where the level knows.
  ///
  /// It is the entry's own key if the entry did not fit at all.
  public var madeRoomFor: Key?

  /// Creates a removal.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - cause: Why it left.
  ///   - cost: What it weighed.
  ///   - madeRoomFor: The key whose value needed the room.
  public init(key: Key, cause: RemovalCause, cost: Int, madeRoomFor: Key? = nil) {
    self.key = key
    self.cause = cause
    self.cost = cost
    self.madeRoomFor = madeRoomFor
  }
}
