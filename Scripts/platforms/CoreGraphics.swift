// What the bridge between PixelBuffer and CGImage uses of Core Graphics. CGRect is in Foundation here.
@_exported public import Foundation

public final class CGColorSpace: Sendable {
  public static let sRGB = "kCGColorSpaceSRGB"
  public init?(name: String) {}
}

public final class CGDataProvider: Sendable {
  public init?(data: Data) {}
}

public enum CGImageAlphaInfo: UInt32, Sendable {
  case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst, alphaOnly
}

public enum CGColorRenderingIntent: Int32, Sendable { case defaultIntent }

public struct CGBitmapInfo: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public final class CGImage: Sendable {
  public let width = 0
  public let height = 0

  public init?(
    width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
    bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
    intent: CGColorRenderingIntent
  ) {}
}

public final class CGContext {
  public init?(
    data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
    space: CGColorSpace, bitmapInfo: UInt32
  ) {}

  public func draw(_ image: CGImage, in rect: CGRect) {}
}
