/// How long a read waits for its value to be copied to the upper level of a composition.
///
/// An upper level that stores at once (``CacheLevel/storesAtOnce``), as memory does, is always waited for.
public struct BackFill: Sendable {
  /// `nil` for as long as it takes.
  let limit: Duration?
  /// How many copies may be under way at once.
  let most: Int

  /// A read waits until its copy has been stored, however long that takes.
  public static let awaited = BackFill(limit: nil, most: .max)

  /// A read waits for its copy for a limited time; then the copy continues on its own.
  ///
  /// - Parameters:
  ///   - limit: How long a read waits. Not negative.
  ///   - most: How many copies of a composition may be under way at once; beyond that, the upper level does not
  ///     get the value, and the observer is told. At least 1.
  /// - Returns: The policy.
  public static func within(_ limit: Duration, atMost most: Int = 64) -> BackFill {
    precondition(limit >= .zero, "a read cannot wait for a negative time")
    precondition(most >= 1, "at least one copy has to be possible")
    return BackFill(limit: limit, most: most)
  }
}
