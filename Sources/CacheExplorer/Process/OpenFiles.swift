#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many files and connections the program may have open.
enum OpenFiles {
  /// Allows more than programs usually need: the 1,024 that Linux gives are fewer than the clients, the servers and the files of a proxy.
  static func allowMany() {
    var limit = rlimit()
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    guard unsafe getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    _ = unsafe setrlimit(resource, &limit)
  }
}
