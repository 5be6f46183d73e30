import CacheEngine

/// Random numbers that are the same for the same seed, in every run and on every machine.
///
/// SplitMix64, after G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. Not
/// for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline var state: UInt64

  /// Creates a generator.
  ///
  /// - Parameter seed: Any number; each gives numbers of its own.
  @inlinable
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  @inlinable
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
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
