public import CacheEngine

/// An image as its pixels.
///
/// Rows run from the top, pixels from the left; a pixel is four bytes: red, green, blue and alpha, in sRGB. Colours are not
/// multiplied by alpha.
public struct PixelBuffer: Equatable, Sendable {
  /// How many pixels a row has.
  public let width: Int
  /// How many rows there are.
  public let height: Int
  /// Four bytes for each pixel.
  public let bytes: [UInt8]

  /// Creates an image.
  ///
  /// - Parameters:
  ///   - width: How many pixels a row has.
  ///   - height: How many rows there are.
  ///   - bytes: Red, green, blue and alpha of each pixel.
  /// - Precondition: `width` and `height` are positive, and there are `4 * width * height` bytes.
  public init(width: Int, height: Int, bytes: [UInt8]) {
    precondition(width > 0 && height > 0, "an image has at least one pixel")
    precondition(bytes.count / 4 / width == height && bytes.count % (4 * width) == 0, "a pixel is four bytes")
    self.width = width
    self.height = height
    self.bytes = bytes
  }
}

extension PixelBuffer: CostRepresentable {
  /// The number of bytes.
  public var cost: Int { bytes.count }
}
