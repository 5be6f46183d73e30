/// Decides which entry leaves when room is needed.
///
/// A policy is a plain value that orders slot numbers. It knows neither keys nor values and holds no lock.
@usableFromInline
protocol EvictionPolicy: Sendable {
  /// An entry was put into a slot that was free.
  mutating func inserted(_ slot: Int32)
  /// The entry in a slot was read or overwritten.
  mutating func touched(_ slot: Int32)
  /// The entry in a slot left.
  mutating func removed(_ slot: Int32)
  /// The slot to empty next; `nil` if there is none.
  var victim: Int32? { get }
}
