public import CStore
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
    /// The thread that timed the first hit, and 0 before.
    @usableFromInline let owner = Atomic<UInt>(0)
    /// The hits of the owner, which alone changes this, and so without an atomic addition.
    @usableFromInline let ofOwner = Atomic(0)
    /// The hits of all other threads.
    @usableFromInline let ofOthers = Atomic(0)
    /// How many of both have been taken; changed and read under the lock of the statistics' stripe, as what follows.
    let taken = Atomic(0)
    /// How long the last one took that was timed, in nanoseconds.
    let latest = Atomic<Int64>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
      (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// Whether the thread that runs is the owner.
    @inlinable var isOwn: Bool { owner.load(ordering: .relaxed) == cstore_this_thread() }

    var untaken: Int {
      ofOwner.load(ordering: .relaxed) + ofOthers.load(ordering: .relaxed) - taken.load(ordering: .relaxed)
    }
  }

  @usableFromInline let stripes = UnsafeMutablePointer<Stripe>.allocate(capacity: ThreadStripe.count)

  init() {
    for stripe in 0..<ThreadStripe.count { unsafe (stripes + stripe).initialize(to: Stripe()) }
  }

  deinit {
    unsafe stripes.deinitialize(count: ThreadStripe.count)
    unsafe stripes.deallocate()
  }

  /// Of so many hits, a power of two, one is timed.
  @inlinable static var each: Int { 64 }

  /// Whether the next hit in a stripe should be timed.
  @inlinable
  func isNextTimed(_ stripe: Int) -> Bool {
    let place = unsafe stripes + stripe
    let hits =
      unsafe place.pointee.isOwn
      ? place.pointee.ofOwner.load(ordering: .relaxed) : place.pointee.ofOthers.load(ordering: .relaxed)
    return hits & (Self.each - 1) == 0
  }

  /// Counts a hit.
  @inlinable
  func count(_ stripe: Int) {
    let place = unsafe stripes + stripe
    if unsafe place.pointee.isOwn {
      unsafe place.pointee.ofOwner.store(place.pointee.ofOwner.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    } else {
      unsafe place.pointee.ofOthers.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// Takes what was counted in a stripe since the last time, and how long a hit took; under the lock of the statistics' stripe.
  func take(_ stripe: Int) -> (hits: Int, nanoseconds: Int64) {
    let place = unsafe stripes + stripe
    let hits = unsafe place.pointee.untaken
    unsafe place.pointee.taken.store(place.pointee.taken.load(ordering: .relaxed) + hits, ordering: .relaxed)
    return unsafe (hits, place.pointee.latest.load(ordering: .relaxed))
  }

  /// Counts a hit that took so long, as those that follow will; under the lock of the statistics' stripe.
  func count(_ stripe: Int, nanoseconds: Int64) {
    let place = unsafe stripes + stripe
    unsafe place.pointee.latest.store(nanoseconds, ordering: .relaxed)
    _ = unsafe place.pointee.owner.compareExchange(expected: 0, desired: cstore_this_thread(), ordering: .relaxed)
    count(stripe)
  }
}
