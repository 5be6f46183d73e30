import ExplorerState

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
  static func say(_ text: String) { write(text, to: STDOUT_FILENO) }

  static func complain(_ text: String) { write(text, to: STDERR_FILENO) }

  /// Reads standard input to its end, or until there is more than asked for.
  static func readInput(atMost limit: Int) throws -> Data {
    var input = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while input.count < limit {
      let count = read(into: &buffer)
      guard count >= 0 else { throw CommandFailure(message: "standard input cannot be read") }
      if count == 0 { break }
      input.append(contentsOf: buffer[..<count])
    }
    return input
  }

  /// Reads some bytes of standard input; 0 at its end, less if it cannot be read.
  static func read(into buffer: inout [UInt8]) -> Int {
    while true {
      let count = unsafe systemRead(STDIN_FILENO, &buffer, buffer.count)
      guard count < 0 && errno == EINTR else { return count }
    }
  }

  static func exit(_ status: Int32) -> Never {
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
      let written = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      // Nobody reads any more: there is nobody to tell either.
      if written <= 0 { return }
      rest = rest.dropFirst(written)
    }
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
