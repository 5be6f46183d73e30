/// Which entries a removal of many keys is about: a clear, a removal by tag, by a condition, or an invalidation.
@usableFromInline
package enum SweepConcern<Key: Hashable & Sendable>: Sendable {
  case everything
  case key(Key)
  case tagged(String)
  case keys(@Sendable (Key) -> Bool)

  /// Whether an entry is meant, or may be, if its tags are unknown (`nil`); a condition that was passed in runs here, so this is not to be called under a lock.
  @inlinable
  func meets(_ key: Key, tags: Set<String>?) -> Bool {
    switch self {
    case .everything: true
    case .key(let other): key == other
    case .tagged(let tag): tags?.contains(tag) ?? true
    case .keys(let condition): condition(key)
    }
  }
}

/// The removals of many keys that are under way, and those that something older than their end still has to know of.
///
/// A moment is a number that grows whenever one of them begins or has got somewhere.
@usableFromInline
struct Sweeps<Key: Hashable & Sendable>: Sendable {
  @usableFromInline typealias Concern = SweepConcern<Key>

  /// So many are remembered; the oldest of more, as one that concerns everything.
  static var most: Int { 32 }

  @usableFromInline
  struct Sweep: Sendable {
    /// When it began, or got to where it is noted.
    var moment: UInt64
    let concern: Concern
    /// It removes copies above, and nothing that the lower level has of its own.
    let keepsBelow: Bool
    /// It is at work in the lower level still.
    var isBelow = true

    func meets(_ key: Key, tags: Set<String>?) -> Bool { concern.meets(key, tags: tags) }
  }

  private(set) var moment: UInt64 = 0
  // What every miss asks is linked into its caller.
  @usableFromInline private(set) var running: [Sweep] = []
  /// Those that are done with the lower level, with the moment of that.
  @usableFromInline private(set) var done: [Sweep] = []
  /// Those that are done with both levels, with the moment of that.
  @usableFromInline private(set) var ended: [Sweep] = []
  @usableFromInline private(set) var lastEnd: UInt64 = 0

  init() {}

  /// One is at work in the lower level: what is found or written there now may be gone in a moment.
  var isBelow: Bool { running.contains { $0.isBelow } }

  var isEmpty: Bool { running.isEmpty && done.isEmpty && ended.isEmpty }

  /// Returns the moment by which the new one is known.
  mutating func begin(_ concern: Concern, keepsBelow: Bool = false) -> UInt64 {
    moment += 1
    running.append(Sweep(moment: moment, concern: concern, keepsBelow: keepsBelow))
    return moment
  }

  mutating func endBelow(_ began: UInt64) {
    guard let place = running.firstIndex(where: { $0.moment == began }), running[place].isBelow else { return }
    moment += 1
    running[place].isBelow = false
    Self.note(running[place], at: moment, in: &done)
  }

  mutating func end(_ began: UInt64) {
    endBelow(began)
    moment += 1
    lastEnd = moment
    if let place = running.firstIndex(where: { $0.moment == began }) {
      Self.note(running.remove(at: place), at: moment, in: &ended)
    }
  }

  private static func note(_ sweep: Sweep, at moment: UInt64, in list: inout [Sweep]) {
    if list.count == most {
      let (first, second) = (list.removeFirst(), list[0])
      list[0] = Sweep(
        moment: second.moment, concern: .everything, keepsBelow: first.keepsBelow && second.keepsBelow)
    }
    var noted = sweep
    noted.moment = moment
    list.append(noted)
  }

  /// Nothing is under way that is older than their end.
  @inlinable
  mutating func forgetDone() { if !done.isEmpty || !ended.isEmpty { forgetEachDone() } }

  @usableFromInline
  mutating func forgetEachDone() { (done, ended) = ([], []) }

  /// Those that may have come between what was found or written in the lower level since a moment, and now.
  func since(_ moment: UInt64) -> [Sweep] {
    running.filter { $0.isBelow } + done.filter { $0.moment > moment }
  }

  /// Those that have come to their end since a moment.
  func ended(since moment: UInt64) -> [Sweep] { ended.filter { $0.moment > moment } }

  /// Those that were under way at some time since a moment.
  func meanwhile(since moment: UInt64) -> [Sweep] { running + ended(since: moment) }

  /// Whether any went on since a moment, so that two answers from before and after may not fit together.
  @inlinable
  func isAny(since moment: UInt64) -> Bool { !running.isEmpty || lastEnd > moment }
}
