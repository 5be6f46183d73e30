public import CacheEngine
public import CacheEngineProviders
public import Foundation

extension CacheProvider {
  /// Makes a cache of images by address: pixels in memory, and on the disk the bytes as they arrived.
  ///
  /// - Parameters:
  ///   - transformer: Turns bytes into pixels.
  ///   - configuration: Where it stores data, and how much of it.
  /// - Returns: A new cache.
  /// - Throws: As ``CacheEngine/CacheProvider/dataCache(_:)``.
  public static func imageCache(
    _ transformer: ImageTransformer = ImageTransformer(), _ configuration: Configuration = Configuration()
  ) throws -> BasicCache<URL, PixelBuffer> {
    try cache(named: "images", transforming: transformer, configuration) { $0.cost }
  }

  /// Makes a cache of images by address with the default transformer.
  ///
  /// - Parameter configuration: Where it stores data, and how much of it.
  /// - Returns: A new cache.
  /// - Throws: As ``CacheEngine/CacheProvider/dataCache(_:)``.
  public static func imageCache(_ configuration: Configuration) throws -> BasicCache<URL, PixelBuffer> {
    try imageCache(ImageTransformer(), configuration)
  }

  /// The cache of images by address that everyone shares.
  ///
  /// - Throws: As ``CacheEngine/CacheProvider/dataCache(_:)``, when it is made. The next call tries again.
  public static var sharedImageCache: BasicCache<URL, PixelBuffer> {
    get throws { try shared(named: "images") { try imageCache(ImageTransformer(), $0) } }
  }
}
