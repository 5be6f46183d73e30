#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A process that ends when this one does, however that comes about.
///
/// Its standard input is a pipe that only this process holds open; when that ends the child reads the end of it and leaves. It
/// is in a group of its own, so that ^C and ^Z at the terminal are not for it.
final class ChildProcess: Sendable {
  /// It could not be started.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let process: pid_t
  private let lifeline: Int32

  /// Starts a program.
  ///
  /// `words`: Its name and its arguments. What it prints goes nowhere.
  ///
  /// - Throws: ``Failure``.
  init(_ program: String, _ words: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw Failure(description: "no pipe: errno \(errno)") }
    defer { close(ends[0]) }
    // Another child must not keep this one alive.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    defer { unsafe arguments.forEach { unsafe free($0) } }
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
    #else
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Signals that this process ignores would be ignored there as well.
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP] { unsafe sigaddset(&usual, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    // So would those that this thread holds back.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let code = unsafe posix_spawn(&process, program, &actions, &attributes, arguments, environ)
    guard code == 0 else {
      close(ends[1])
      throw Failure(description: "\(program) cannot be started: errno \(code)")
    }
    self.process = process
    lifeline = ends[1]
  }

  /// This program, to be started once more.
  static var ownProgram: String {
    #if os(Linux)
    "/proc/self/exe"
    #else
    CommandLine.arguments[0]
    #endif
  }

  /// Whether it has ended by itself; then nothing is left of it.
  var hasEnded: Bool {
    var status: Int32 = 0
    return unsafe waitpid(process, &status, WNOHANG) != 0
  }

  /// Waits until it has ended by itself; blocks.
  func wait() {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  func signal(_ number: Int32) { _ = kill(process, number) }

  /// Ends it, and waits for that, for some seconds at the most; blocks.
  ///
  /// `politely`: It is left some time to see that its input has ended, before it is told by a signal.
  func end(politely: Bool = true) {
    close(lifeline)
    for turn in 0..<(politely ? 400 : 100) {
      if hasEnded { return }
      if turn == (politely ? 200 : 0) { signal(SIGTERM) }
      usleep(10_000)
    }
    signal(SIGKILL)
    wait()
  }
}
