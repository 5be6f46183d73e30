#if !canImport(ImageIO)
import CTurboJPEG
import Foundation

/// JPEG by TurboJPEG, which hands errors back where libjpeg jumps.
enum JPEGCodec {
  /// From here on, the colours are kept at full size.
  private static let fineQuality = 90

  static func decode(_ data: Data, maximumPixels: Int) throws -> PixelBuffer {
    guard let decoder = unsafe tjInitDecompress() else { throw ImageFailure("there is no memory") }
    defer { unsafe tjDestroy(decoder) }
    let image = try unsafe data.withUnsafeBytes { raw in
      let file = unsafe raw.assumingMemoryBound(to: UInt8.self)
      var (width, height, subsampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
      let isKnown = unsafe tjDecompressHeader3(
        decoder, file.baseAddress, UInt(file.count), &width, &height, &subsampling, &space)
      guard isKnown == 0 else { throw unsafe failure(decoder) }
      try ImageFailure.checkSize(width: Int(width), height: Int(height), maximumPixels: maximumPixels)
      let isCMYK = space == Int32(TJCS_CMYK.rawValue) || space == Int32(TJCS_YCCK.rawValue)
      let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
      var bytes = [UInt8](repeating: 0, count: 4 * Int(width) * Int(height))
      // A file that is cut short is worth a warning to libjpeg, which fills up with gray. A progressive one may have
      // so many scans that decoding it takes minutes.
      let flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS | TJFLAG_ACCURATEDCT
      let isRead = unsafe bytes.withUnsafeMutableBufferPointer {
        unsafe tjDecompress2(
          decoder, file.baseAddress, UInt(file.count), $0.baseAddress, width, 0, height, Int32(format.rawValue), flags
        )
      }
      guard isRead == 0 else { throw unsafe failure(decoder) }
      if isCMYK { replaceCMYK(&bytes) }
      return PixelBuffer(width: Int(width), height: Int(height), bytes: bytes)
    }
    return JPEGMarkers(data).orientation.applied(to: image)
  }

  static func encode(_ buffer: PixelBuffer, quality: Int) throws -> Data {
    // The most that the format's two bytes hold, less what libjpeg keeps for itself.
    guard max(buffer.width, buffer.height) <= 65_500 else { throw ImageFailure("a side of a JPEG has at most 65500") }
    guard let encoder = unsafe tjInitCompress() else { throw ImageFailure("there is no memory") }
    defer { unsafe tjDestroy(encoder) }
    let subsampling = Int32((quality >= fineQuality ? TJSAMP_444 : TJSAMP_420).rawValue)
    var size = tjBufSize(Int32(buffer.width), Int32(buffer.height), subsampling)
    var data = Data(count: Int(size))
    let isWritten = unsafe data.withUnsafeMutableBytes { raw in
      var target = unsafe raw.assumingMemoryBound(to: UInt8.self).baseAddress
      return unsafe buffer.bytes.withUnsafeBufferPointer { source in
        unsafe tjCompress2(
          encoder, source.baseAddress, Int32(buffer.width), 0, Int32(buffer.height), Int32(TJPF_RGBX.rawValue),
          &target, &size, subsampling, Int32(quality), TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT)
      }
    }
    guard isWritten == 0 else { throw unsafe failure(encoder) }
    return data.prefix(Int(size))
  }

  // Programs that write CMYK follow Adobe and store what is left of the paper, not the ink.
  private static func replaceCMYK(_ bytes: inout [UInt8]) {
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      let black = Int(bytes[pixel + 3])
      for channel in pixel..<(pixel + 3) { bytes[channel] = UInt8((Int(bytes[channel]) * black + 127) / 255) }
      bytes[pixel + 3] = 255
    }
  }

  private static func failure(_ handle: tjhandle) -> ImageFailure {
    ImageFailure(unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? "the reason is unknown")
  }
}
#endif
