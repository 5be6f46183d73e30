public import CacheCore

public import Synchronization

/// When each slot was used last, where entries expire that are not.
///
/// Readers note it at once, in a place of its own beside the table: nothing is moved and no lock is taken. The wheel is not
/// told; it asks when the time of a slot seems to have come, and puts off what was used since.
@usableFromInline
@safe
final class IdleTimes: @unchecked Sendable {
  // Unchecked: times are atomic; where they lie changes only under the lock of writers, with every stripe of readers closed.

  /// How long an entry may go unused.
  @usableFromInline let limit: Duration
  @usableFromInline private(set) var times: UnsafeMutablePointer<Atomic<Int64>>
  private var capacity = 0

  init(limit: Duration) {
    self.limit = limit
    unsafe times = .allocate(capacity: 0)
  }

  deinit { unsafe times.deallocate() }

  /// The same limit, and no times.
  @usableFromInline var emptied: IdleTimes { IdleTimes(limit: limit) }

  @usableFromInline
  func lastUse(of slot: Int32) -> CacheInstant {
    CacheInstant(nanoseconds: unsafe times[Int(slot)].load(ordering: .relaxed))
  }

  /// When an entry expires: at its own deadline, or when it was not used for so long.
  @inlinable
  func deadline(of slot: Int32, storedDeadline: CacheInstant) -> CacheInstant {
    let used = unsafe times[Int(slot)].load(ordering: .relaxed)
    return min(storedDeadline, CacheInstant(nanoseconds: used).advanced(by: limit))
  }

  /// Notes a use; of two the later one stays, whichever is noted last: a reader may have been held up since it saw the clock.
  @inlinable
  func use(_ slot: Int32, now: CacheInstant) {
    unsafe times[Int(slot)].max(now.nanoseconds, ordering: .relaxed)
  }

  /// Notes that an entry came into a slot, which may be a new one.
  @usableFromInline
  func begin(_ slot: Int32, now: CacheInstant) {
    if Int(slot) >= capacity { grow(to: Int(slot) + 1) }
    unsafe times[Int(slot)].store(now.nanoseconds, ordering: .relaxed)
  }

  private func grow(to length: Int) {
    let (old, used) = unsafe (times, capacity)
    capacity = max(64, length + length / 4)
    unsafe times = .allocate(capacity: capacity)
    unsafe times.moveInitialize(from: old, count: used)
    for slot in used..<capacity { unsafe (times + slot).initialize(to: Atomic(0)) }
    unsafe old.deallocate()
  }
}
