#if Explorer
import CStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// This program once more, at work, to be killed.
struct Child {
  let process: pid_t
  private let announcements: Int32

  static func work(
    _ store: String, log: String, seed: UInt64, options: Options, worker: (Int, of: Int)? = nil,
    isSteady: Bool = false, program: String = program
  ) throws -> Child {
    var words = [
      "cache-torture", "work", store, "--log", log, "--seed", "\(seed)", "--tier", options.tier.rawValue, "--announces",
    ]
    if options.tight { words.append("--tight") }
    if isSteady { words.append("--steady") }
    if let worker { words += ["--worker", "\(worker.0)", "--workers", "\(worker.of)"] }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var ends: [Int32] = [0, 0]
    guard unsafe cstore_pipe(&ends) == 0 else { throw Failure("no pipe: \(errno)") }
    defer { close(ends[1]) }
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
    var process = pid_t()
    let code = unsafe posix_spawn(&process, program, &actions, nil, arguments, environ)
    guard code == 0 else { throw Failure("cannot start \(program): \(code)") }
    return Child(process: process, announcements: ends[0])
  }

  /// Waits until the work has had so many more answers.
  func await(_ count: Int) throws {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var rest = count
    while rest > 0 {
      let got = unsafe read(announcements, &bytes, min(rest, bytes.count))
      if got < 0, errno == EINTR { continue }
      // It has ended; why, its status tells.
      guard got > 0 else { return }
      rest -= got
    }
  }

  static var program: String {
    #if os(Linux)
    "/proc/self/exe"
    #else
    CommandLine.arguments[0]
    #endif
  }

  /// Stops the process for so many microseconds.
  func pause(for microseconds: UInt32) {
    stop()
    usleep(microseconds)
    goOn()
  }

  /// Stops the process, and waits until all of it stands: what it was in the middle of would go on else.
  func stop() {
    send(SIGSTOP)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, WUNTRACED) < 0 && errno == EINTR {}
  }
  func goOn() { send(SIGCONT) }

  private func send(_ signal: Int32) {
    #if canImport(Glibc)
    Glibc.kill(process, signal)
    #else
    Darwin.kill(process, signal)
    #endif
  }

  /// What it wrote that is no announcement.
  private var lastWords: String {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var text = ""
    while case let got = unsafe read(announcements, &bytes, bytes.count), got > 0 {
      text += String(decoding: bytes.prefix(got), as: UTF8.self)
    }
    return String(text.drop { $0 == "." })
  }

  /// Kills the process after so many microseconds.
  ///
  /// - Throws: ``Failure`` if it had ended by itself, which it does when a promise is broken while it works.
  func kill(after microseconds: UInt32) throws {
    defer { close(announcements) }
    usleep(microseconds)
    send(SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    guard status & 0x7f == SIGKILL else {
      throw Failure(
        "the work ended by itself, with status \(status >> 8 & 0xff) and signal \(status & 0x7f): \(lastWords)")
    }
  }
}
#endif
