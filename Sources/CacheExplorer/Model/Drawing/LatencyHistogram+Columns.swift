import CacheEngine

extension LatencyHistogram {
  /// The latency that this share of the measurements does not exceed, in nanoseconds; `nil` before the first one.
  package func nanoseconds(_ share: Double) -> Int64? { percentile(share)?.clampedNanoseconds }

  /// In nanoseconds; `nil` before the first one.
  package var longest: Int64? { count > 0 ? max.clampedNanoseconds : nil }

  /// Counts in columns of equal width on a logarithmic axis; what lies outside goes into the outermost ones.
  package func columns(_ number: Int, decades: Int, from lowest: Int64) -> [Int] {
    var result = Array(repeating: 0, count: Swift.max(1, number))
    let doublings = Double(decades) * 3.321928094887362
    for bucket in buckets {
      let position = Self.log2(bucket.middle.clampedNanoseconds) - Self.log2(lowest)
      let column = Int(position / doublings * Double(number))
      result[min(Swift.max(0, column), result.count - 1)] += Int(clamping: bucket.count)
    }
    return result
  }

  /// Straight between powers of two: near enough to place a column, and free of the C library.
  private static func log2(_ value: Int64) -> Double {
    guard value > 0 else { return 0 }
    let exponent = 63 - value.leadingZeroBitCount
    return Double(exponent) + Double(value) / Double(Int64(1) << exponent) - 1
  }
}
