import ExplorerText
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Standard output and error, written whole lines at a time and without buffers that a signal could lose.
enum StandardStreams {
  private struct Output {
    /// Why something that was said could not be written, the first time; EPIPE where nobody reads any more.
    var failure: Int32?
    /// Whom that ends.
    weak var interruption: Interruption?
  }

  private static let output = Mutex(Output())

  /// Keeps the numbers of streams that are closed from what the program opens, which would be read and written in their place.
  ///
  /// Reading and writing then fail as they would. This is to be called before anything is opened.
  static func holdPlaces() {
    for (descriptor, wrongWay) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", wrongWay)
    }
  }

  /// Has whoever writes into a pipe that nobody reads, or beyond the limit on the size of files, told of it, in place of a
  /// signal that would end the program where it stands.
  static func ignoreSignalsOfWrites() {
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
  }

  /// Interrupts what runs once nobody reads standard output any more, as the signal would, or it cannot be written.
  static func tellLost(_ interruption: Interruption) {
    let failure = output.withLock { output in
      output.interruption = interruption
      return output.failure
    }
    if let failure { interruption.loseOutput(failure) }
  }

  static func say(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Tells what is wrong; of what others say in it nothing but the ends of lines and tabs is for a terminal.
  static func complain(_ text: String) {
    let lines = text.lines.map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { harmless(String($0)) }.joined(separator: "\t")
    }
    write(lines.joined(separator: "\n"), to: STDERR_FILENO)
  }

  /// What to call a file in messages, where `-` is standard input.
  static func name(of path: String) -> String { path == "-" ? "standard input" : path }

  /// Why something cannot be read, as the system says it.
  struct ReadFailure: Error, CustomStringConvertible {
    let description: String
  }

  /// Reads a file, which may be a pipe, to its end, or until there is more than asked for.
  ///
  /// `path`: `-` for standard input.
  static func readFile(_ path: String, atMost limit: Int) throws(ReadFailure) -> Data {
    let file = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw ReadFailure(description: lastProblem) }
    defer { if file != STDIN_FILENO { close(file) } }
    var input = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while input.count < limit {
      let count = read(file, into: &buffer)
      guard count >= 0 else { throw ReadFailure(description: lastProblem) }
      if count == 0 { break }
      input.append(contentsOf: buffer[..<count])
    }
    return input
  }

  /// Reads some bytes; 0 at the end, less if they cannot be read.
  static func read(_ file: Int32 = STDIN_FILENO, into buffer: inout [UInt8]) -> Int {
    while true {
      let count = unsafe systemRead(file, &buffer, buffer.count)
      guard count < 0 && errno == EINTR else { return count }
    }
  }

  /// Why the last call of the system failed.
  static var lastProblem: String { unsafe String(cString: strerror(errno)) }

  /// Leaves, with a status that tells if something that was said is lost.
  static func exit(_ status: Int32) -> Never {
    let status =
      switch output.withLock({ $0.failure }) {
      case nil: status
      case EPIPE: status == 0 ? 128 + SIGPIPE : status
      // What was interrupted for this gives the status of an interruption.
      default: status == 0 || status == 128 + SIGPIPE ? ProgramFailure.Status.usage.rawValue : status
      }
    #if canImport(Glibc)
    Glibc.exit(status)
    #elseif canImport(Musl)
    Musl.exit(status)
    #else
    Darwin.exit(status)
    #endif
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)
    if bytes.last != 0x0a { bytes.append(0x0a) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let (written, problem) = unsafe rest.withUnsafeBytes { bytes in
        let count = unsafe systemWrite(descriptor, bytes.baseAddress, bytes.count)
        return (count, errno)
      }
      guard written <= 0 else {
        rest = rest.dropFirst(written)
        continue
      }
      switch problem {
      case EINTR: continue
      case EAGAIN:
        // Another program has set it so that writes do not wait.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&room, 1, -1)
      default:
        if descriptor == STDOUT_FILENO { lose(problem) }
        return
      }
    }
  }

  /// Tells at once why standard output cannot be written, as what runs may go on for long.
  private static func lose(_ failure: Int32) {
    let (isFirst, interruption) = output.withLock { output in
      defer { output.failure = output.failure ?? failure }
      return (output.failure == nil, output.interruption)
    }
    guard isFirst else { return }
    switch failure {
    case EPIPE: break
    case EBADF: complain("error: standard output is closed; leave it open, or send it to a file")
    default:
      let reason = unsafe String(cString: strerror(failure))
      complain("error: standard output could not be written: \(reason); free some room or name another file")
    }
    interruption?.loseOutput(failure)
  }

  private static func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.read(descriptor, bytes, count)
    #elseif canImport(Musl)
    unsafe Musl.read(descriptor, bytes, count)
    #else
    unsafe Darwin.read(descriptor, bytes, count)
    #endif
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.write(descriptor, bytes, count)
    #elseif canImport(Musl)
    unsafe Musl.write(descriptor, bytes, count)
    #else
    unsafe Darwin.write(descriptor, bytes, count)
    #endif
  }
}
