/// How long things took: counts in buckets that grow with the duration.
///
/// Every power of two of nanoseconds is divided into 16 buckets, so that a percentile is exact to 6.25 % of itself from
/// 1 ns to 18 minutes; what takes longer counts in the last bucket. Recording costs a few nanoseconds and the size
/// is fixed from the first duration on.
///
/// After G. Tene, HdrHistogram (http://hdrhistogram.org), with one fixed precision.
public struct LatencyHistogram: Sendable, Equatable {
  private static let subBits = 4
  private static let bucketCount = 37 << subBits

  /// Empty until something was recorded.
  private var counts: [UInt64] = []
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
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
    counts[Self.bucket(of: nanoseconds)] &+= 1
    count &+= 1
    if duration > max { max = duration }
  }

  /// The duration that a share of all recorded ones does not exceed.
  ///
  /// - Parameter share: From 0 to 1; 0.99 for the 99th percentile.
  /// - Returns: The upper end of the bucket it falls into, at most ``max``; `nil` if nothing was recorded, or if the share
  ///   is not a number.
  public func percentile(_ share: Double) -> Duration? {
    guard count > 0, !share.isNaN else { return nil }
    let wanted = Swift.max(1, UInt64((Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)))
    var seen: UInt64 = 0
    for (bucket, number) in counts.enumerated() {
      seen &+= number
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
    guard first < last, !counts.isEmpty else { return 0 }
    return counts[first..<last].reduce(0, &+)
  }

  /// Adds what another histogram recorded.
  public static func += (left: inout LatencyHistogram, right: LatencyHistogram) {
    guard right.count > 0 else { return }
    if left.counts.isEmpty {
      left.counts = right.counts
    } else {
      for bucket in right.counts.indices { left.counts[bucket] &+= right.counts[bucket] }
    }
    left.count &+= right.count
    left.max = Swift.max(left.max, right.max)
  }

  /// What was recorded since an earlier state of this histogram.
  ///
  /// Its ``max`` is exact if it is the longest of all; else it is the upper end of the longest one's bucket.
  ///
  /// - Parameter earlier: The same histogram at an earlier moment.
  /// - Returns: A histogram of the durations that were recorded in between.
  public func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
    guard earlier.count > 0 else { return self }
    var new = LatencyHistogram()
    guard count > earlier.count else { return new }
    new.counts = zip(counts, earlier.counts).map { $0 > $1 ? $0 - $1 : 0 }
    new.count = new.counts.reduce(0, &+)
    guard max == earlier.max, let longest = new.counts.lastIndex(where: { $0 > 0 }) else {
      new.max = max
      return new
    }
    new.max = longest == Self.bucketCount - 1 ? max : Swift.min(.nanoseconds(Int64(Self.upperEnd(of: longest))), max)
    return new
  }

  /// The buckets in which there is something: their numbers, the middle of their durations, and how many.
  package var buckets: [(number: Int, middle: Duration, count: UInt64)] {
    counts.enumerated().compactMap { number, count in
      guard count > 0 else { return nil }
      let end = Self.upperEnd(of: number)
      let first = number == 0 ? 0 : Self.upperEnd(of: number - 1) + 1
      return (number, .nanoseconds(Int64(first + (end - first) / 2)), count)
    }
  }

  /// The histogram with these ``buckets``; `nil` if there are none with such numbers.
  package init?(buckets: [(number: Int, count: UInt64)], max: Duration) {
    for (number, added) in buckets {
      guard (0..<Self.bucketCount).contains(number) else { return nil }
      if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
      counts[number] &+= added
      count &+= added
    }
    self.max = max
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
