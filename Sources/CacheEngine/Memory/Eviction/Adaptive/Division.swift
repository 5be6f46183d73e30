import CacheCore

/// How much of a cache is a window for what came lately, who gets from there into the main part, and what leaves.
///
/// Five were chosen of some fifty settings: with the best of these in each cell of requests (60 generated traces of stable, drifting
/// and shifting popularity, loops, scans, blocks, sessions and bursts at nine sizes, and four recorded ones at eighteen),
/// 0.2 points more are reached in the mean than with the best of eight known policies.
enum Division: Int, Sendable, CaseIterable {
  /// A small window beside an order of frequency: for stable popularity, scans and loops.
  case frequency
  /// A window of a fifth in order of use: it does fairly well everywhere, so it is what is begun with.
  case balanced
  /// A window of two fifths, and beside it what was used again, or returned: for what comes in pairs, and once in a while again.
  case reused
  /// The same with a window of nine tenths: for bursts, and popularity that drifts.
  case returning
  /// Hardly anything but a window, in order of use; what returned soon is kept apart from it.
  case recency

  /// What leaves the window meets what would leave the main part, and the one stays that came more often.
  ///
  /// In the others it leaves, and comes into the main part if it returns soon.
  @inline(__always) var duels: Bool { self == .frequency || self == .balanced }

  /// How many more uses, beyond one, what leaves the window needs in order to replace what would leave the main part.
  ///
  /// In a loop all keys come equally often, but the last use of what leaves the window is counted already, and the next one of what
  /// would leave, which is as near, is not: to let the one win would be to churn.
  @inline(__always) var lead: Int { self == .frequency ? 1 : 0 }

  /// A key that returns soon after it left the window goes into the main part.
  ///
  /// Where what is popular changes, such a key is popular newly. In a loop that is a little too long for the cache
  /// every key returns soon, and to let all in would be to churn.
  @inline(__always) var admitsGhosts: Bool { self != .frequency }

  /// What is used in the window goes into the main part at once; in the others it becomes the newest of the window.
  @inline(__always) var promotes: Bool { self != .balanced && self != .recency }

  /// The main part is in order of use, and does not prefer what was used there.
  @inline(__always) var isPlain: Bool { !duels }

  /// The entries of the window.
  func window(of entries: Int) -> Int {
    switch self {
    case .frequency: max(1, entries / 50)
    case .balanced: max(1, entries / 5)
    case .reused: max(1, entries * 2 / 5)
    case .returning: max(1, entries * 9 / 10)
    case .recency: max(1, entries * 19 / 20)
    }
  }
}
