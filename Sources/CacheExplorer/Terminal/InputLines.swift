import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The lines of standard input as they come.
enum InputLines {
  private static let longest = 64 << 10

  /// Reads on a queue of its own; it ends with the input, or with whoever reads from it.
  static func standardInput() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    DispatchQueue(label: "input").async {
      var pending: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        pending += buffer[..<count]
        while let end = pending.firstIndex(of: 0x0a) {
          continuation.yield(String(decoding: pending[..<end], as: UTF8.self))
          pending.removeSubrange(...end)
        }
        // Nobody types this; it may not fill the memory either.
        if pending.count > longest { pending = [] }
      }
      if !pending.isEmpty { continuation.yield(String(decoding: pending, as: UTF8.self)) }
      continuation.finish()
    }
    return lines
  }
}
