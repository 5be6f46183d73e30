import CStore
public import Synchronization

/// Hits of a level that are counted and not timed, since reading the clock twice takes longer than they do.
///
/// Each thread times one of its hits and then counts those that follow, which are taken to last as long.
// Safe and unchecked for the pointer, which stays as it is: what it points to is atomic, and is this object's until it goes away.
@safe
@usableFromInline
final class UntimedHits: @unchecked Sendable {
  /// What the threads of a stripe count, in lines of the processor's cache of their own.
  @usableFromInline
  struct Stripe: ~Copyable {
    /// 0 until a hit was timed; then 1, and one more for each that follows.
    @usableFromInline let count = Atomic(0)
    /// How long the last one took that was timed, in nanoseconds; changed and read under the lock of the statistics' stripe.
    let latest = Atomic<Int64>(0)
    private let padding:
      (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  @usableFromInline let stripes = UnsafeMutablePointer<Stripe>.allocate(capacity: ThreadStripe.count)

  init() {
    for stripe in 0..<ThreadStripe.count { unsafe (stripes + stripe).initialize(to: Stripe()) }
  }

  deinit {
    unsafe stripes.deinitialize(count: ThreadStripe.count)
    unsafe stripes.deallocate()
  }

  /// Of so many hits, one is timed.
  @inlinable static var each: Int { 16 }

  /// Whether the next hit in a stripe should be timed.
  @inlinable
  func isNextTimed(_ stripe: Int) -> Bool {
    let count = unsafe stripes[stripe].count.load(ordering: .relaxed)
    return count == 0 || count >= Self.each
  }

  /// Counts a hit that was not timed.
  @inlinable
  func count(_ stripe: Int) { unsafe stripes[stripe].count.wrappingAdd(1, ordering: .relaxed) }

  /// Takes what was counted in a stripe since a hit was timed, and how long that took; under the lock of the statistics' stripe.
  func take(_ stripe: Int) -> (hits: Int, nanoseconds: Int64) {
    let place = unsafe stripes + stripe
    guard unsafe place.pointee.count.load(ordering: .relaxed) > 1 else { return (0, 0) }
    return unsafe (
      place.pointee.count.exchange(1, ordering: .relaxed) - 1, place.pointee.latest.load(ordering: .relaxed)
    )
  }

  /// Notes how long a hit took; under the lock of the statistics' stripe, after what was counted has been taken.
  func note(_ stripe: Int, nanoseconds: Int64) {
    let place = unsafe stripes + stripe
    unsafe place.pointee.latest.store(nanoseconds, ordering: .relaxed)
    if unsafe place.pointee.count.load(ordering: .relaxed) == 0 {
      unsafe place.pointee.count.store(1, ordering: .relaxed)
    }
  }
}
