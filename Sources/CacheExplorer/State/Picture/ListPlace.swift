/// Where the reader of a list is: in which order it stands, what is looked for, and which row is chosen.
package struct ListPlace: Sendable, Equatable {
  /// The number of the column that it is sorted by.
  package var column = 0
  package var isReversed = false
  package var search = TextSearch("") { didSet { chosen = nil } }
  /// The name of the chosen row, which stays chosen wherever it goes; `nil` for the first.
  package var chosen: String?
  package private(set) var top = 0

  package init() {}

  /// The place of the chosen row.
  package func cursor(in names: [String]) -> Int { chosen.flatMap { names.firstIndex(of: $0) } ?? 0 }

  package mutating func move(by distance: Int, in names: [String]) {
    let place = cursor(in: names) + min(max(distance, -1_000_000), 1_000_000)
    chosen = names.isEmpty ? nil : names[min(max(0, place), names.count - 1)]
  }

  package mutating func keepVisible(rows: Int, in names: [String]) {
    guard rows > 0 else { return }
    let cursor = cursor(in: names)
    top = min(max(top, cursor - rows + 1), cursor)
    top = max(0, min(top, names.count - rows))
  }

  package mutating func nextColumn(of count: Int) {
    column = (column + 1) % max(1, count)
    isReversed = false
  }
}
