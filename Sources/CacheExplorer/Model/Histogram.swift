/// How often what latency occurred: sixteen steps for each doubling, so that a percentile is off by 3 % at most.
struct Histogram: Sendable {
  private static let steps = 16
  private static let size = 640

  private(set) var count = 0
  private(set) var longest: Int64 = 0
  private var counts: [UInt32] = []

  mutating func add(nanoseconds: Int64) {
    let value = max(0, nanoseconds)
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.size) }
    counts[Self.index(of: value)] &+= 1
    count += 1
    longest = max(longest, value)
  }

  /// The latency that this share of the measurements does not exceed; `nil` before the first one.
  func percentile(_ share: Double) -> Int64? {
    guard count > 0 else { return nil }
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (index, number) in counts.enumerated() where number > 0 {
      seen += Int(number)
      if seen >= rank { return min(longest, Self.middle(of: index)) }
    }
    return longest
  }

  /// Counts in columns of equal width on a logarithmic axis; what lies outside goes into the outermost ones.
  func columns(_ number: Int, decades: Int, from lowest: Int64) -> [Int] {
    var result = Array(repeating: 0, count: max(1, number))
    let doublings = Double(decades) * 3.321928094887362
    for (index, count) in counts.enumerated() where count > 0 {
      let position = Self.log2(Self.middle(of: index)) - Self.log2(lowest)
      let column = Int(position / doublings * Double(number))
      result[min(max(0, column), result.count - 1)] += Int(count)
    }
    return result
  }

  private static func index(of value: Int64) -> Int {
    guard value >= steps else { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    return min(size - 1, (exponent - 3) * steps + Int(value >> (exponent - 4)) % steps)
  }

  private static func middle(of index: Int) -> Int64 {
    guard index >= steps else { return Int64(index) }
    let width = Int64(1) << (index / steps - 1)
    return (Int64(steps) + Int64(index % steps)) * width + width / 2
  }

  /// Straight between powers of two: near enough to place a column, and free of the C library.
  private static func log2(_ value: Int64) -> Double {
    guard value > 0 else { return 0 }
    let exponent = 63 - value.leadingZeroBitCount
    return Double(exponent) + Double(value) / Double(Int64(1) << exponent) - 1
  }
}
