package import CacheEngine

/// Which second of which level's history is chosen.
///
/// It stays with its second while time goes on, until that leaves the picture.
package struct HistoryCursor: Sendable, Equatable {
  package var level = 0
  /// The number of the second; `nil` for the one under way.
  package var second: Int64?

  package init() {}

  /// The second that is chosen, in a history of so many columns.
  package func number(at now: CacheInstant, columns: Int) -> Int64 {
    let end = SecondRing.number(of: now)
    guard let second else { return end }
    return min(max(second, end &- Int64(max(1, columns)) &+ 1), end)
  }

  /// Its column, from the left.
  package func column(at now: CacheInstant, columns: Int) -> Int {
    columns - 1 - Int(SecondRing.number(of: now) &- number(at: now, columns: columns))
  }

  package mutating func move(by distance: Int, at now: CacheInstant, columns: Int) {
    let end = SecondRing.number(of: now)
    let steps = Int64(min(max(distance, -Int(SecondRing.length)), Int(SecondRing.length)))
    let wanted = min(max(number(at: now, columns: columns) &+ steps, end &- Int64(max(1, columns)) &+ 1), end)
    second = wanted == end ? nil : wanted
  }

  package mutating func choose(column: Int, at now: CacheInstant, columns: Int) {
    second = SecondRing.number(of: now) &- Int64(columns - 1 - min(max(0, column), columns - 1))
  }
}
