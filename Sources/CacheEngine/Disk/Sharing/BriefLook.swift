import CacheCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Whether it pays to look for something before it is waited for.
///
/// A guest looks for its answer, and the owner, after an answer, for the next question: to sleep and be woken takes each of them longer
/// than all the rest. Who looked in vain lets questions go by, each time twice as many, until something was found once more: an owner
/// that reads from a slow disk, or that is stopped, costs those who ask no processor time, and neither does a guest that asks now and
/// then cost the owner any.
struct BriefLook: Sendable {
  /// So many nanoseconds a guest looks for its answer: about as long as it takes to wake the two threads that are not waited for so.
  static let forAnswer: Int64 = 60_000
  /// So many nanoseconds the owner looks for the next question: long enough for a task that asks again as soon as it has its answer.
  static let forQuestion: Int64 = 20_000
  private static let mostDoublings = 6

  private var inVain = 0
  private var leftOut = 0

  /// Looks until there is what is looked for, or for so long; others may run in between.
  static func finds(within time: Int64, _ isThere: () -> Bool) -> Bool {
    let end = SystemClock().now.nanoseconds + time
    repeat {
      if isThere() { return true }
      sched_yield()
    } while SystemClock().now.nanoseconds < end
    return false
  }

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
