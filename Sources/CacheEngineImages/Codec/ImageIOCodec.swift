#if canImport(ImageIO)
import CoreGraphics
import Foundation
import ImageIO
import UniformTypeIdentifiers

enum PNGCodec {
  static func decode(_ data: Data, maximumPixels: Int) throws -> PixelBuffer {
    try ImageIOCodec.decode(data, maximumPixels: maximumPixels).image
  }

  static func encode(_ buffer: PixelBuffer) throws -> Data {
    try ImageIOCodec.encode(buffer, as: .png, alpha: .last, properties: [:])
  }
}

enum JPEGCodec {
  static func decode(_ data: Data, maximumPixels: Int) throws -> PixelBuffer {
    let (image, orientation) = try ImageIOCodec.decode(data, maximumPixels: maximumPixels)
    return orientation.applied(to: image)
  }

  static func encode(_ buffer: PixelBuffer, quality: Int) throws -> Data {
    try ImageIOCodec.encode(
      buffer, as: .jpeg, alpha: .noneSkipLast,
      properties: [kCGImageDestinationLossyCompressionQuality: Double(quality) / 100])
  }
}

private enum ImageIOCodec {
  static func decode(
    _ data: Data, maximumPixels: Int
  ) throws -> (image: PixelBuffer, orientation: ImageOrientation) {
    guard let source = CGImageSourceCreateWithData(data as CFData, nil),
      let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
      let width = properties[kCGImagePropertyPixelWidth] as? Int,
      let height = properties[kCGImagePropertyPixelHeight] as? Int
    else { throw ImageFailure("its header is damaged") }
    try ImageFailure.checkSize(width: width, height: height, maximumPixels: maximumPixels)
    guard let image = CGImageSourceCreateImageAtIndex(source, 0, nil),
      CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete
    else { throw ImageFailure("it is damaged or ends too early") }
    let orientation = (properties[kCGImagePropertyOrientation] as? Int).flatMap(ImageOrientation.init) ?? .upright
    return (try pixels(of: image, width: width, height: height), orientation)
  }

  static func encode(
    _ buffer: PixelBuffer, as type: UTType, alpha: CGImageAlphaInfo, properties: [CFString: Any]
  ) throws -> Data {
    let file = NSMutableData()
    guard let space = CGColorSpace(name: CGColorSpace.sRGB),
      let provider = CGDataProvider(data: Data(buffer.bytes) as CFData),
      let image = CGImage(
        width: buffer.width, height: buffer.height, bitsPerComponent: 8, bitsPerPixel: 32,
        bytesPerRow: 4 * buffer.width, space: space, bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue),
        provider: provider, decode: nil, shouldInterpolate: false, intent: .defaultIntent),
      let destination = CGImageDestinationCreateWithData(file, type.identifier as CFString, 1, nil)
    else { throw ImageFailure("there is no memory") }
    CGImageDestinationAddImage(destination, image, properties as CFDictionary)
    guard CGImageDestinationFinalize(destination) else { throw ImageFailure("ImageIO refuses it") }
    return file as Data
  }

  // A context can only draw colours that are multiplied by alpha, so those of faint pixels lose some precision.
  private static func pixels(of image: CGImage, width: Int, height: Int) throws -> PixelBuffer {
    guard let space = CGColorSpace(name: CGColorSpace.sRGB) else { throw ImageFailure("there is no memory") }
    var bytes = [UInt8](repeating: 0, count: 4 * width * height)
    let isDrawn = unsafe bytes.withUnsafeMutableBytes { raw in
      let context = unsafe CGContext(
        data: raw.baseAddress, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 4 * width,
        space: space, bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
      context?.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
      return context != nil
    }
    guard isDrawn else { throw ImageFailure("there is no memory") }
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      let alpha = Int(bytes[pixel + 3])
      guard alpha != 0 && alpha != 255 else { continue }
      for channel in pixel..<(pixel + 3) {
        bytes[channel] = UInt8(min(255, (Int(bytes[channel]) * 255 + alpha / 2) / alpha))
      }
    }
    return PixelBuffer(width: width, height: height, bytes: bytes)
  }
}
#endif
