// An image from the network for SwiftUI, like AsyncImage, but over any cache of pixels. This is source to copy and belongs to no target:
// it was written without an Apple machine and has never been run.
//
//     let images = try CacheProvider.imageCache()
//     CachedImage(address, from: images) { hasFailed in
//       if hasFailed { Text("There is no picture.") } else { ProgressView() }
//     }

#if canImport(SwiftUI)
import CacheEngine
import CacheEngineImages
import CoreGraphics
import Foundation
import SwiftUI

/// Shows a picture once a cache has returned it, and a placeholder until then.
struct CachedImage<Placeholder: View>: View {
  private let address: URL
  private let images: any CacheLevel<URL, PixelBuffer>
  private let scale: Double
  private let placeholder: (_ hasFailed: Bool) -> Placeholder

  @State private var picture: CGImage?
  @State private var hasFailed = false

  /// `scale`: How many pixels of the picture make a point.
  init(
    _ address: URL, from images: any CacheLevel<URL, PixelBuffer>, scale: Double = 1,
    @ViewBuilder placeholder: @escaping (_ hasFailed: Bool) -> Placeholder
  ) {
    self.address = address
    self.images = images
    self.scale = scale
    self.placeholder = placeholder
  }

  var body: some View {
    Group {
      if let picture {
        Image(decorative: picture, scale: scale).resizable().scaledToFit()
      } else {
        placeholder(hasFailed)
      }
    }
    // Cancelled when the view disappears or shows another address: the load goes on only if others wait for it.
    .task(id: address) { await load() }
  }

  private func load() async {
    (picture, hasFailed) = (nil, false)
    do {
      picture = try await images.get(address)?.cgImage
      hasFailed = picture == nil
    } catch is CancellationError {
      // Nobody is looking any more.
    } catch {
      hasFailed = true
    }
  }
}
#endif
