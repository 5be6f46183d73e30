import CStore
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP socket on 127.0.0.1.
struct LoopbackSocket: Sendable {
  let descriptor: Int32

  /// Opens a listening socket on a free port.
  static func listen() throws -> (LoopbackSocket, port: Int) {
    #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
    let kind = SOCK_STREAM
    #endif
    let socket = LoopbackSocket(descriptor: Foundation.socket(AF_INET, kind, 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket.descriptor, pointer, size) == 0 && Foundation.listen(socket.descriptor, 512) == 0
          && getsockname(socket.descriptor, pointer, &size) == 0
      }
    }
    guard isReady else {
      let code = errno
      socket.close()
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Waits for a connection.
  ///
  /// - Returns: Whether one may be there; `false` once the server is to stop.
  func waitUntilReadable(orEndOf signal: LoopbackPipe) -> Bool {
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signal.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&polled, nfds_t(polled.count), -1)
    return polled[1].revents == 0
  }

  func accept() -> LoopbackSocket? {
    let accepted = Foundation.accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    // No process that another test starts keeps the connection open.
    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
    var on: Int32 = 1
    _ = unsafe setsockopt(accepted, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return LoopbackSocket(descriptor: accepted)
  }

  /// Reads what is there, waiting for something.
  ///
  /// - Returns: The bytes; none at the end.
  func receive() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Writes everything.
  ///
  /// - Returns: Whether the client took it.
  func write(_ bytes: some Collection<UInt8>) -> Bool {
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes { unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Waits for the client to go away.
  func hasClientLeft(within time: Duration) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(time / .milliseconds(1))
    guard unsafe poll(&polled, 1, milliseconds) > 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) <= 0
  }

  /// Waits until the client goes away, or the server stops.
  func waitUntilClientLeaves() {
    while !hasClientLeft(within: .seconds(60)) {}
  }

  /// Has the connection reset, not closed, when it is closed.
  func resetOnClose() {
    var setting = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
  }

  func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  func close() { _ = Foundation.close(descriptor) }
}

extension LoopbackSocket {
  /// Sends a complete answer.
  func send(status: Int = 200, _ fields: String = "", body: Data) -> LoopbackScript.Outcome {
    let head = "HTTP/1.1 \(status) Scripted\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
    return write(Data(head.utf8) + body) ? .keepAlive : .clientLeft
  }

  func send(_ text: String) -> Bool { write(text.utf8) }
}

/// Wakes a thread.
///
/// A byte does it: the end of a pipe comes only once nobody has a copy of its other end.
struct LoopbackPipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard unsafe cstore_pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  func signal() {
    var byte: UInt8 = 1
    _ = unsafe Foundation.write(writeEnd, &byte, 1)
  }

  func close() {
    _ = Foundation.close(readEnd)
    _ = Foundation.close(writeEnd)
  }
}

/// Takes requests from a connection, one after the other.
struct LoopbackReader {
  let socket: LoopbackSocket
  private var pending: [UInt8] = []

  init(socket: LoopbackSocket) {
    self.socket = socket
  }

  /// The next request, or `nil` at the end of the connection or of sense.
  mutating func nextRequest() -> (target: String, headers: [String: String])? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let found = pending.firstRange(of: end) {
        let head = String(decoding: pending[..<found.lowerBound], as: UTF8.self)
        pending.removeSubrange(..<found.upperBound)
        return Self.parse(head)
      }
      let bytes = socket.receive()
      guard !bytes.isEmpty, pending.count < 1 << 20 else { return nil }
      pending += bytes
    }
  }

  private static func parse(_ head: String) -> (String, [String: String])? {
    let lines = head.split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let pieces = line.split(separator: ":", maxSplits: 1)
      guard pieces.count == 2 else { continue }
      headers[pieces[0].lowercased()] = pieces[1].trimmingCharacters(in: .whitespaces)
    }
    return (String(words[1]), headers)
  }
}
