// An image from the network for SwiftUI, as AsyncImage is, but over any cache of pixels. Source to copy, no target: it was written
// without a machine of Apple's and has run nowhere.
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

/// Shows a picture once a cache has it, and something else until then.
struct CachedImage<Placeholder: View>: View {
  private let address: URL
  private let images: any CacheLevel<URL, PixelBuffer>
  private let scale: Double
  private let placeholder: (_ hasFailed: Bool) -> Placeholder

  @State private var picture: CGImage?
  @State private var hasFailed = false

  /// `scale`: How many pixels of the picture a point has.
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
      // Nobody looks any more.
    } catch {
      hasFailed = true
    }
  }
}
#endif
