import CacheEngine

/// How the entries are listed: which, in what order, and where the reader is.
struct EntryList: Sendable {
  enum Column: String, Sendable, CaseIterable {
    case hits = "HITS"
    case last = "LAST"
    case size = "SIZE"
    case age = "AGE"
    case timeLeft = "TTL LEFT"
    case key = "KEY"

    /// The column that the command `sort` calls so.
    init?(command name: String) {
      guard let place = Command.sortColumns.firstIndex(of: name) else { return nil }
      self = Self.allCases[place]
    }

    var next: Column {
      let all = Self.allCases
      return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
  }

  /// Places in the table's rows.
  private(set) var order: [Int] = []
  var sort = Column.hits
  /// Each column begins with its telling end: most hits, newest touch, least time left.
  var isReversed = false
  var search = TextSearch("")
  private(set) var cursor = 0
  private(set) var top = 0
  /// The key that the cursor stays with, once somebody moved it.
  private(set) var selected: String?
  private var version = -1
  private var sortedAt: CacheInstant?

  /// Sorting many entries costs more than a frame may: then it is done less often.
  private static let pause = Duration.milliseconds(250)
  private static let longPause = Duration.seconds(1)
  private static let many = 10_000

  /// Lists anew if entries changed; at once if `isForced`, else after a pause.
  mutating func refresh(_ picture: Picture, isForced: Bool) {
    let table = picture.entries
    if !isForced {
      guard version != table.version || sort == .timeLeft else { return }
      let pause = table.rows.count > Self.many ? Self.longPause : Self.pause
      if let sortedAt, sortedAt.duration(to: picture.now) < pause, order.allSatisfy(table.rows.indices.contains) {
        return
      }
    }
    version = table.version
    sortedAt = picture.now
    order = table.rows.indices.filter { table.rows[$0].isPresent && search.matches(table.rows[$0].key) }
    arrange(table.rows)
    if let selected, let place = order.firstIndex(where: { table.rows[$0].key == selected }) { cursor = place }
    cursor = min(cursor, max(0, order.count - 1))
  }

  private mutating func arrange(_ rows: [EntryTable.Row]) {
    if sort == .key {
      order.sort { isReversed ? rows[$0].key > rows[$1].key : rows[$0].key < rows[$1].key }
      return
    }
    var ranked = order.map { (rank: rank(of: rows[$0]), slot: $0) }
    ranked.sort { left, right in
      if left.rank == right.rank { return left.slot < right.slot }
      return isReversed ? left.rank > right.rank : left.rank < right.rank
    }
    order = ranked.map(\.slot)
  }

  private func rank(of row: EntryTable.Row) -> Int64 {
    switch sort {
    case .hits: ~Int64(row.hits)
    case .last: ~row.lastTouch.nanoseconds
    case .size: ~Int64(row.size ?? -1)
    case .age: row.created?.nanoseconds ?? .max
    case .timeLeft: row.topmost?.deadline?.nanoseconds ?? .max
    case .key: 0
    }
  }

  /// The entry under the cursor.
  func current(in picture: Picture) -> EntryTable.Row? {
    guard order.indices.contains(cursor), picture.entries.rows.indices.contains(order[cursor]) else { return nil }
    return picture.entries.rows[order[cursor]]
  }

  mutating func move(to place: Int, in picture: Picture) {
    cursor = min(max(0, place), max(0, order.count - 1))
    selected = current(in: picture)?.key
  }

  mutating func move(by distance: Int, in picture: Picture) {
    move(to: cursor.addingReportingOverflow(distance).partialValue, in: picture)
  }

  /// Scrolls as little as needed to have the cursor in a window of so many rows.
  mutating func keepVisible(rows: Int) {
    let rows = max(1, rows)
    top = min(max(0, top), max(0, order.count - rows))
    if cursor < top { top = cursor }
    if cursor >= top + rows { top = cursor - rows + 1 }
  }
}
