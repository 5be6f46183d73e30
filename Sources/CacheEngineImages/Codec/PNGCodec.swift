#if !canImport(ImageIO)
import CPNG
import Foundation

/// PNG by the simplified interface of libpng, which hands errors back where the other one jumps.
enum PNGCodec {
  static func decode(_ data: Data, maximumPixels: Int) throws -> PixelBuffer {
    guard let data = withoutTexts(data) else { throw ImageFailure("it is damaged or ends too early") }
    var image = unsafe png_image()
    return try unsafe withUnsafeMutablePointer(to: &image) { image in
      unsafe cpng_prepare(image)
      defer { unsafe png_image_free(image) }
      return try unsafe data.withUnsafeBytes { raw in
        guard unsafe png_image_begin_read_from_memory(image, raw.baseAddress, raw.count) != 0 else {
          throw unsafe failure(image)
        }
        let width = unsafe Int(image.pointee.width)
        let height = unsafe Int(image.pointee.height)
        try ImageFailure.checkSize(width: width, height: height, maximumPixels: maximumPixels)
        unsafe image.pointee.format = cpng_rgba()
        // 16 bits without a word on gamma would be taken for linear light; other programs take them for sRGB.
        unsafe image.pointee.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
        var bytes = [UInt8](repeating: 0, count: 4 * width * height)
        let isRead = unsafe bytes.withUnsafeMutableBytes {
          unsafe png_image_finish_read(image, nil, $0.baseAddress, 0, nil) != 0
        }
        guard isRead else { throw unsafe failure(image) }
        return PixelBuffer(width: width, height: height, bytes: bytes)
      }
    }
  }

  static func encode(_ buffer: PixelBuffer) throws -> Data {
    var image = unsafe png_image()
    return try unsafe withUnsafeMutablePointer(to: &image) { image in
      unsafe cpng_prepare(image)
      defer { unsafe png_image_free(image) }
      unsafe image.pointee.width = UInt32(buffer.width)
      unsafe image.pointee.height = UInt32(buffer.height)
      unsafe image.pointee.format = cpng_rgba()
      var size = unsafe cpng_largest_size(image)
      var data = Data(count: size)
      let isWritten = unsafe data.withUnsafeMutableBytes { target in
        unsafe buffer.bytes.withUnsafeBytes { source in
          unsafe png_image_write_to_memory(image, target.baseAddress, &size, 0, source.baseAddress, 0, nil) != 0
        }
      }
      guard isWritten else { throw unsafe failure(image) }
      return data.prefix(size)
    }
  }

  /// The file without the texts in it, or `nil` if it has no end, or something damaged that libpng would go on without.
  ///
  /// libpng unpacks and keeps texts: a thousand of them, of 8 MB each. It stops at the last row, so a file without its end
  /// would pass.
  static func withoutTexts(_ data: Data) -> Data? {
    var kept = Data(data.prefix(8))
    var rest = data.dropFirst(8)
    while rest.count >= 12 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard rest.count >= 12 + length else { return nil }
      let name = Array(rest.dropFirst(4).prefix(4))
      let isText = ["tEXt", "zTXt", "iTXt"].contains { name.elementsEqual($0.utf8) }
      if !isText {
        let chunk = rest.prefix(12 + length)
        // Small letter: libpng leaves such a chunk out if it is damaged, and with it transparency or gamma.
        guard name[0] & 0x20 == 0 || isWhole(chunk) else { return nil }
        kept += chunk
      }
      if name.elementsEqual("IEND".utf8) { return kept }
      rest = rest.dropFirst(12 + length)
    }
    return nil
  }

  /// Whether a chunk has the checksum that stands at its end: CRC-32 of its name and bytes.
  private static func isWhole(_ chunk: Data) -> Bool {
    var checksum = UInt32.max
    for byte in chunk.dropFirst(4).dropLast(4) {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xedb8_8320 : checksum >> 1 }
    }
    return chunk.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } == ~checksum
  }

  private static func failure(_ image: UnsafePointer<png_image>) -> ImageFailure {
    ImageFailure(unsafe String(cString: cpng_message(image)))
  }
}
#endif
