import CacheCore
import CZlib

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

enum ZlibFailure: Error {
  case tooLarge
  case failed(String)
}

/// zlib, piece by piece: memory grows with what has come out, and a cancelled task stops between two pieces.
enum ZlibStream {
  private static let inputPiece = 1 << 20
  private static let outputPiece = 64 << 10

  static func inflate(
    _ input: Data, format: CompressionTransformer.Format, limit: Int
  ) throws -> Data {
    var stream = unsafe z_stream()
    // zlib keeps the address of its stream and refuses another, so there is one pointer for the whole run.
    return try unsafe withUnsafeMutablePointer(to: &stream) { stream in
      guard unsafe czlib_inflate_init(stream, format.windowBits) == Z_OK else {
        throw ZlibFailure.failed("there is no memory")
      }
      defer { unsafe inflateEnd(stream) }
      let (output, left) = try unsafe run(stream, input, limit: limit) { stream, isLast in
        let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        // RFC 1952, section 2.2: a gzip file is a row of members, which become one value.
        guard code == Z_STREAM_END, format == .gzip, unsafe stream.pointee.avail_in > 0 || !isLast else { return code }
        return unsafe inflateReset(stream)
      }
      guard left == 0 else { throw ZlibFailure.failed("there are \(left) bytes after the end") }
      return output
    }
  }

  static func deflate(
    _ input: Data, format: CompressionTransformer.Format, level: Int
  ) throws -> Data {
    var stream = unsafe z_stream()
    return try unsafe withUnsafeMutablePointer(to: &stream) { stream in
      guard unsafe czlib_deflate_init(stream, Int32(level), format.windowBits) == Z_OK else {
        throw ZlibFailure.failed("there is no memory")
      }
      defer { unsafe deflateEnd(stream) }
      return try unsafe run(stream, input, limit: .max) { unsafe CZlib.deflate($0, $1 ? Z_FINISH : Z_NO_FLUSH) }.output
    }
  }

  /// Feeds the input until zlib says that it is done; gives what came out and how many bytes were not wanted.
  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: Data, limit: Int,
    step: (_ stream: UnsafeMutablePointer<z_stream>, _ isLast: Bool) -> Int32
  ) throws -> (output: Data, left: Int) {
    var output = Data()
    var piece = [UInt8](repeating: 0, count: outputPiece)
    let left = try unsafe input.withUnsafeBytes { raw in
      // zlib's types have no const; it does not write to its input.
      let bytes = unsafe UnsafeMutableBufferPointer(mutating: raw.assumingMemoryBound(to: UInt8.self))
      var fed = 0
      var code = Z_OK
      while code == Z_OK {
        try Task.checkCancellation()
        if unsafe stream.pointee.avail_in == 0 {
          let count = min(inputPiece, bytes.count - fed)
          unsafe stream.pointee.next_in = bytes.baseAddress.map { unsafe $0 + fed }
          unsafe stream.pointee.avail_in = UInt32(count)
          fed += count
        }
        code = unsafe piece.withUnsafeMutableBufferPointer { piece in
          unsafe stream.pointee.next_out = piece.baseAddress
          unsafe stream.pointee.avail_out = UInt32(piece.count)
          return unsafe step(stream, fed == bytes.count)
        }
        let made = unsafe piece.count - Int(stream.pointee.avail_out)
        guard made <= limit - output.count else { throw ZlibFailure.tooLarge }
        output.append(contentsOf: piece[..<made])
      }
      guard code == Z_STREAM_END else { throw unsafe ZlibFailure.failed(reason(code, stream.pointee)) }
      return unsafe bytes.count - fed + Int(stream.pointee.avail_in)
    }
    return (output, left)
  }

  private static func reason(_ code: Int32, _ stream: z_stream) -> String {
    switch code {
    case Z_BUF_ERROR: "they end too early"
    case Z_NEED_DICT: "they need a dictionary"
    case Z_MEM_ERROR: "there is no memory"
    default: unsafe stream.msg.map { unsafe String(cString: $0) } ?? "zlib says \(code)"
    }
  }
}

extension CompressionTransformer.Format {
  /// The largest window; zlib takes 16 more as the wish for a gzip wrapper.
  fileprivate var windowBits: Int32 {
    switch self {
    case .gzip: 15 + 16
    case .zlib: 15
    }
  }
}
