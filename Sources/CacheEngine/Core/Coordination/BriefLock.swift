private import CStore

public import Synchronization

#if os(Linux) || os(Android)
/// A lock that is held for well under a microsecond, by threads that come back for it at once.
///
/// `Synchronization.Mutex` inherits priorities on Linux, so the kernel hands it over to the first thread that sleeps for it: while
/// that one wakes up nobody has any use of the lock, and two threads that write together get less done than one alone. This one is
/// anybody's as soon as it is free. Who finds it taken looks again for a few microseconds, longer each time, and sleeps only then.
/// It is not fair: a thread may be overtaken for as long as others come.
///
/// The three states are those of U. Drepper, Futexes are tricky, 2005 ("mutex2"); the looking is the exponential back-off of
/// T. E. Anderson, The performance of spin lock alternatives, IEEE TPDS 1(1), 1990.
@usableFromInline
@safe
package struct BriefLock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // the state says who may use the value
  /// 0 while it is free, 1 while it is taken, 2 while somebody may sleep for it, too.
  ///
  /// The value stands behind it in memory. They are reached by pointers of their own, so that no access to one is one to both.
  @usableFromInline let state: UnsafeMutablePointer<Atomic<UInt32>>

  /// The state is at the beginning of a line of the processor's cache, so that what the value begins with is in the same one.
  @inlinable static var alignment: Int { max(64, offset) }

  /// Alignments are powers of two.
  @inlinable
  static var offset: Int { max(MemoryLayout<Atomic<UInt32>>.size, MemoryLayout<Value>.alignment) }

  @inlinable
  @inline(__always)
  var value: UnsafeMutablePointer<Value> {
    unsafe UnsafeMutableRawPointer(state).advanced(by: Self.offset).assumingMemoryBound(to: Value.self)
  }

  @inlinable
  package init(_ initial: consuming sending Value) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Self.offset + MemoryLayout<Value>.size, alignment: Self.alignment)
    unsafe state = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
    unsafe state.initialize(to: Atomic(0))
    unsafe memory.advanced(by: Self.offset).bindMemory(to: Value.self, capacity: 1).initialize(to: initial)
  }

  @inlinable
  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe state.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(state).deallocate()
  }

  /// Calls the closure with the value, alone.
  @inlinable
  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    if !take() { waitAndTake() }
    defer { release() }
    return try unsafe body(&value.pointee)
  }

  /// Calls the closure with the value if nobody else has it; `nil` if somebody has.
  @inlinable
  @inline(__always)
  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard take() else { return nil }
    defer { release() }
    return try unsafe body(&value.pointee)
  }

  @inlinable
  @inline(__always)
  borrowing func take() -> Bool {
    unsafe state.pointee.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
    ).exchanged
  }

  @inlinable
  @inline(__always)
  borrowing func release() {
    if unsafe state.pointee.exchange(0, ordering: .releasing) == 2 { wakeOne() }
  }

  @usableFromInline
  borrowing func waitAndTake() {
    var pauses = 1
    while pauses <= 64 {
      for _ in 0..<pauses { cstore_pause() }
      pauses *= 2
      if unsafe state.pointee.load(ordering: .relaxed) == 0, take() { return }
    }
    // A thread that wakes up cannot know whether others are still asleep.
    while unsafe state.pointee.exchange(2, ordering: .acquiring) != 0 { unsafe cstore_sleep_while(state, 2) }
  }

  @usableFromInline
  borrowing func wakeOne() { unsafe cstore_wake_one(state) }
}
#else
/// Elsewhere the system's lock is anybody's as soon as it is free.
@usableFromInline
package typealias BriefLock<Value: ~Copyable> = Mutex<Value>
#endif
