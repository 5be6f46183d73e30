#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When an entry stops counting.
///
/// It is fixed as a deadline at the moment of the store.
/// At its deadline an entry is expired: a lifetime of zero, or a negative one, is over at once. Durations beyond
/// 292 years are taken as 292 years.
public enum Expiry: Sendable, Equatable {
  /// Never.
  case never
  /// When this much time has passed since the store.
  case after(Duration)
  /// At this date of the wall clock, as it stands at the moment of the store.
  case date(Date)
  /// At this instant of the level's clock.
  case at(CacheInstant)

  /// The deadline of an entry that is stored now.
  ///
  /// - Parameter clock: The level's clock; not read for ``never`` and ``at(_:)``.
  /// - Returns: The deadline; `nil` for never.
  public func deadline(by clock: any CacheClock) -> CacheInstant? {
    switch self {
    case .never: return nil
    case .after(let lifetime): return clock.now.advanced(by: lifetime)
    case .at(let instant): return instant
    case .date(let date):
      let distance = date.timeIntervalSince1970 - clock.timeSinceEpoch / .seconds(1)
      if distance.isNaN { return clock.now }
      let bounded = min(max(distance, -9e9), 9e9)
      return clock.now.advanced(by: .seconds(bounded))
    }
  }
}
