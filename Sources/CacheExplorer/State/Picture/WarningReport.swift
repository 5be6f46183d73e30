package import CacheEngine

/// What a memory warning did, and how the level that gave way is doing since.
package struct WarningReport: Sendable {
  package struct Part: Sendable, Equatable {
    package var level: Int
    package var dropped: Int
    package var cost: Int
    package var duration: Duration
  }

  /// How long the level's box stays inverted.
  package static let flash = Duration.milliseconds(400)
  /// Warnings so close together are one.
  private static let together = Duration.seconds(2)

  package private(set) var time: CacheInstant
  package private(set) var parts: [Part]
  /// The hit rate of the first level in the ten seconds before.
  package private(set) var before: Double?
  package private(set) var lowest: Double?
  package private(set) var recovered: CacheInstant?

  package init(_ part: Part, at time: CacheInstant, traffic: LevelTraffic) {
    self.time = time
    parts = [part]
    before = Self.hitRate(of: traffic, seconds: 10, at: time)
  }

  package func belongs(_ instant: CacheInstant) -> Bool { time.duration(to: instant) < Self.together }

  package mutating func add(_ part: Part) { parts.append(part) }

  /// Follows the hit rate from the first whole second after the warning.
  package mutating func follow(_ traffic: [LevelTraffic], at now: CacheInstant) {
    let passed = SecondRing.number(of: now) - SecondRing.number(of: time) - 1
    guard passed >= 1, recovered == nil, let before, let level = parts.first?.level, traffic.indices.contains(level)
    else { return }
    guard let rate = Self.hitRate(of: traffic[level], seconds: min(2, passed), at: now) else { return }
    lowest = min(lowest ?? rate, rate)
    if rate >= before * 0.95 { recovered = now }
  }

  private static func hitRate(of traffic: LevelTraffic, seconds: Int64, at now: CacheInstant) -> Double? {
    let hits = traffic.seconds.sum(of: seconds, at: now) { $0.hits }
    let misses = traffic.seconds.sum(of: seconds, at: now) { $0.misses }
    return hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil
  }
}
