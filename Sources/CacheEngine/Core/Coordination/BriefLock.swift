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
  /// First in memory is the word that the kernel is told.
  @usableFromInline
  struct Cell: ~Copyable {
    /// 0 while it is free, 1 while it is taken, 2 while somebody may sleep for it, too.
    @usableFromInline let state = Atomic<UInt32>(0)
    @usableFromInline var value: Value

    @inlinable
    init(_ value: consuming Value) { self.value = value }
  }

  @usableFromInline let cell: UnsafeMutablePointer<Cell>

  @inlinable
  package init(_ initial: consuming sending Value) {
    unsafe cell = .allocate(capacity: 1)
    unsafe cell.initialize(to: Cell(initial))
  }

  @inlinable
  deinit {
    unsafe cell.deinitialize(count: 1)
    unsafe cell.deallocate()
  }

  /// Calls the closure with the value, alone.
  @inlinable
  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    if !take() { waitAndTake() }
    defer { release() }
    return try unsafe body(&cell.pointee.value)
  }

  /// Calls the closure with the value if nobody else has it; `nil` if somebody has.
  @inlinable
  @inline(__always)
  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard take() else { return nil }
    defer { release() }
    return try unsafe body(&cell.pointee.value)
  }

  @inlinable
  @inline(__always)
  borrowing func take() -> Bool {
    unsafe cell.pointee.state.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
    ).exchanged
  }

  @inlinable
  @inline(__always)
  borrowing func release() {
    if unsafe cell.pointee.state.exchange(0, ordering: .releasing) == 2 { wakeOne() }
  }

  @usableFromInline
  borrowing func waitAndTake() {
    var pauses = 1
    while pauses <= 64 {
      for _ in 0..<pauses { cstore_pause() }
      pauses *= 2
      if unsafe cell.pointee.state.load(ordering: .relaxed) == 0, take() { return }
    }
    // Who wakes up cannot know whether others sleep still.
    while unsafe cell.pointee.state.exchange(2, ordering: .acquiring) != 0 { unsafe cstore_sleep_while(cell, 2) }
  }

  @usableFromInline
  borrowing func wakeOne() { unsafe cstore_wake_one(cell) }
}
#else
/// Elsewhere the system's lock is anybody's as soon as it is free.
@usableFromInline
package typealias BriefLock<Value: ~Copyable> = Mutex<Value>
#endif
