private import CStore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Threads of the library's own, for work that blocks.
package enum OwnThread {
  private final class Work {
    let name: String
    let run: @Sendable () -> Void

    init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
  }

  /// Starts a thread that takes no signal from the app, and ends with its work.
  ///
  /// - Parameters:
  ///   - name: What debuggers and top show on Linux, of at most 15 bytes.
  ///   - work: What it does.
  /// - Throws: ``SystemFailure`` if there is no thread left.
  package static func start(_ name: String, _ work: @escaping @Sendable () -> Void) throws(SystemFailure) {
    let context = unsafe Unmanaged.passRetained(Work(name, work)).toOpaque()
    #if canImport(Darwin)
    var thread: Darwin.pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        #if canImport(Darwin)
        let taken: UnsafeMutableRawPointer? = unsafe context
        #else
        let taken = unsafe context
        #endif
        guard let taken = unsafe taken else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(taken).takeRetainedValue()
        unsafe cstore_begin_thread(work.name)
        work.run()
        return nil
      }, context)
    guard code == 0 else {
      unsafe Unmanaged<Work>.fromOpaque(context).release()
      throw SystemFailure("pthread_create", code)
    }
    #if canImport(Darwin)
    if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
  }
}
