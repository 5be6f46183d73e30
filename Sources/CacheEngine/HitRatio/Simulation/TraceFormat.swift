import CacheDisk
import CacheMemory
import CacheCore

/// How a recorded trace is written down.
public enum TraceFormat: String, Sendable, CaseIterable {
  /// A key on each line, and after a tab, if all lines have one, the size of its value in bytes; `#` begins a comment.
  case text
  /// Little-endian numbers of 16 bits, one for each request.
  case u16
  /// Little-endian numbers of 32 bits, one for each request.
  case u32

  /// Guesses the format by the name of a file: `web12.u16`, `orders.u32.gz`; everything else is text.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) {
    let name = path.hasSuffix(".gz") ? path.dropLast(3) : path[...]
    self = [TraceFormat.u16, .u32].first { name.hasSuffix(".\($0.rawValue)") } ?? .text
  }

  /// The bytes of one number; `nil` for text.
  var width: Int? {
    switch self {
    case .text: nil
    case .u16: 2
    case .u32: 4
    }
  }
}
