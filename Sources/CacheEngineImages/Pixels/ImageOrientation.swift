/// How a camera was held: the eight values of the Exif tag.
enum ImageOrientation: Int {
  case upright = 1
  case mirrored
  case upsideDown
  case mirroredUpsideDown
  case transposed
  case turnedLeft
  case transversed
  case turnedRight

  /// Whether rows become columns.
  private var isAcross: Bool { rawValue >= 5 }

  /// The image as it was seen.
  func applied(to image: PixelBuffer) -> PixelBuffer {
    guard self != .upright else { return image }
    let width = isAcross ? image.height : image.width
    let height = isAcross ? image.width : image.height
    let right = image.width - 1
    let bottom = image.height - 1
    var bytes: [UInt8] = []
    bytes.reserveCapacity(image.bytes.count)
    for y in 0..<height {
      for x in 0..<width {
        let (column, row) =
          switch self {
          case .upright: (x, y)
          case .mirrored: (right - x, y)
          case .upsideDown: (right - x, bottom - y)
          case .mirroredUpsideDown: (x, bottom - y)
          case .transposed: (y, x)
          case .turnedLeft: (y, bottom - x)
          case .transversed: (right - y, bottom - x)
          case .turnedRight: (right - y, x)
          }
        let pixel = 4 * (row * image.width + column)
        bytes.append(contentsOf: image.bytes[pixel..<(pixel + 4)])
      }
    }
    return PixelBuffer(width: width, height: height, bytes: bytes)
  }
}
