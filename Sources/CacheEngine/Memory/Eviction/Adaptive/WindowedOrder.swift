import CacheCore

/// A window, and beside it a main part; a ``Division`` says how large each is and how the one gets into the other.
///
/// In some divisions what leaves the window moves into the main part if it came more often than what would leave there, and else
/// becomes a ghost; in others it always does. A ghost that comes again goes into the main part at once, if the division says so:
/// what is popular newly would lose many duels against what was popular.
///
/// A change of the division moves a few entries with each insertion. Until room is needed for the first time there is
/// no division, only an order of use.
///
/// Where entries have weights, one that comes may ask for none to leave, or for several. The window may then be larger or smaller
/// than its share for a while; nothing gets into the main part, or out of it, without a duel for that.
struct WindowedOrder: Sendable {
  private static let window = 0
  private static let probation = 1
  private static let protected = 2
  /// How far one operation moves a boundary.
  private static let stride = 2

  var division: Division {
    didSet {
      guard division != oldValue else { return }
      fit()
      isResizing = true
    }
  }
  /// The window is larger than its share because that has become smaller.
  private var isResizing = true
  /// What left since something came.
  private var departures = 0
  /// How many entries the window is short of since heavy ones came.
  private var owed = 0
  /// The entries of the window, and of the protected part, for so many entries.
  private var share = (of: -1, window: 0)
  private(set) var isFull = false
  private var lists = SlotLists(3)
  private var ghosts = RecentHashes()

  /// Whether what leaves the window may ever be asked for as a ghost.
  private let hasGhosts: Bool

  init(_ division: Division, hasGhosts: Bool = true) {
    self.division = division
    self.hasGhosts = hasGhosts
  }

  @inline(__always) var count: Int { lists.total }
  @inline(__always)
  func hash(_ slot: Int32) -> UInt32 { lists.hash(slot) }

  @inline(__always)
  mutating func forgetGhost(_ mixed: UInt64) -> Bool {
    division.admitsGhosts && ghosts.remove(mixed: mixed)
  }

  private mutating func fit() { share = (count, division.window(of: count)) }

  /// How many entries the window is to have.
  @inline(__always)
  private mutating func windowShare() -> Int {
    if share.of != count { fit() }
    return share.window
  }

  @inline(__always)
  mutating func inserted(_ slot: Int32, hash: UInt32, isReturning: Bool) {
    if departures == 0, owed > 0 { owed &-= 1 }
    departures = 0
    guard isReturning, division.admitsGhosts else {
      lists.append(slot, hash: hash, to: Self.window)
      if isFull, division.duels { shrinkWindow() }
      return
    }
    lists.append(slot, hash: hash, to: division.isPlain ? Self.protected : Self.probation)
  }

  @inline(__always)
  mutating func touched(_ slot: Int32) {
    guard isFull else {
      lists[mark: slot] = min(15, lists[mark: slot] + 1)
      lists.move(slot, to: Self.window)
      return
    }
    if lists.list(slot) == Self.window, !division.promotes { return lists.move(slot, to: Self.window) }
    lists.move(slot, to: Self.protected)
    if !division.isPlain { shrinkProtected(by: Self.stride) }
  }

  mutating func removed(_ slot: Int32) { lists.remove(slot) }

  /// The two of which one is about to leave.
  @inline(__always) var rivals: (newcomer: Int32?, resident: Int32?) {
    (lists.oldest(Self.window), lists.oldest(Self.probation) ?? lists.oldest(Self.protected))
  }

  /// Takes out one of two rivals, the only ones that may leave, and says with which hash it came.
  #if compiler(>=6.3)
  @inline(always)  // Swift 6.3 takes the older form for a wish, and did not grant it.
  #else
  @inline(__always)
  #endif
  mutating func evict(
    of rivals: (newcomer: Int32?, resident: Int32?), _ sketch: borrowing FrequencySketch
  ) -> (slot: Int32, hash: UInt32)? {
    let share = windowShare()
    let (newcomer, resident) = rivals
    departures &+= 1
    guard let newcomer, lists.count(Self.window) &+ owed >= share || resident == nil else {
      guard let resident else { return nil }
      lists.remove(resident)
      return (resident, lists.hash(resident))
    }
    let hash = lists.hash(newcomer)
    let mixed = FrequencySketch.mix(hash)
    if division.duels, let resident {
      let residentHash = lists.hash(resident)
      let (came, stays) = (sketch.frequency(of: mixed), sketch.frequency(residentHash))
      // A tie is lost by what comes from the window: else a scan would wash the main part out.
      if came > stays &+ division.lead {
        lists.move(newcomer, to: Self.probation)
        lists.remove(resident)
        return (resident, residentHash)
      }
      // What was popular and is asked for no more would keep everything out that is more popular than the rest.
      if stays > came &+ 1 { lists.move(resident, to: Self.probation) }
    }
    lists.remove(newcomer)
    // From the second one on, what leaves makes room for a heavy entry; light ones that ask for no room make up for it.
    if departures > 1, division.duels { owed = min(owed &+ 1, share / 2) }
    if isFull, hasGhosts { ghosts.insert(mixed: mixed, limit: count &+ 1) }
    return (newcomer, hash)
  }

  @inline(__always)
  private mutating func shrinkWindow() {
    let share = windowShare()
    // Far too large, it is as if the share had changed: entries have become lighter.
    guard isResizing || lists.count(Self.window) > 2 &* share &+ 16 else { return }
    shrinkWindow(to: share)
    isResizing = lists.count(Self.window) > share
  }

  private mutating func shrinkWindow(to share: Int) {
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
