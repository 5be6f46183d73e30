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
    guard let pixels = PixelBuffer(image, maximumPixels: maximumPixels) else {
      throw ImageFailure("there is no memory")
    }
    return (pixels, orientation)
  }

  static func encode(
    _ buffer: PixelBuffer, as type: UTType, alpha: CGImageAlphaInfo, properties: [CFString: Any]
  ) throws -> Data {
    let file = NSMutableData()
    guard let image = buffer.cgImage(alpha: alpha),
      let destination = CGImageDestinationCreateWithData(file, type.identifier as CFString, 1, nil)
    else { throw ImageFailure("there is no memory") }
    CGImageDestinationAddImage(destination, image, properties as CFDictionary)
    guard CGImageDestinationFinalize(destination) else { throw ImageFailure("ImageIO refuses it") }
    return file as Data
  }
}
#endif
