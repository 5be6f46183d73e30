import CStore
import CacheCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a trace may be packed with, and a program unpacks.
package struct TracePacking: Sendable {
  package static let all = [
    TracePacking(
      program: "zstd", package: "zstd", magic: [0x28, 0xb5, 0x2f, 0xfd],
      // No more memory than it takes by default, however large a window the file asks for.
      options: ["-dcq", "--memory=128MB"]),
    TracePacking(
      program: "xz", package: "xz-utils", magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
      options: ["-dcq", "--memlimit-decompress=128MiB"]),
  ]

  package var program: String
  /// Whom to ask for the program.
  package let package: String
  /// How such a file begins.
  package let magic: [UInt8]
  let options: [String]

  /// Looks at the beginning of a file, without moving in it.
  ///
  /// What cannot be looked at again, as a pipe, is never packed so.
  func isUsed(in file: Int32) -> Bool {
    var beginning = [UInt8](repeating: 0, count: magic.count)
    return unsafe pread(file, &beginning, beginning.count, 0) == magic.count && beginning == magic
  }
}

// Held while a program is started: another one started meanwhile would hold the pipe of this one open.
private let starting = Mutex(())

/// A program that unpacks a file into a pipe.
///
/// No shell is asked, and no name of the file is given to it.
struct TraceUnpacker {
  let packing: TracePacking
  /// Where the unpacked bytes come from; it belongs to the reader.
  let output: Int32
  private let process: pid_t

  init(_ packing: TracePacking, of name: String, input: Int32) throws(TraceProblem) {
    self = try starting.withLock { _ throws(TraceProblem) in try Self.start(packing, of: name, input: input) }
  }

  private init(packing: TracePacking, output: Int32, process: pid_t) {
    self.packing = packing
    self.output = output
    self.process = process
  }

  private static func start(_ packing: TracePacking, of name: String, input: Int32) throws(TraceProblem) -> Self {
    #if os(Linux) || os(macOS)
    var ends: [Int32] = [0, 0]
    guard unsafe cstore_pipe(&ends) == 0 else {
      throw TraceProblem(
        file: name, message: "cannot be unpacked (\(SystemFailure("pipe").text))", remedy: "close some files")
    }
    defer { close(ends[1]) }
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // Its messages would appear in the middle of a screen.
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let words = unsafe ([packing.program] + packing.options).map { unsafe strdup($0) }
    defer { unsafe words.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawnp(&process, packing.program, &actions, nil, words + [nil], environ)
    guard code == 0 else {
      close(ends[0])
      throw TraceProblem(
        file: name,
        message: "is packed with \(packing.program), which cannot be started (\(SystemFailure("spawn", code).text))",
        remedy: "install \(packing.package), or unpack the file first")
    }
    return Self(packing: packing, output: ends[0], process: process)
    #else
    throw TraceProblem(
      file: name, message: "is packed with \(packing.program)", remedy: "unpack it first, or pack it with gzip")
    #endif
  }

  /// Waits for its end, and says whether it did its work.
  func end() -> Bool {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status == 0
  }

  /// Ends it before its time.
  func stop() {
    _ = kill(process, SIGKILL)
    _ = end()
  }
}
