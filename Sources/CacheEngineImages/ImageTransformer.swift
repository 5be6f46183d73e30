public import CacheEngine
public import Foundation

/// Turns PNG and JPEG files into pixels, and pixels into PNG or JPEG.
///
/// ```swift
/// let images = disk.transformValues(ImageTransformer(encoding: .jpeg(quality: 85)))
/// ```
///
/// Palettes, gray, 16 bits and CMYK become RGBA of 8 bits; gamma is honoured, colour profiles are not. A JPEG is turned the
/// way its Exif orientation says. A file that is cut short or damaged fails, as does one whose header announces more
/// pixels than are allowed: no memory is taken for it.
///
/// On Linux the codecs are libpng and libjpeg-turbo; on Apple platforms ImageIO.
public struct ImageTransformer: TwoWayTransformer {
  /// How images are written; both formats are always read.
  public let encoding: ImageFormat
  /// The most pixels that an image may have.
  public let maximumPixels: Int

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - encoding: How images are written.
  ///   - maximumPixels: The most pixels that an image may have. A pixel takes four bytes.
  /// - Precondition: A quality is from 1 to 100; `maximumPixels` is from 1 to 2²⁸.
  public init(encoding: ImageFormat = .png, maximumPixels: Int = 40_000_000) {
    if case .jpeg(let quality) = encoding {
      precondition((1...100).contains(quality), "the quality of a JPEG is from 1 to 100")
    }
    precondition((1...(1 << 28)).contains(maximumPixels), "the maximum is from 1 to 2²⁸ pixels")
    self.encoding = encoding
    self.maximumPixels = maximumPixels
  }

  /// Decodes a PNG or JPEG file.
  ///
  /// - Parameter input: The file.
  /// - Returns: The pixels.
  /// - Throws: `CacheError` with code `invalidCachedData` if the bytes are neither format, damaged, cut short or too many
  ///   pixels.
  @concurrent
  public func transform(_ input: Data) async throws -> PixelBuffer {
    guard let signature = ImageSignature(input) else {
      throw CacheError(.invalidCachedData, "the bytes are neither PNG nor JPEG (\(input.count) bytes)")
    }
    do {
      switch signature {
      case .png: return try PNGCodec.decode(input, maximumPixels: maximumPixels)
      case .jpeg: return try JPEGCodec.decode(input, maximumPixels: maximumPixels)
      }
    } catch let failure as ImageFailure {
      let format = signature == .png ? "PNG" : "JPEG"
      throw CacheError(
        .invalidCachedData, "the \(format) cannot be decoded, \(failure.reason) (\(input.count) bytes)")
    }
  }

  /// Encodes an image.
  ///
  /// - Parameter output: The pixels.
  /// - Returns: The file.
  /// - Throws: `CacheError` with code `encodingFailed` if there are more pixels than ``maximumPixels``, or more in a row
  ///   or column than the format takes.
  @concurrent
  public func inverseTransform(_ output: PixelBuffer) async throws -> Data {
    do {
      try ImageFailure.checkSize(width: output.width, height: output.height, maximumPixels: maximumPixels)
      switch encoding {
      case .png: return try PNGCodec.encode(output)
      case .jpeg(let quality): return try JPEGCodec.encode(output.onWhite(), quality: quality)
      }
    } catch let failure as ImageFailure {
      throw CacheError(
        .encodingFailed, "the image of \(output.width) × \(output.height) pixels cannot be encoded, \(failure.reason)")
    }
  }
}

extension PixelBuffer {
  /// The image laid on white, as every pixel being opaque.
  fileprivate func onWhite() -> PixelBuffer {
    var opaque = bytes
    for pixel in stride(from: 0, to: opaque.count, by: 4) where opaque[pixel + 3] != 255 {
      let alpha = Int(opaque[pixel + 3])
      for channel in pixel..<(pixel + 3) {
        opaque[channel] = UInt8((Int(opaque[channel]) * alpha + 255 * (255 - alpha) + 127) / 255)
      }
      opaque[pixel + 3] = 255
    }
    return PixelBuffer(width: width, height: height, bytes: opaque)
  }
}
