public import CacheCore

extension Expiry {
  /// This many seconds after the store.
  ///
  /// - Parameter seconds: How many; with a negative number, or one that is not a number, the entry expires at once.
  /// - Returns: The expiry.
  public static func seconds(_ seconds: Double) -> Expiry {
    // A duration of seconds traps beyond what its 128 bits hold.
    seconds.isNaN ? .after(.zero) : .after(.seconds(min(max(seconds, -1e10), 1e10)))
  }
}

extension Entry {
  /// The value, as ``Storage`` calls it.
  public var object: Value { value }

  /// When the entry expires.
  public var expiry: Expiry { deadline.map(Expiry.at) ?? .never }
}
