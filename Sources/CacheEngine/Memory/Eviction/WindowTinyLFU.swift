import CacheCore

/// Keeps what came lately in a window and, beside it, what comes often.
///
/// G. Einziger, R. Friedman, B. Manes, TinyLFU: a highly efficient cache admission policy, ACM Transactions on Storage
/// 13(4), 2017: new entries enter a window in order of use; what leaves the window moves into the main part only if
/// it came more often than what would leave there. The main part is a segmented order of use: a probation, and a
/// protected part of four fifths for what was used again. A ``WindowClimber`` sets the window's share.
///
/// Changed: shares are of the entries that are there; the newcomer itself is never refused, because the window
/// holds one entry at least, so that what was just stored can be read; and no entry is admitted by chance against
/// its frequency (Caffeine's answer to chosen collisions), because Swift seeds its hashes anew in every process.
package struct WindowTinyLFU: EvictionPolicy {
  private static let window = 0
  private static let probation = 1
  private static let protected = 2

  private var lists = SlotLists(3)
  private var sketch = FrequencySketch()
  private var climber = WindowClimber()

  mutating func inserted(_ slot: Int32, hash: UInt32) {
    lists.append(slot, hash: hash, to: Self.window)
    let total = lists.total
    sketch.reserve(total)
    sketch.increment(hash)
    climber.missed()
    shrinkWindow(to: windowShare(of: total))
    adapt()
  }

  mutating func touched(_ slot: Int32) {
    sketch.increment(lists.hash(slot))
    climber.hit()
    switch lists.list(slot) {
    case Self.window: lists.move(slot, to: Self.window)
    default:
      lists.move(slot, to: Self.protected)
      shrinkProtected()
    }
    adapt()
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func evict() -> Int32? {
    let share = windowShare(of: lists.total)
    shrinkWindow(to: share)
    let candidate = lists.count(Self.window) >= share ? lists.oldest(Self.window) : nil
    let victim = lists.oldest(Self.probation) ?? lists.oldest(Self.protected)
    guard let leaves = loser(candidate, victim) ?? lists.oldest(Self.window) else { return nil }
    if let candidate, candidate != leaves { lists.move(candidate, to: Self.probation) }
    lists.remove(leaves)
    return leaves
  }

  /// A tie is lost by what comes from the window: else a scan would wash the main part out.
  private func loser(_ candidate: Int32?, _ victim: Int32?) -> Int32? {
    guard let candidate, let victim else { return candidate ?? victim }
    let isMoreFrequent = sketch.frequency(lists.hash(candidate)) > sketch.frequency(lists.hash(victim))
    return isMoreFrequent ? victim : candidate
  }

  private func windowShare(of total: Int) -> Int { max(1, Int(Double(total) * climber.share)) }

  private mutating func shrinkWindow(to share: Int) {
    while lists.count(Self.window) > share, let oldest = lists.oldest(Self.window) {
      lists.move(oldest, to: Self.probation)
    }
  }

  private mutating func shrinkProtected() {
    let main = lists.count(Self.probation) + lists.count(Self.protected)
    while lists.count(Self.protected) > main * 4 / 5, let oldest = lists.oldest(Self.protected) {
      lists.move(oldest, to: Self.probation)
    }
  }

  private mutating func adapt() {
    let total = lists.total
    guard climber.climb(entries: total) else { return }
    let share = windowShare(of: total)
    while lists.count(Self.window) < share,
      let oldest = lists.oldest(Self.probation) ?? lists.oldest(Self.protected)
    {
      lists.move(oldest, to: Self.window)
    }
    shrinkWindow(to: share)
    shrinkProtected()
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
