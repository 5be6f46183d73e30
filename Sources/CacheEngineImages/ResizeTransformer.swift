public import CacheEngine

/// Scales images so that they just fit into a box.
///
/// The proportions stay, and each side has at least one pixel. A pixel of a smaller image is the mean of the area that it
/// covers; of a larger one, a blend of its neighbours. Both weigh colours by alpha, so that what is transparent does not
/// shine through.
public struct ResizeTransformer: OneWayTransformer {
  /// The width of the box, in pixels.
  public let width: Int
  /// The height of the box, in pixels.
  public let height: Int

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - width: The width of the box.
  ///   - height: The height of the box.
  /// - Precondition: Both are positive and the box has at most 2²⁸ pixels.
  public init(width: Int, height: Int) {
    precondition(width > 0 && height > 0 && (1 << 28) / width >= height, "a box has from 1 to 2²⁸ pixels")
    self.width = width
    self.height = height
  }

  /// Scales an image.
  ///
  /// - Parameter input: The image.
  /// - Returns: The image in its new size.
  @concurrent
  public func transform(_ input: PixelBuffer) async -> PixelBuffer { input.resized(toFit: (width, height)) }
}

extension OneWayTransformer where Output == PixelBuffer {
  /// Scales the images that this transformer gives so that they just fit into a box.
  ///
  /// ```swift
  /// let thumbnails = ImageTransformer().resized(toFit: (width: 64, height: 64))
  /// ```
  ///
  /// - Parameter box: The largest width and height.
  /// - Returns: Both as one.
  /// - Precondition: Both are positive and the box has at most 2²⁸ pixels.
  public func resized(toFit box: (width: Int, height: Int)) -> OneWayTransformationBox<Input, PixelBuffer> {
    compose(ResizeTransformer(width: box.width, height: box.height))
  }
}

extension PixelBuffer {
  /// The image, scaled so that it just fits into a box; see ``ResizeTransformer``.
  ///
  /// - Parameter box: The width and height of the box.
  /// - Returns: The image in its new size; itself if it has that size already.
  /// - Precondition: Both are positive and the box has at most 2²⁸ pixels.
  public func resized(toFit box: (width: Int, height: Int)) -> PixelBuffer {
    let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
    let newWidth = min(box.width, max(1, Int((Double(width) * scale).rounded())))
    let newHeight = min(box.height, max(1, Int((Double(height) * scale).rounded())))
    guard (newWidth, newHeight) != (width, height) else { return self }
    let columns = Taps.all(from: width, to: newWidth)
    let rows = Taps.all(from: height, to: newHeight)

    // Rows of the source, narrowed or widened; kept only while a row of the result may need them.
    var scaled: [Int: [SIMD4<Float>]] = [:]
    var result: [UInt8] = []
    result.reserveCapacity(4 * newWidth * newHeight)
    for row in rows {
      let needed = row.first..<(row.first + row.weights.count)
      scaled = scaled.filter { needed.contains($0.key) }
      var sums = [SIMD4<Float>](repeating: .zero, count: newWidth)
      for (y, weight) in zip(needed, row.weights) {
        let line = scaled[y] ?? self.line(y, by: columns)
        scaled[y] = line
        for x in 0..<newWidth { sums[x] += line[x] * weight }
      }
      for sum in sums { result.append(contentsOf: Self.bytes(of: sum)) }
    }
    return PixelBuffer(width: newWidth, height: newHeight, bytes: result)
  }

  /// A row, scaled to the new width, with its colours multiplied by alpha.
  private func line(_ y: Int, by columns: [Taps]) -> [SIMD4<Float>] {
    let start = 4 * width * y
    let pixels = (0..<width).map { x in
      let pixel = start + 4 * x
      let alpha = Float(bytes[pixel + 3])
      return SIMD4(Float(bytes[pixel]), Float(bytes[pixel + 1]), Float(bytes[pixel + 2]), 255) * (alpha / 255)
    }
    return columns.map { column in
      column.weights.indices.reduce(into: SIMD4<Float>.zero) { sum, tap in
        sum += pixels[column.first + tap] * column.weights[tap]
      }
    }
  }

  private static func bytes(of premultiplied: SIMD4<Float>) -> [UInt8] {
    let alpha = premultiplied.w
    guard alpha >= 0.5 else { return [0, 0, 0, 0] }
    var pixel = premultiplied * (255 / alpha)
    pixel.w = alpha
    let whole = pixel.rounded(.toNearestOrAwayFromZero).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
    return [UInt8(whole.x), UInt8(whole.y), UInt8(whole.z), UInt8(whole.w)]
  }
}

/// The neighbouring places of a row or column that make up one new place, with their shares.
private struct Taps {
  var first: Int
  var weights: [Float]

  static func all(from source: Int, to target: Int) -> [Taps] {
    let step = Double(source) / Double(target)
    return (0..<target).map { step > 1 ? area(at: $0, step: step, source) : blend(at: $0, step: step, source) }
  }

  /// How much of each place lies below the new one.
  private static func area(at index: Int, step: Double, _ source: Int) -> Taps {
    let lower = Double(index) * step
    let upper = min(lower + step, Double(source))
    let places = Int(lower)...min(source - 1, max(Int(lower), Int(upper.rounded(.up)) - 1))
    let shares = places.map { max(0, min(upper, Double($0 + 1)) - max(lower, Double($0))) }
    let whole = shares.reduce(0, +)
    return Taps(first: places.lowerBound, weights: shares.map { Float($0 / whole) })
  }

  /// How near the two places around the middle of the new one are.
  private static func blend(at index: Int, step: Double, _ source: Int) -> Taps {
    let middle = min(max((Double(index) + 0.5) * step - 0.5, 0), Double(source - 1))
    let first = min(Int(middle), source - 1)
    guard first + 1 < source else { return Taps(first: first, weights: [1]) }
    let share = Float(middle - Double(first))
    return Taps(first: first, weights: [1 - share, share])
  }
}
