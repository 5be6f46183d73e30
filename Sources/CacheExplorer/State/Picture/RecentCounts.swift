package import CacheEngine

/// What can be added up.
package protocol Countable: Sendable {
  init()
  static func += (left: inout Self, right: Self)
}

extension CacheStatistics.Level: Countable {}
extension CacheStatistics.Snapshot: Countable {}

/// What was counted in the second under way and the few before it.
package struct RecentCounts<Counts: Countable>: Sendable {
  /// How many seconds before the one under way.
  package static var window: Int64 { SecondRing.rateWindow }

  /// The oldest first.
  private var seconds: [(number: Int64, counts: Counts)] = []

  package init() {}

  // Each hit of the proxy is counted by this.
  @specialized(where Counts == ServedCounts)
  package mutating func add(_ counts: Counts, at time: CacheInstant) {
    let number = SecondRing.number(of: time)
    if let last = seconds.indices.last, seconds[last].number == number { return seconds[last].counts += counts }
    if let place = seconds.lastIndex(where: { $0.number <= number }) {
      if seconds[place].number == number { return seconds[place].counts += counts }
      seconds.insert((number, counts), at: place + 1)
    } else {
      seconds.insert((number, counts), at: 0)
    }
    let end = seconds[seconds.count - 1].number
    seconds.removeAll { end.subtractingReportingOverflow($0.number).partialValue > Self.window }
  }

  package func sum(at now: CacheInstant) -> Counts {
    let end = SecondRing.number(of: now)
    return seconds.reduce(into: Counts()) { sum, second in
      let (age, overflow) = end.subtractingReportingOverflow(second.number)
      if !overflow, (0...Self.window).contains(age) { sum += second.counts }
    }
  }
}
