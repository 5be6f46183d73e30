import Synchronization

/// By how much lifetimes are shortened, one after the other.
///
/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014), whose state
/// is a counter, so that many threads draw without a lock. Unchanged.
@usableFromInline
final class LifetimeJitter: Sendable {
  private let share: Double
  private let state: Atomic<UInt64>

  init(share: Double, seed: UInt64) {
    self.share = share
    state = Atomic(seed)
  }

  /// The lifetime without a part of the share.
  @usableFromInline
  func shortened(_ lifetime: Duration) -> Duration {
    let nanoseconds = lifetime.clampedNanoseconds
    // Less than one, so that what is taken away is less than what there is.
    return .nanoseconds(nanoseconds - Int64(Double(nanoseconds) * share * next()))
  }

  /// A number from 0 on, below 1.
  private func next() -> Double {
    var bits = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return Double((bits ^ bits >> 31) >> 11) * 0x1p-53
  }
}
