public import CacheMemory
import CacheCore

/// What share of its requests a cache would have answered, had it been another.
public struct HitRatioEstimate: Sendable, Hashable, Codable {
  /// The policy of that cache.
  public let eviction: Eviction
  /// Its capacity, in the unit of the cache that was observed.
  public let capacity: Int
  /// Hits as a share of the requests, from 0 to 1.
  public let value: Double
  /// How far the value may be off, as a share of the requests: 95 of 100 estimates are closer.
  public let margin: Double

  package init(eviction: Eviction, capacity: Int, value: Double, margin: Double) {
    self.eviction = eviction
    self.capacity = capacity
    self.value = value
    self.margin = margin
  }

  /// Whether the value says anything: it may be off by at most a quarter of the requests.
  public var isKnown: Bool { margin <= 0.25 }

  /// Whether it is better than another by more than chance explains.
  ///
  /// - Parameters:
  ///   - other: The other estimate.
  ///   - least: By how much at least, as a share of the requests.
  /// - Returns: Whether it is. One that is not known is not better than any other.
  func isBetter(than other: HitRatioEstimate, byAtLeast least: Double) -> Bool {
    isKnown && other.isKnown && value - other.value >= max(least, margin, other.margin)
  }
}
