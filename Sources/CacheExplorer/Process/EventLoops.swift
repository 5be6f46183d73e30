import CTerminalGuard

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How many threads serve sockets.
enum EventLoops {
  /// Has as many as there are processors that this process may use, unless the environment says how many.
  ///
  /// SwiftNIO counts the machine's. Kept to one of two processors, as by taskset, two threads would take turns of milliseconds, and
  /// requests wait for them. It reads the environment, so this is to be called before there is another thread.
  static func fit() {
    let allowed = Int(ctg_allowed_processors())
    // What a group of processes may use it counts as it should.
    guard allowed > 0, allowed < sysconf(Int32(_SC_NPROCESSORS_ONLN)) else { return }
    unsafe setenv("NIO_SINGLETON_GROUP_LOOP_COUNT", String(allowed), 0)
  }
}
