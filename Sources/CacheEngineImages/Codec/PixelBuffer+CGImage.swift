#if canImport(CoreGraphics)
public import CoreGraphics
import Foundation

extension PixelBuffer {
  /// The pixels of an image as Core Graphics has it, in sRGB; `nil` if it has none or too many, or if there is no memory for them.
  ///
  /// Core Graphics can only draw colours that are multiplied by alpha, so those of faint pixels lose some precision.
  ///
  /// - Parameters:
  ///   - image: The image, in any colour space and layout.
  ///   - maximumPixels: How many pixels it may have; each takes four bytes here.
  /// - Complexity: O(pixels).
  public init?(_ image: CGImage, maximumPixels: Int = 40_000_000) {
    let (width, height) = (image.width, image.height)
    guard width > 0, height > 0, height <= maximumPixels / width, let space = CGColorSpace(name: CGColorSpace.sRGB)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4 * width * height)
    let isDrawn = unsafe bytes.withUnsafeMutableBytes { raw in
      let context = unsafe CGContext(
        data: raw.baseAddress, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 4 * width,
        space: space, bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
      context?.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
      return context != nil
    }
    guard isDrawn else { return nil }
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      let alpha = Int(bytes[pixel + 3])
      guard alpha != 0 && alpha != 255 else { continue }
      for channel in pixel..<(pixel + 3) {
        bytes[channel] = UInt8(min(255, (Int(bytes[channel]) * 255 + alpha / 2) / alpha))
      }
    }
    self.init(width: width, height: height, bytes: bytes)
  }

  /// The pixels as an image that Core Graphics, UIKit, AppKit and SwiftUI draw; `nil` if there is no memory for it.
  ///
  /// - Complexity: O(pixels): they are copied.
  public var cgImage: CGImage? { cgImage(alpha: .last) }

  func cgImage(alpha: CGImageAlphaInfo) -> CGImage? {
    guard let space = CGColorSpace(name: CGColorSpace.sRGB),
      let provider = CGDataProvider(data: Data(bytes) as CFData)
    else { return nil }
    return unsafe CGImage(
      width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 4 * width, space: space,
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue), provider: provider, decode: nil, shouldInterpolate: false,
      intent: .defaultIntent)
  }
}
#endif
