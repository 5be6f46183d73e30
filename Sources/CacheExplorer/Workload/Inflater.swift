import CZlib

/// Unpacks gzip piece by piece, one member after the other.
///
/// It belongs to one task at a time.
@safe final class Inflater {
  private static let pieceSize = 64 << 10

  // zlib keeps the address of its stream and refuses another.
  private let stream: UnsafeMutablePointer<z_stream>
  private(set) var isAtEndOfMember = false

  init() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 16 more than the largest window wants a gzip wrapper.
    let code = unsafe czlib_inflate_init(stream, 15 + 16)
    precondition(code == Z_OK, "there is no memory for zlib")
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deinitialize(count: 1)
    unsafe stream.deallocate()
  }

  /// Unpacks what has come; `nil` if that is not gzip.
  func unpack(_ input: [UInt8]) -> [UInt8]? {
    var input = input
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    let isGood = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe stream.pointee.next_in = input.baseAddress
      unsafe stream.pointee.avail_in = UInt32(input.count)
      while true {
        if isAtEndOfMember {
          guard unsafe stream.pointee.avail_in > 0 else { return true }
          guard unsafe inflateReset(stream) == Z_OK else { return false }
          isAtEndOfMember = false
        }
        let (code, made) = unsafe piece.withUnsafeMutableBufferPointer { piece in
          unsafe stream.pointee.next_out = piece.baseAddress
          unsafe stream.pointee.avail_out = UInt32(piece.count)
          let code = unsafe inflate(stream, Z_NO_FLUSH)
          return unsafe (code, piece.count - Int(stream.pointee.avail_out))
        }
        output += piece[..<made]
        switch code {
        case Z_STREAM_END: isAtEndOfMember = true
        // Z_BUF_ERROR means that there is nothing left to do with what has come.
        case Z_OK, Z_BUF_ERROR: if unsafe stream.pointee.avail_in == 0, made < piece.count { return true }
        default: return false
        }
      }
    }
    return isGood ? output : nil
  }
}
