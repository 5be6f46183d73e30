package import CacheEngine

/// Which key lies in which level, as far as the events tell; corrected by the levels' own lists.
package struct EntryTable: Sendable {
  /// How a level holds a key.
  package struct Presence: Sendable, Equatable {
    /// `nil` if the store was not seen.
    package var created: CacheInstant?
    package var deadline: CacheInstant?
    /// It was served after its deadline.
    package var isStale = false
  }

  package struct Row: Sendable {
    package var key: String
    /// One place for each level.
    package var presence: [Presence?]
    package var size: Int?
    package var hits = 0
    /// When it was last stored or hit; `nil` if it was only listed, by a level that does not say when it stored it.
    package fileprivate(set) var used: CacheInstant?

    package var isPresent: Bool { presence.contains { $0 != nil } }
    /// How the topmost level that has it holds it.
    package var topmost: Presence? { presence.lazy.compactMap(\.self).first }
    /// When the oldest copy was stored, if that was seen.
    package var created: CacheInstant? { presence.lazy.compactMap { $0?.created }.min() }

    fileprivate mutating func touch(at time: CacheInstant) { used = max(used ?? time, time) }

    /// Rows of the lowest ranks are forgotten first.
    fileprivate var rank: Int64 { isPresent ? used?.nanoseconds ?? .min + 1 : .min }
  }

  /// The most keys that are kept in mind.
  package static let capacity = 1 << 17
  /// So many changes are kept for the list; one that has missed more looks at everything.
  private static let mostChanges = 50_000

  package private(set) var rows: [Row] = []
  private var slots: [String: Int] = [:]
  private let levelCount: Int
  private let capacity: Int
  /// Goes up when so much changed at once that a list looks at everything again.
  package private(set) var epoch = 0
  /// The slots that changed, in order; a change has a number.
  private var changed: [Int32] = []
  /// The number of the first change that is kept.
  private(set) var firstChange = 0
  var endOfChanges: Int { firstChange + changed.count }

  package init(levelCount: Int, capacity: Int = EntryTable.capacity) {
    self.levelCount = levelCount
    self.capacity = max(1, capacity)
  }

  package func row(_ key: String) -> Row? { slots[key].map { rows[$0] } }
  func slot(of key: String) -> Int? { slots[key] }

  /// The slots that changed from a change on.
  package func changes(since number: Int) -> ArraySlice<Int32> {
    changed[min(max(0, number - firstChange), changed.count)...]
  }

  private mutating func note(_ slot: Int) {
    changed.append(Int32(slot))
    guard changed.count >= Self.mostChanges * 2 else { return }
    changed.removeFirst(Self.mostChanges)
    firstChange += Self.mostChanges
  }

  package mutating func stored(_ key: String, level: Int, cost: Int?, deadline: CacheInstant?, at time: CacheInstant) {
    change(key) { row in
      row.presence[level] = Presence(created: time, deadline: deadline)
      if let cost { row.size = cost }
      row.touch(at: time)
    }
  }

  package mutating func hit(_ key: String, level: Int, cost: Int?, deadline: CacheInstant?, at time: CacheInstant) {
    change(key) { row in
      let created = row.presence[level]?.created
      row.presence[level] = Presence(created: created, deadline: deadline)
      if let cost { row.size = cost }
      row.hits += 1
      row.touch(at: time)
    }
  }

  package mutating func servedStale(_ key: String, level: Int, deadline: CacheInstant?, at time: CacheInstant) {
    change(key) { row in
      let created = row.presence[level]?.created
      row.presence[level] = Presence(created: created, deadline: deadline, isStale: true)
      row.hits += 1
      row.touch(at: time)
    }
  }

  package mutating func gone(_ key: String, level: Int) {
    guard let slot = slots[key], rows[slot].presence[level] != nil else { return }
    note(slot)
    rows[slot].presence[level] = nil
  }

  /// What a level listed under its own name for a key is the entry of another key.
  mutating func renamed(_ old: String, to new: String, level: Int) {
    guard old != new, let slot = slots[old], let presence = rows[slot].presence[level] else { return }
    let renamed = rows[slot]
    gone(old, level: level)
    change(new) { row in
      row.presence[level] = presence
      row.size = row.size ?? renamed.size
      row.used = row.used ?? renamed.used
    }
  }

  package mutating func cleared(level: Int) {
    epoch += 1
    for slot in rows.indices { rows[slot].presence[level] = nil }
  }

  package func count(level: Int) -> Int { rows.reduce(0) { $0 + ($1.presence[level] == nil ? 0 : 1) } }

  /// Takes a level's own list of what it holds for the truth.
  ///
  /// What was stored since the list was asked for may be missing from it and stays.
  package mutating func corrected(level: Int, by contents: [ListedEntry], askedAt asked: CacheInstant) {
    epoch += 1
    var stale: [String: CacheInstant] = [:]
    for slot in rows.indices {
      guard let presence = rows[slot].presence[level] else { continue }
      if let created = presence.created, created >= asked { continue }
      if presence.isStale { stale[rows[slot].key] = presence.deadline }
      rows[slot].presence[level] = nil
    }
    add(contents, level: level)
    for (key, deadline) in stale {
      guard let slot = slots[key], rows[slot].presence[level]?.deadline == deadline else { continue }
      rows[slot].presence[level]?.isStale = true
    }
  }

  /// Takes in entries that a level holds, beside what is known of it.
  package mutating func add(_ contents: [ListedEntry], level: Int) {
    for entry in contents.prefix(capacity) {
      change(entry.key) { row in
        row.presence[level] = Presence(created: entry.created, deadline: entry.deadline)
        if row.size == nil { row.size = entry.cost }
        if row.used == nil { row.used = entry.used ?? entry.created }
      }
    }
  }

  private mutating func change(_ key: String, _ body: (inout Row) -> Void) {
    if let slot = slots[key] {
      note(slot)
      return body(&rows[slot])
    }
    if rows.count >= capacity { forgetOldest() }
    note(rows.count)
    slots[key] = rows.count
    var row = Row(key: key, presence: Array(repeating: nil, count: levelCount))
    body(&row)
    rows.append(row)
  }

  /// Keeps three quarters: keys that lie somewhere before those that do not, then by their last touch.
  private mutating func forgetOldest() {
    let ranks = rows.map(\.rank)
    let bound = ranks.sorted()[rows.count / 4]
    // Only as many of those at the bound as there is room for.
    var room = capacity * 3 / 4 - ranks.count { $0 > bound }
    // In place: copies of both would take 14 MiB.
    rows.removeAll { row in
      if row.rank == bound { room -= 1 }
      return row.rank < bound || row.rank == bound && room < 0
    }
    slots.removeAll(keepingCapacity: true)
    epoch += 1
    for (slot, row) in rows.enumerated() { slots[row.key] = slot }
  }
}
