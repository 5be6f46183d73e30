/// How long things took: counts in buckets that grow with the duration.
///
/// Every power of two of nanoseconds is divided into 16 buckets. A percentile is therefore never too low, and too high by
/// less than 1/16 (6.25 %) of itself, from 1 ns to 18 minutes; what takes longer counts in the last bucket. ``count``,
/// ``sum`` and ``max`` are exact. Recording costs a few nanoseconds and the size is fixed from the first duration on.
///
/// After G. Tene, HdrHistogram (http://hdrhistogram.org), with one fixed precision.
public struct LatencyHistogram: Sendable, Equatable {
  private static let subBits = 4
  private static let bucketCount = 37 << subBits

  /// Empty until something was recorded.
  private var counts: [UInt64] = []
  /// How many durations were recorded.
  public private(set) var count: UInt64 = 0
  /// The longest duration recorded, to the nanosecond; held at 292 years.
  public var max: Duration { .nanoseconds(longest) }
  private var longest: Int64 = 0
  private var totalNanoseconds: Int64 = 0
  /// The sum of all durations; 292 years at most, where it would overflow.
  public var sum: Duration { .nanoseconds(totalNanoseconds) }

  /// Creates an empty histogram.
  public init() {}

  /// Counts a duration; a negative one counts as zero.
  ///
  /// - Parameter duration: What was measured.
  public mutating func record(_ duration: Duration) { record(nanoseconds: duration.clampedNanoseconds) }

  mutating func record(nanoseconds: Int64, times: Int = 1) {
    guard times > 0 else { return }
    let nanoseconds = Swift.max(0, nanoseconds)
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
    counts[Self.bucket(of: UInt64(nanoseconds))] &+= UInt64(times)
    count &+= UInt64(times)
    let (all, overflow) = nanoseconds.multipliedReportingOverflow(by: Int64(times))
    totalNanoseconds = Self.sum(totalNanoseconds, overflow ? .max : all)
    longest = Swift.max(longest, nanoseconds)
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

  /// How many durations were at most so long, for each of several bounds: the cumulative buckets of a Prometheus histogram.
  ///
  /// ```swift
  /// let bounds: [Duration] = [.milliseconds(1), .milliseconds(10), .milliseconds(100)]
  /// for (bound, count) in zip(bounds, histogram.counts(upTo: bounds)) { print("le=\(bound)", count) }
  /// ```
  ///
  /// Every bound is rounded up to the end of its bucket, so durations count that exceed it by less than 1/16 of it.
  ///
  /// - Parameter bounds: Durations, in any order.
  /// - Returns: As many counts, in the same order; greater bounds never have smaller counts.
  public func counts(upTo bounds: [Duration]) -> [UInt64] {
    var sums: [UInt64] = []
    var sum: UInt64 = 0
    for count in counts {
      sum &+= count
      sums.append(sum)
    }
    return bounds.map { bound in
      guard bound >= .zero, !sums.isEmpty else { return 0 }
      return bound >= max ? count : sums[Self.bucket(of: UInt64(bound.clampedNanoseconds))]
    }
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
    left.totalNanoseconds = sum(left.totalNanoseconds, right.totalNanoseconds)
    left.longest = Swift.max(left.longest, right.longest)
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
    new.totalNanoseconds = totalNanoseconds - Swift.min(earlier.totalNanoseconds, totalNanoseconds)
    new.longest = longest
    guard longest == earlier.longest, let last = new.counts.lastIndex(where: { $0 > 0 }), last < Self.bucketCount - 1
    else { return new }
    new.longest = Swift.min(Int64(Self.upperEnd(of: last)), longest)
    return new
  }

  /// The buckets in which there is something: the middle of their durations, and how many.
  package var buckets: [(middle: Duration, count: UInt64)] {
    counts.enumerated().compactMap { number, count in
      guard count > 0 else { return nil }
      let (first, end) = (Self.lowerEnd(of: number), Self.upperEnd(of: number))
      return (.nanoseconds(Int64(first + (end - first) / 2)), count)
    }
  }

  private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
    let (sum, overflow) = first.addingReportingOverflow(second)
    return overflow ? .max : sum
  }

  private static func bucket(of nanoseconds: UInt64) -> Int {
    let subCount = UInt64(1) << subBits
    guard nanoseconds >= subCount else { return Int(nanoseconds) }
    let exponent = 63 - nanoseconds.leadingZeroBitCount
    let sub = Int(nanoseconds >> (exponent - subBits)) & (Int(subCount) - 1)
    return Swift.min(((exponent - subBits + 1) << subBits) + sub, bucketCount - 1)
  }

  private static func lowerEnd(of bucket: Int) -> UInt64 { bucket == 0 ? 0 : upperEnd(of: bucket - 1) + 1 }

  private static func upperEnd(of bucket: Int) -> UInt64 {
    let subCount = 1 << subBits
    guard bucket >= subCount else { return UInt64(bucket) }
    let exponent = (bucket >> subBits) + subBits - 1
    let sub = UInt64(bucket & (subCount - 1))
    let width = UInt64(1) << (exponent - subBits)
    return (UInt64(1) << exponent) + (sub + 1) * width - 1
  }
}

/// Only the buckets in use: their numbers and counts in turns; times in nanoseconds.
extension LatencyHistogram: Codable {
  private enum CodingKeys: CodingKey { case max, sum, buckets }

  /// Reads a histogram as ``encode(to:)`` writes it.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    longest = try fields.decode(Int64.self, forKey: .max)
    totalNanoseconds = Swift.max(0, try fields.decode(Int64.self, forKey: .sum))
    let numbers = try fields.decode([Int].self, forKey: .buckets)
    counts = Array(repeating: 0, count: Self.bucketCount)
    for place in stride(from: 0, to: numbers.count - 1, by: 2) {
      let (bucket, added) = (numbers[place], numbers[place + 1])
      guard counts.indices.contains(bucket), (1...CountName.most).contains(added) else {
        throw DecodingError.dataCorruptedError(
          forKey: .buckets, in: fields, debugDescription: "there is no bucket \(bucket) with \(added)")
      }
      counts[bucket] &+= UInt64(added)
      count &+= UInt64(added)
    }
    guard let last = counts.lastIndex(where: { $0 > 0 }) else {
      self = LatencyHistogram()
      return
    }
    // Nor is what lies outside of the last bucket believed.
    let end = last < Self.bucketCount - 1 ? Int64(Self.upperEnd(of: last)) : .max
    longest = Swift.min(Swift.max(longest, Int64(Self.lowerEnd(of: last))), end)
  }

  /// Writes the longest duration, the sum of all, and the buckets in use.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(longest, forKey: .max)
    try fields.encode(totalNanoseconds, forKey: .sum)
    try fields.encode(
      counts.enumerated().flatMap { $1 > 0 ? [$0, Int(clamping: $1)] : [] }, forKey: .buckets)
  }
}
