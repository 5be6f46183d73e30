/// How long things took: counts in buckets that grow with the duration.
///
/// Every power of two of nanoseconds is divided into 16 buckets, so that a percentile is exact to 6.25 % of itself from
/// 1 ns to 18 minutes; what takes longer counts in the last bucket. Recording costs a few nanoseconds and the size
/// is fixed.
///
/// After G. Tene, HdrHistogram (http://hdrhistogram.org), with one fixed precision.
public struct LatencyHistogram: Sendable, Equatable {
  private static let subBits = 4
  private static let bucketCount = 37 << subBits

  private var counts = [UInt64](repeating: 0, count: bucketCount)
  /// How many durations were recorded.
  public private(set) var count: UInt64 = 0
  /// The longest duration recorded.
  public private(set) var max: Duration = .zero

  /// Creates an empty histogram.
  public init() {}

  /// Counts a duration; a negative one counts as zero.
  ///
  /// - Parameter duration: What was measured.
  public mutating func record(_ duration: Duration) {
    let nanoseconds = UInt64(Swift.max(0, duration.clampedNanoseconds))
    counts[Self.bucket(of: nanoseconds)] += 1
    count += 1
    if duration > max { max = duration }
  }

  /// The duration that a share of all recorded ones does not exceed.
  ///
  /// - Parameter share: From 0 to 1; 0.99 for the 99th percentile.
  /// - Returns: The upper end of the bucket it falls into, at most ``max``; `nil` if nothing was recorded.
  public func percentile(_ share: Double) -> Duration? {
    guard count > 0 else { return nil }
    let wanted = Swift.max(1, UInt64((Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)))
    var seen: UInt64 = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if seen >= wanted { return Swift.min(.nanoseconds(Int64(Self.upperEnd(of: bucket))), max) }
    }
    return max
  }

  /// How many durations fall between two, by whole buckets.
  ///
  /// - Parameters:
  ///   - lower: The shortest duration to count.
  ///   - upper: The duration before which to stop.
  /// - Returns: The number of durations in the buckets that begin in the range.
  public func count(from lower: Duration, to upper: Duration) -> UInt64 {
    let first = Self.bucket(of: UInt64(Swift.max(0, lower.clampedNanoseconds)))
    let last = Self.bucket(of: UInt64(Swift.max(0, upper.clampedNanoseconds)))
    guard first < last else { return 0 }
    return counts[first..<last].reduce(0, +)
  }

  private static func bucket(of nanoseconds: UInt64) -> Int {
    let subCount = UInt64(1) << subBits
    guard nanoseconds >= subCount else { return Int(nanoseconds) }
    let exponent = 63 - nanoseconds.leadingZeroBitCount
    let sub = Int(nanoseconds >> (exponent - subBits)) & (Int(subCount) - 1)
    return Swift.min(((exponent - subBits + 1) << subBits) + sub, bucketCount - 1)
  }

  private static func upperEnd(of bucket: Int) -> UInt64 {
    let subCount = 1 << subBits
    guard bucket >= subCount else { return UInt64(bucket) }
    let exponent = (bucket >> subBits) + subBits - 1
    let sub = UInt64(bucket & (subCount - 1))
    let width = UInt64(1) << (exponent - subBits)
    return (UInt64(1) << exponent) + (sub + 1) * width - 1
  }
}
