import CacheCore

/// A window, and beside it a main part that is entered by a duel of frequencies; kept by a ``Division``.
///
/// What leaves the window moves into the main part if it came more often than what would leave there, and else
/// becomes a ghost. A ghost that comes again goes into the main part at once, if the division says so: what is
/// popular newly would lose many duels against what was popular.
///
/// A change of the division moves a few entries with each insertion. Until room is needed for the first time there is
/// no division, only an order of use.
struct WindowedOrder: Sendable {
  private static let window = 0
  private static let probation = 1
  private static let protected = 2
  /// How far one operation moves a boundary.
  private static let stride = 2

  var division: Division
  private(set) var isFull = false
  private var lists = SlotLists(3)
  private var ghosts = RecentHashes()

  init(_ division: Division) { self.division = division }

  var count: Int { lists.total }
  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  mutating func forgetGhost(_ hash: UInt32) -> Bool { ghosts.remove(hash) }

  mutating func inserted(_ slot: Int32, hash: UInt32, isReturning: Bool) {
    let isForMain = isReturning && division.admitsGhosts
    lists.append(slot, hash: hash, to: isForMain ? Self.probation : Self.window)
    if isFull { shrinkWindow() }
  }

  mutating func touched(_ slot: Int32) {
    guard lists.list(slot) == Self.window else {
      lists.move(slot, to: Self.protected)
      shrinkProtected(by: Self.stride)
      return
    }
    if !isFull { lists[mark: slot] = min(15, lists[mark: slot] + 1) }
    if division != .arrival { lists.move(slot, to: Self.window) }
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  /// The two of which one is about to leave.
  var rivals: (newcomer: Int32?, resident: Int32?) {
    (lists.oldest(Self.window), lists.oldest(Self.probation) ?? lists.oldest(Self.protected))
  }

  mutating func evict(_ sketch: borrowing FrequencySketch) -> Int32? {
    let victim = lists.oldest(Self.probation) ?? lists.oldest(Self.protected)
    guard let candidate = lists.oldest(Self.window), lists.count(Self.window) >= division.window(of: count) else {
      if let victim { lists.remove(victim) }
      return victim
    }
    // A tie is lost by what comes from the window: else a scan would wash the main part out.
    if let victim, sketch.frequency(lists.hash(candidate)) > sketch.frequency(lists.hash(victim)) {
      lists.move(candidate, to: Self.probation)
      lists.remove(victim)
      return victim
    }
    lists.remove(candidate)
    if isFull { ghosts.insert(lists.hash(candidate), limit: count / 2 + 1) }
    return candidate
  }

  private mutating func shrinkWindow() {
    let share = division.window(of: count)
    for _ in 0..<Self.stride where lists.count(Self.window) > share {
      if let oldest = lists.oldest(Self.window) { lists.move(oldest, to: Self.probation) }
    }
  }

  private mutating func shrinkProtected(by most: Int) {
    let share = (lists.count(Self.probation) + lists.count(Self.protected)) * 4 / 5
    for _ in 0..<most where lists.count(Self.protected) > share {
      if let oldest = lists.oldest(Self.protected) { lists.move(oldest, to: Self.probation) }
    }
  }
}

extension WindowedOrder {
  /// Divides what came while there was room, once: the work of one insertion for each entry.
  mutating func fill(adding uses: SlotUses? = nil) {
    isFull = true
    if let uses {
      for slot in lists.slots(Self.window) {
        lists[mark: slot] = UInt8(min(15, Int(lists[mark: slot]) + uses.take(slot)))
      }
    }
    let share = division.window(of: count)
    while lists.count(Self.window) > share, let oldest = lists.oldest(Self.window) {
      lists.move(oldest, to: lists[mark: oldest] > 0 ? Self.protected : Self.probation)
    }
    shrinkProtected(by: count)
  }

  /// Every hash with how often it was used while there was room.
  func forEach(_ body: (_ hash: UInt32, _ uses: UInt8) -> Void) {
    for list in [Self.probation, Self.protected, Self.window] {
      for slot in lists.slots(list) { body(lists.hash(slot), lists[mark: slot]) }
    }
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? { lists.flaw(holding: slots) }
  #endif
}
