import CacheEngine

/// How the entries are listed: which, in what order, and where the reader is.
///
/// The order is changed by what changed and never sorted again for a picture; only another order or another filter looks at
/// every entry once.
package struct EntryList: Sendable {
  package enum Column: String, Sendable, CaseIterable {
    case hits = "HITS"
    case last = "LAST"
    case size = "SIZE"
    case age = "AGE"
    case timeLeft = "TTL LEFT"
    case levels = "LEVELS"
    case key = "KEY"

    /// The column that the command `sort` calls so.
    package init?(command name: String) {
      guard let column = Self.allCases.first(where: { $0.word == name }) else { return nil }
      self = column
    }

    package var next: Column {
      let all = Self.allCases
      return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }

    /// The word for it in the command `sort`.
    package var word: String { self == .timeLeft ? "ttl" : rawValue.lowercased() }
  }

  /// Places in the table's rows.
  package private(set) var order = SortedSlots()
  package var sort = Column.hits
  /// Each column begins with its telling end: most hits, newest touch, least time left.
  package var isReversed = false
  package var filter = EntryFilter("")
  package private(set) var cursor = 0
  package private(set) var top = 0
  /// The key that the cursor stays with, once somebody moved it.
  private(set) var selected: String?

  /// The rank of each slot, or `unlisted`.
  private var ranks: [Int64] = []
  private var epoch = -1
  private var seen = 0
  private var lookedAt: CacheInstant?
  /// Where the next slice is looked at again, for filters that depend on the time.
  private var slice = 0

  private static let unlisted = Int64.min
  /// An order that moves more often cannot be read.
  package static let pause = Duration.milliseconds(250)
  /// So many entries are looked at again for one picture, since time passed.
  static let sliceLength = 20_000

  package init() {}

  /// Whether the table has changed since it was looked at.
  package func isBehind(_ table: EntryTable) -> Bool { epoch != table.epoch || seen != table.endOfChanges }

  /// Lists what changed; at once and everything if `isForced`, else after a pause.
  ///
  /// `speed`: How fast the picture's time passes; the pause is one for the reader.
  package mutating func refresh(_ picture: Picture, isForced: Bool, speed: Double = 1) {
    let table = picture.entries
    let isOther = epoch != table.epoch || seen < table.firstChange
    if isForced || isOther {
      rebuild(picture)
    } else {
      guard isBehind(table) || filter.dependsOnTime else { return }
      if let lookedAt, lookedAt.duration(to: picture.now) < Self.pause * speed { return }
      for slot in table.changes(since: seen) { update(Int(slot), picture) }
      if filter.dependsOnTime { lookAgain(picture) }
    }
    seen = table.endOfChanges
    epoch = table.epoch
    lookedAt = picture.now
    if let selected, let slot = table.slot(of: selected), ranks.indices.contains(slot), ranks[slot] != Self.unlisted {
      let item = SortedSlots.Item(rank: ranks[slot], slot: Int32(slot))
      cursor = order.place(of: item, reversed: isReversed, tie: tie(table.rows)) ?? cursor
    }
    cursor = min(cursor, max(0, order.count - 1))
  }

  private mutating func rebuild(_ picture: Picture) {
    let rows = picture.entries.rows
    ranks = rows.map { filterMatches($0, picture) ? rank(of: $0) : Self.unlisted }
    var items: [SortedSlots.Item] = []
    for (slot, rank) in ranks.enumerated() where rank != Self.unlisted {
      items.append(SortedSlots.Item(rank: rank, slot: Int32(slot)))
    }
    order.replace(items, reversed: isReversed, tie: tie(rows))
    slice = 0
  }

  private mutating func update(_ slot: Int, _ picture: Picture) {
    let rows = picture.entries.rows
    guard rows.indices.contains(slot) else { return }
    while ranks.count <= slot { ranks.append(Self.unlisted) }
    let rank = filterMatches(rows[slot], picture) ? rank(of: rows[slot]) : Self.unlisted
    guard rank != ranks[slot] else { return }
    let tie = tie(rows)
    if ranks[slot] != Self.unlisted {
      order.remove(SortedSlots.Item(rank: ranks[slot], slot: Int32(slot)), reversed: isReversed, tie: tie)
    }
    if rank != Self.unlisted {
      order.insert(SortedSlots.Item(rank: rank, slot: Int32(slot)), reversed: isReversed, tie: tie)
    }
    ranks[slot] = rank
  }

  private mutating func lookAgain(_ picture: Picture) {
    let count = picture.entries.rows.count
    guard count > 0 else { return }
    for _ in 0..<min(count, Self.sliceLength) {
      slice = slice + 1 < count ? slice + 1 : 0
      update(slice, picture)
    }
  }

  private func filterMatches(_ row: EntryTable.Row, _ picture: Picture) -> Bool {
    row.isPresent && filter.matches(row, levels: picture.levels, at: picture.now)
  }

  /// Keys that begin with the same eight bytes have one rank.
  private func tie(_ rows: [EntryTable.Row]) -> SortedSlots.Tie {
    guard sort == .key else { return { _, _ in 0 } }
    return { left, right in
      let (a, b) = (rows[Int(left)].key, rows[Int(right)].key)
      return a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    }
  }

  private func rank(of row: EntryTable.Row) -> Int64 {
    let rank: Int64 =
      switch sort {
      case .hits: ~Int64(row.hits)
      case .last: row.used.map { ~$0.nanoseconds } ?? .max
      case .size: ~Int64(row.size ?? -1)
      case .age: row.created?.nanoseconds ?? .max
      case .timeLeft: row.topmost?.deadline?.nanoseconds ?? .max
      case .levels: Self.rank(of: row.presence)
      case .key: Self.rank(of: row.key)
      }
    return max(rank, Self.unlisted + 1)
  }

  /// The topmost level first; among those of one, whoever lies in more levels.
  private static func rank(of presence: [EntryTable.Presence?]) -> Int64 {
    presence.prefix(60).reduce(Int64(0)) { $0 << 1 | ($1 == nil ? 1 : 0) }
  }

  private static func rank(of key: String) -> Int64 {
    var prefix: UInt64 = 0
    var left = 8
    for byte in key.utf8.prefix(8) {
      prefix = prefix << 8 | UInt64(byte)
      left -= 1
    }
    prefix <<= UInt64(left * 8)
    return Int64(bitPattern: prefix ^ (1 << 63))
  }

  /// The entry under the cursor.
  package func current(in picture: Picture) -> EntryTable.Row? {
    guard order.indices.contains(cursor) else { return nil }
    let slot = order[cursor]
    return picture.entries.rows.indices.contains(slot) ? picture.entries.rows[slot] : nil
  }

  package mutating func move(to place: Int, in picture: Picture) {
    cursor = min(max(0, place), max(0, order.count - 1))
    selected = current(in: picture)?.key
  }

  package mutating func move(by distance: Int, in picture: Picture) {
    move(to: cursor.addingReportingOverflow(distance).partialValue, in: picture)
  }

  /// Scrolls as little as needed to have the cursor in a window of so many rows.
  package mutating func keepVisible(rows: Int) {
    let rows = max(1, rows)
    top = min(max(0, top), max(0, order.count - rows))
    if cursor < top { top = cursor }
    if cursor >= top + rows { top = cursor - rows + 1 }
  }
}
