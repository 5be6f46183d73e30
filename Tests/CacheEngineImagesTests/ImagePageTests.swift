import CacheEngine
import CacheEngineImages
import CacheEngineProviders
import Foundation

/// The code of the product's first page, which `PagesTests` finds here.
///
/// Only compiled: it would ask the network.
func thumbnailAsThePageSays(url: URL) async throws -> PixelBuffer? {
  // Article
  let images = try CacheProvider.imageCache()
  let thumbnails = MemoryCacheLevel<URL, PixelBuffer>(countLimit: 500)
    .compose(images.postProcess(ResizeTransformer(width: 64, height: 64)).pooled())
  let thumbnail = try await thumbnails.get(url)
  // end
  return thumbnail
}
