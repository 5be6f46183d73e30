#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// This program once more, at work, to be killed.
struct Child {
  private let process: pid_t

  static func work(_ store: String, log: String, seed: UInt64, options: Options) throws -> Child {
    var words = ["cache-torture", "work", store, "--log", log, "--seed", "\(seed)", "--tier", options.tier.rawValue]
    if options.tight { words.append("--tight") }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawn(&process, program, nil, nil, arguments, environ)
    guard code == 0 else { throw Failure("cannot start \(program): \(code)") }
    return Child(process: process)
  }

  private static var program: String {
    #if os(Linux)
      "/proc/self/exe"
    #else
      CommandLine.arguments[0]
    #endif
  }

  /// Kills the process after so many microseconds.
  ///
  /// - Throws: ``Failure`` if it had ended by itself, which it does when a promise is broken while it works.
  func kill(after microseconds: UInt32) throws {
    usleep(microseconds)
    #if canImport(Glibc)
      Glibc.kill(process, SIGKILL)
    #else
      Darwin.kill(process, SIGKILL)
    #endif
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    guard status & 0x7f == SIGKILL else {
      throw Failure("the work ended by itself, with status \(status >> 8 & 0xff) and signal \(status & 0x7f)")
    }
  }
}
