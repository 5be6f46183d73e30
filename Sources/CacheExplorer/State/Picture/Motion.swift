package import CacheEngine

/// What goes from one level to the next at this moment: a look-up that goes on after a miss, a copy that comes up, a change of
/// another process that arrives.
///
/// Each travels along the arrow between two levels, slowly enough to be seen; what it took in truth is told elsewhere.
package struct Motion: Sendable, Equatable {
  package enum Kind: Sendable, Equatable { case passed, filled, forgotten }

  private struct Traveller: Sendable, Equatable {
    var kind: Kind
    /// The level above the arrow; `nil` for every arrow into a level that processes share.
    var level: Int?
    var began: CacheInstant
  }

  /// How long each is on its way.
  static let time = Duration.milliseconds(600)
  /// Where more calls come in a second, nobody could follow one.
  static let busiest = 20.0
  private static let most = 32

  private var travellers: [Traveller] = []

  package init() {}

  mutating func note(_ kind: Kind, from level: Int?, at time: CacheInstant) {
    if travellers.count >= Self.most { travellers.removeFirst() }
    travellers.append(Traveller(kind: kind, level: level, began: time))
  }

  /// Whether anything is on its way.
  func isGoing(at now: CacheInstant) -> Bool { travellers.contains { step($0, of: 1, at: now) != nil } }

  /// The steps, of so many, that those are at who come from one of the levels.
  package func steps(_ kind: Kind, from levels: [Int], of count: Int, at now: CacheInstant) -> [Int] {
    travellers.filter { $0.kind == kind && ($0.level.map(levels.contains) ?? true) }.compactMap {
      step($0, of: count, at: now)
    }
  }

  private func step(_ traveller: Traveller, of count: Int, at now: CacheInstant) -> Int? {
    let passed = traveller.began.duration(to: now)
    return passed >= .zero && passed < Self.time ? Int(passed / Self.time * Double(count)) : nil
  }
}

extension Picture {
  /// Whether there is something that can be followed on its way.
  package var isMoving: Bool {
    motion.isGoing(at: now) && requests.seconds.rate(at: now) { $0.asked } ?? 0 <= Motion.busiest
  }
}
