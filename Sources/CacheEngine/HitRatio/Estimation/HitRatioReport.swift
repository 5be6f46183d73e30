import CacheCore

/// What a level would have answered with another capacity or another policy, and what that is known from.
public struct HitRatioReport: Sendable, Codable {
  /// The level, as it was described.
  public var level: HitRatioObserver.Level
  /// The look-ups that the level answered since the start or the last restart.
  public var requests: Int
  /// Of these, the ones that it had the value for.
  public var hits: Int
  /// The look-ups of keys in the sample, from which the estimates are made.
  public var samples: Int
  /// The share of the keys that is in the sample now, from 0 to 1.
  public var rate: Double
  /// About how many bytes the estimation takes.
  public var bytes: Int
  /// How long the small caches took, interruptions left out.
  public var timeSpent: Duration
  /// What share of the requests' time that is, since the start; `nil` until requests took any.
  public var timeShare: Double?
  /// The cache as it is, then the other capacities in order, then the other policies; empty until enough was seen.
  public var estimates: [HitRatioEstimate]
  /// The cheapest change that helps: another policy, which costs nothing, or else the smallest capacity that gains at
  /// least a hundredth of the requests, and more than the margin and the order of the requests can explain.
  ///
  /// `nil` if nothing helps, or if not enough is known yet.
  public var cheapestImprovement: HitRatioEstimate?
  /// The smallest capacity that loses less than half a hundredth of the requests, if that is beyond doubt.
  public var cheapestSaving: HitRatioEstimate?

  package init(
    level: HitRatioObserver.Level, requests: Int, hits: Int, samples: Int, rate: Double, bytes: Int,
    timeSpent: Duration, timeShare: Double?, estimates: [HitRatioEstimate], cheapestImprovement: HitRatioEstimate?,
    cheapestSaving: HitRatioEstimate?
  ) {
    self.level = level
    self.requests = requests
    self.hits = hits
    self.samples = samples
    self.rate = rate
    self.bytes = bytes
    self.timeSpent = timeSpent
    self.timeShare = timeShare
    self.estimates = estimates
    self.cheapestImprovement = cheapestImprovement
    self.cheapestSaving = cheapestSaving
  }
}
