#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An open file, closed when nobody holds it any more.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  /// Ends reading and writing on a socket, so that whoever waits on it wakes.
  func shutDown() { shutdown(number, Int32(SHUT_RDWR)) }

  /// How reading or writing went.
  enum Transfer {
    case moved(Int)
    /// Nothing can be moved at the moment.
    case later
    /// The other side is gone.
    case ended
  }

  func read(into buffer: inout [UInt8]) -> Transfer {
    while true {
      let count = unsafe recv(number, &buffer, buffer.count, 0)
      if count > 0 { return .moved(count) }
      if count < 0, errno == EINTR { continue }
      return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? .later : .ended
    }
  }

  /// Never raises SIGPIPE.
  func write(_ bytes: ArraySlice<UInt8>) -> Transfer {
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    while true {
      let count = unsafe bytes.withUnsafeBytes { unsafe send(number, $0.baseAddress, $0.count, flags) }
      if count >= 0 { return .moved(count) }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .later : .ended
    }
  }

  func setNonblocking() {
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
  }
}

extension Descriptor {
  /// How long reading, and writing and connecting, wait on a socket that blocks; 0 for as long as it takes.
  func setTimeouts(seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, size)
    // Writing a question holds up nobody but the writer, and not for ever: the other side may be stopped.
    time.tv_sec = 5
    unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, size)
  }

  /// Writes to a socket that blocks.
  ///
  /// - Returns: Whether all was taken.
  func writeAll(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard case .moved(let count) = write(rest) else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
