import CacheCore

/// How much of a cache is a window for what came lately; the rest is for what comes often.
enum Division: Int, Sendable, CaseIterable {
  /// A small window: for stable popularity, scans and loops.
  case frequency
  /// A window of some size: where what is popular changes.
  case balanced
  /// Nothing but a window, in order of use.
  case recency
  /// Nothing but a window, in order of arrival: for bursts, whose keys are done with however often they came.
  case arrival

  /// A key that returns soon after it lost a duel goes into the main part.
  ///
  /// Where what is popular changes, such a key is popular newly. In a loop that is a little too long for the cache
  /// every key returns soon, and to let all in would be to churn.
  var admitsGhosts: Bool { self == .balanced }

  /// The entries of the window: a hundredth of all, three tenths, or all.
  func window(of entries: Int) -> Int {
    switch self {
    case .frequency: max(1, entries / 100)
    case .balanced: max(1, entries * 3 / 10)
    case .recency, .arrival: entries
    }
  }
}
