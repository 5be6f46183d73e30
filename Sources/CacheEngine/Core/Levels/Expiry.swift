#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When an entry expires.
///
/// It becomes a deadline at the moment of the store; in a composition, each level has its own, that of the lower one first.
/// At its deadline an entry has expired: a lifetime of zero, or a negative one, is over at once. Durations longer than
/// 292 years count as 292 years.
public enum Expiry: Sendable, Equatable {
  /// Never.
  case never
  /// This much time after the store.
  case after(Duration)
  /// At this date of the wall clock, as that is set at the moment of the store.
  case date(Date)
  /// At this instant of the level's clock.
  case at(CacheInstant)

  /// Returns the deadline of an entry that is stored now.
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
