import CacheCore

/// What a memory level was asked, and what it did: ``MemoryCacheLevel/counts``.
///
/// ```swift
/// let before = memory.counts
/// // … some time later:
/// let counts = memory.counts - before
/// print("\(counts.hits) hits, \(counts.misses) misses, \(counts.evicted) evicted")
/// ```
///
/// For reasons, latencies and several levels side by side there is ``CacheStatistics``, which costs more.
public struct MemoryCounts: Sendable, Hashable, Codable {
  /// How often there was a value for the key asked for.
  public var hits: Int
  /// How often there was none, or none that had not expired.
  ///
  /// A ``MemoryCacheLevel/peek(_:)`` that finds nothing is not counted, since the caller then asks again.
  public var misses: Int
  /// How many values were stored, under a new key or replacing another value.
  public var stored: Int
  /// How many entries left because room was needed.
  public var evicted: Int
  /// How many entries left because their time was over.
  public var expired: Int

  /// Creates counts.
  ///
  /// - Parameters:
  ///   - hits: How often there was a value for the key asked for.
  ///   - misses: How often there was none.
  ///   - stored: How many values were stored.
  ///   - evicted: How many entries left because room was needed.
  ///   - expired: How many entries left because their time was over.
  public init(hits: Int = 0, misses: Int = 0, stored: Int = 0, evicted: Int = 0, expired: Int = 0) {
    self.hits = hits
    self.misses = misses
    self.stored = stored
    self.evicted = evicted
    self.expired = expired
  }

  /// The share of reads that were hits, between 0 and 1; `nil` if nothing was read.
  public var hitRatio: Double? { hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil }

  /// What happened between two moments.
  ///
  /// - Parameters:
  ///   - later: The counts at the later moment.
  ///   - earlier: The counts at the earlier one.
  /// - Returns: The differences.
  public static func - (later: MemoryCounts, earlier: MemoryCounts) -> MemoryCounts {
    MemoryCounts(
      hits: later.hits - earlier.hits, misses: later.misses - earlier.misses, stored: later.stored - earlier.stored,
      evicted: later.evicted - earlier.evicted, expired: later.expired - earlier.expired)
  }
}
