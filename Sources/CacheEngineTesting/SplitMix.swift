import CacheEngine

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to below 1.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

  mutating func integer(in range: ClosedRange<Int>) -> Int {
    let (width, overflow) = UInt64(range.upperBound - range.lowerBound).addingReportingOverflow(1)
    return overflow ? range.lowerBound : range.lowerBound + Int(next().multipliedFullWidth(by: width).high)
  }

  mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let (least, most) = (range.lowerBound.clampedNanoseconds, range.upperBound.clampedNanoseconds)
    return .nanoseconds(integer(in: Int(least)...Int(most)))
  }
}
