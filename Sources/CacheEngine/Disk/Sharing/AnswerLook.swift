/// Whether it pays to look for an answer before it is waited for.
///
/// Who looked in vain lets questions go by, each time twice as many, until an answer was found once more: an owner that reads
/// from a slow disk, or that is stopped, costs those who ask no processor time.
struct AnswerLook: Sendable {
  /// So many nanoseconds a task looks: about as long as it takes to wake the two threads that it does not wait for so.
  static let time: Int64 = 60_000
  private static let mostDoublings = 6

  private var inVain = 0
  private var leftOut = 0

  /// Whether to look this time.
  mutating func begins() -> Bool {
    guard leftOut > 0 else { return true }
    leftOut -= 1
    return false
  }

  mutating func ended(_ isFound: Bool) {
    inVain = isFound ? 0 : min(inVain + 1, Self.mostDoublings)
    leftOut = isFound ? 0 : 1 << inVain
  }
}
