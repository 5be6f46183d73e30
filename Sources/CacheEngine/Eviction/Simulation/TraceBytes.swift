internal import CZlib

/// The bytes of a trace file, piece by piece; zlib unpacks what is packed and hands on what is not.
enum TraceBytes {
  private static let pieceSize = 1 << 16

  static func forEachPiece(of path: String, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
    guard let file = unsafe gzopen(path, "rb") else {
      throw CacheError(
        .invalidTrace, "\(path): \(SystemFailure("open").text); give the path of a file that can be read")
    }
    defer { unsafe gzclose_r(file) }
    unsafe gzbuffer(file, UInt32(pieceSize))
    var piece = [UInt8](repeating: 0, count: pieceSize)
    while true {
      let count = unsafe gzread(file, &piece, UInt32(piece.count))
      guard count > 0 else {
        var code = Z_OK
        let reason = unsafe gzerror(file, &code).map { unsafe String(cString: $0) } ?? "zlib says \(code)"
        guard count < 0 || code != Z_OK else { return }
        throw CacheError(.invalidTrace, "\(path) cannot be unpacked (\(reason)); check it with gzip -t")
      }
      try body(piece[..<Int(count)])
    }
  }

  /// Little-endian numbers of so many bytes.
  static func forEachNumber(of path: String, width: Int, _ body: (UInt32) -> Void) throws {
    var number: UInt32 = 0
    var filled = 0
    try forEachPiece(of: path) { piece in
      for byte in piece {
        number |= UInt32(byte) << UInt32(8 * filled)
        filled += 1
        guard filled == width else { continue }
        body(number)
        (number, filled) = (0, 0)
      }
    }
    guard filled == 0 else {
      throw CacheError(
        .invalidTrace,
        "\(path) ends in the middle of a number of \(width * 8) bits; it was cut off, or is of another format")
    }
  }

  /// The lines of a text, without what ends them, numbered from 1.
  static func forEachLine(of path: String, _ body: (_ line: ArraySlice<UInt8>, _ number: Int) throws -> Void) throws {
    var rest: [UInt8] = []
    var number = 0
    func emit(_ line: ArraySlice<UInt8>) throws {
      number += 1
      try body(line.last == UInt8(ascii: "\r") ? line.dropLast() : line, number)
    }
    try forEachPiece(of: path) { piece in
      var piece = piece
      while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
        if rest.isEmpty {
          try emit(piece[..<end])
        } else {
          rest += piece[..<end]
          try emit(rest[...])
          rest = []
        }
        piece = piece[(end + 1)...]
      }
      rest += piece
      guard rest.count <= pieceSize else {
        throw CacheError(
          .invalidTrace, "\(path), line \(number + 1) is longer than \(pieceSize) bytes; write a key on each line")
      }
    }
    if !rest.isEmpty { try emit(rest[...]) }
  }
}
