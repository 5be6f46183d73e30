import CacheEngine
import CacheEngineTransformers
import Foundation

/// Writes PNG files of every kind, and broken ones with right checksums.
struct PNGMaker {
  var width: Int
  var height: Int
  var bitDepth: UInt8 = 8
  /// 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA.
  var colorType: UInt8
  var isInterlaced = false
  /// Chunks before the pixels.
  var chunks: [(String, [UInt8])] = []
  /// The samples of each pixel, row by row.
  var samples: [[Int]] = []

  func file() async throws -> Data {
    try await file(pixels: CompressionTransformer(.zlib).inverseTransform(Data(scanlines())))
  }

  /// The file with compressed pixels of one's own.
  func file(pixels: Data, ends: Bool = true) -> Data {
    var header: [UInt8] = []
    for side in [width, height] { header += Self.bigEndian(UInt32(side)) }
    header += [bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0]
    var file = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) + Self.chunk("IHDR", header)
    for (name, bytes) in chunks { file += Self.chunk(name, bytes) }
    file += Self.chunk("IDAT", Array(pixels))
    return ends ? file + Self.chunk("IEND", []) : file
  }

  func scanlines() -> [UInt8] {
    guard isInterlaced else { return pass(x: 0, y: 0, dx: 1, dy: 1) }
    // Adam7.
    let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    return passes.flatMap { pass(x: $0, y: $1, dx: $2, dy: $3) }
  }

  private func pass(x firstX: Int, y firstY: Int, dx: Int, dy: Int) -> [UInt8] {
    guard firstX < width else { return [] }
    return stride(from: firstY, to: height, by: dy).flatMap { y -> [UInt8] in
      var bits: [UInt8] = []
      for x in stride(from: firstX, to: width, by: dx) {
        for sample in samples[y * width + x] {
          bits += (0..<Int(bitDepth)).reversed().map { UInt8(sample >> $0 & 1) }
        }
      }
      bits += [UInt8](repeating: 0, count: (8 - bits.count % 8) % 8)
      // No filter, then eight bits a byte.
      return [0] + stride(from: 0, to: bits.count, by: 8).map { bits[$0..<($0 + 8)].reduce(0) { $0 << 1 | $1 } }
    }
  }

  static func chunk(_ name: String, _ bytes: [UInt8]) -> Data {
    let body = Array(name.utf8) + bytes
    return Data(bigEndian(UInt32(bytes.count)) + body + bigEndian(checksum(body)))
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
  }
}
