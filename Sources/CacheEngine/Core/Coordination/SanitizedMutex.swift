// Thread Sanitizer does not see into Synchronization.Mutex on Linux: the library that takes the lock is not
// instrumented, so every access under one looks like a race. `make test-tsan` defines CACHEENGINE_TSAN, and this type
// takes the place of that one: the same interface over a pthread mutex, which the sanitizer knows.
//
// The file is linked into each module that locks, where its name goes before the imported one.
#if CACHEENGINE_TSAN
import Glibc

@usableFromInline
@safe
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // the lock guards the value
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  @usableFromInline
  init(_ initial: consuming sending Value) {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: initial)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  @usableFromInline
  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return try unsafe body(&value.pointee)
  }

  @usableFromInline
  borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(lock) }
    return try unsafe body(&value.pointee)
  }
}
#endif
