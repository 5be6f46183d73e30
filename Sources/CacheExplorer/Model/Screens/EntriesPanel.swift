package import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let entries = Page("Entries", key: "2", panels: [EntriesPanel.self])
}

extension PanelID {
  package static let entries = PanelID(EntriesPanel.self)
}

extension Model {
  package var list: EntryList {
    get { self[EntriesPanel.self] }
    _modify { yield &self[EntriesPanel.self] }
  }
}

/// The keys: where each lies, how large it is, how long it lives yet, and how much it is used.
package enum EntriesPanel: Panel {
  package static let initial = EntryList()
  package static let fixedRows = 3
  static let sort = Action.own("sort")
  static let reverseSort = Action.own("reverse the order")

  package static let keys = [
    KeyTable.bind(
      [.character("s")], "s", sort, "sort the entries, or the table of this screen, by the next column", .look,
      label: "Sort"),
    KeyTable.bind([.character("S")], "S", reverseSort, "turn the order round", .look),
  ]

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    guard [sort, reverseSort].contains(action), model.page != .keyspace, model.page != .fleet else { return nil }
    guard model.page.panels.contains(.entries) else {
      model.refuse("nothing on this screen is sorted; 2 shows the entries")
      return []
    }
    if action == sort { model.list.sort = model.list.sort.next }
    model.list.isReversed = action == reverseSort && !model.list.isReversed
    model.list.refresh(model.shown, isForced: true)
    return []
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    case .tick: model.list.refresh(model.shown, isForced: false, speed: model.speed)
    case .filter(let text): search(&model, for: text)
    case .sort(let name):
      if let column = EntryList.Column(command: name) { model.list.sort = column }
      model.list.isReversed = false
      model.list.refresh(model.shown, isForced: true)
    case .snapshot: if !model.isFrozen { model.list.refresh(model.live, isForced: true) }
    case .found, .replaced, .attachedAgain: model.list.refresh(model.shown, isForced: true)
    default: break
    }
    return []
  }

  package static func move(_ model: inout Model, by distance: Int) { model.list.move(by: distance, in: model.shown) }
  package static func keepVisible(_ model: inout Model, rows: Int) { model.list.keepVisible(rows: rows) }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let place = model.list.top + row - 2
    guard row >= 2, row < rect.height - 1, model.list.order.indices.contains(place) else { return false }
    model.list.move(to: place, in: model.shown)
    return true
  }

  package static func request(_ model: Model) -> RequestID? { key(model).flatMap { model.shown.calls.latest(of: $0) } }
  package static func key(_ model: Model) -> String? { model.list.current(in: model.shown)?.key }
  package static var missing: String { "nothing is listed" }

  package static func detail(_ model: Model) -> RowDetail? {
    let picture = model.shown
    guard let row = model.list.current(in: picture) else { return nil }
    func ago(_ instant: CacheInstant) -> String { FigureTable.span(instant.duration(to: picture.now)) + " ago" }
    var detail = RowDetail("Entry \(model.shown(row.key))")
    for (index, level) in picture.levels.enumerated() where !level.isOrigin {
      let (sign, style) = sign(row.presence[index], picture.now)
      guard let presence = row.presence[index] else {
        let cause = picture.causes.cause(of: row.key, level: index)
        let why = cause.map { CauseText.sentence($0, at: .level(index), key: row.key, model) }
        detail.add(DisplayText(level.name.uppercased()), sign + " " + DisplayText(why ?? "does not have it"), style)
        continue
      }
      var parts = [presence.created.map { "stored \(ago($0))" } ?? "stored before it was seen"]
      switch presence.deadline {
      case nil: parts.append(endless(model, inFull: true))
      case let deadline? where deadline > picture.now:
        parts.append("expires in \(FigureTable.span(picture.now.duration(to: deadline)))")
      case let deadline?: parts.append("expired \(ago(deadline))")
      }
      if presence.isStale { parts.append("served since then") }
      detail.add(DisplayText(level.name.uppercased()), sign + " " + DisplayText(parts.joined(separator: ", ")), style)
    }
    if let size = row.size { detail.add("size", Format.exactBytes(size)) }
    let used = row.used.map { ", last used \(ago($0))" } ?? ""
    detail.add("hits", "\(Format.count(row.hits)) since the start\(used)")
    detail.add(
      "", "none of the last \(Format.count(RequestLog.capacity)) requests was for it; v shows the value", .faint)
    return detail
  }

  package static func rows(_ model: Model) -> RowTable? {
    let picture = model.shown
    func milliseconds(_ duration: Duration) -> JSONText { .number(Int(duration.clampedNanoseconds / 1_000_000)) }
    let rows = model.list.order.indices.map { place -> [JSONText?] in
      let row = picture.entries.rows[model.list.order[place]]
      let levels = zip(picture.levels, row.presence).filter { $1 != nil }.map(\.0.name).joined(separator: " ")
      return [
        .text(model.told(row.key)), .text(levels), row.size.map { .number($0) },
        row.created.map { milliseconds($0.duration(to: picture.now)) },
        row.topmost?.deadline.map { milliseconds(picture.now.duration(to: $0)) }, .number(row.hits),
      ]
    }
    return RowTable(["key", "levels", "bytes", "ageMilliseconds", "timeLeftMilliseconds", "hits"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    // On the overview nothing else explains the levels, which cannot be focused everywhere.
    let row = model.list.current(in: model.shown)
    let now = model.shown.now
    let entries = [
      Figure(
        name: "SIZE", value: row?.size.map(Format.exactBytes) ?? Format.none,
        definition: "what the entry weighs in the level that told last", unit: "bytes", window: "now",
        source: "cost of the last hit or store"),
      Figure(
        name: "AGE", value: row?.created.map { FigureTable.span($0.duration(to: now)) } ?? Format.none,
        definition:
          "since the oldest copy was stored, if that was seen; in the list rounded down to 5 s, to tens of seconds, to minutes",
        unit: "time",
        window: "now",
        source: "time of the event stored"),
      Figure(
        name: "TTL LEFT",
        value: row?.topmost?.deadline.map { FigureTable.span(now.duration(to: $0)) } ?? endless(model),
        definition:
          "until the copy in the topmost level that has one expires, in the list rounded up by a tenth at most; the bar is the share of its whole life",
        unit: "time", window: "now", source: "deadline of the last hit or store"),
      Figure(
        name: "HITS", value: row.map { Format.count($0.hits) } ?? Format.none,
        definition: "look-ups that any level answered with this key", unit: "look-ups", window: FigureTable.session,
        source: "events hit of all levels but origins"),
      Figure(
        name: "LAST", value: row?.used.map { FigureTable.span($0.duration(to: now)) } ?? Format.none,
        definition: "since the key was last stored or hit; in the list as AGE", unit: "time", window: "now",
        source: "events stored, hit"),
    ]
    guard model.page == .overview else { return FigureTable("Entries", entries) }
    return FigureTable("Levels and Entries", LevelsPanel.figures(of: model.shown) + entries)
  }

  private struct Columns {
    /// The levels that have a sign for each entry.
    let holders: [Int]
    var key = 0
    /// Cells between two signs of presence.
    var presenceGap = 0
    var presence = 0
    var bar = 0
    var hasAge = true
    var hasHits = true
    var hasSize = true

    init(width: Int, holders: [Int]) {
      self.holders = holders
      presenceGap = width >= 72 ? 1 : 0
      presence = max(1, holders.count + (holders.count - 1) * presenceGap)
      bar = width >= 72 ? 10 : 5
      // Marker, gap, presence, size 9, age 6, bar and time 7, hits 7, last 6.
      func left() -> Int {
        width - 1 - 1 - presence - (hasSize ? 10 : 0) - (hasAge ? 6 : 0) - (bar + 8) - (hasHits ? 7 : 0) - 7
      }
      if left() < 12 { hasAge = false }
      if left() < 12 { hasHits = false }
      if left() < 12 { hasSize = false }
      key = max(4, left())
    }
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    let list = model.list
    let rows = max(0, rect.height - 3)
    let last = min(list.order.count, list.top + rows)
    var title: DisplayText = "Entries"
    if list.order.isEmpty {
      title += " 0"
    } else {
      title += " \(list.top + 1)–\(last) of \(Format.count(list.order.count))"
    }
    if picture.lost > 0 { title += " · told in part" }
    if !list.filter.text.isEmpty { title += " · /" + DisplayText(list.filter.text).clipped(to: 20) }
    for level in picture.levels where level.unlisted > 0 {
      title += " · +\(Format.count(level.unlisted)) of " + DisplayText(level.name.uppercased()) + " not listed"
    }
    let sort: DisplayText = "sort \(list.sort.rawValue)\(list.isReversed ? "▲" : "▼")"
    let hasStale = picture.levels.contains(where: \.keepsExpired)
    let legend: DisplayText = " · ● fresh ◐ <10% ✕ expired" + (hasStale ? " ≈ stale" : "")
    canvas.box(
      rect, title: frame.title(title, as: .entries),
      right: rect.width >= 100 || rect.width - title.width > 50 ? sort + legend : sort,
      isFocused: frame.isFocused)
    guard rect.height >= 4 else { return }

    let holders = picture.levels.indices.filter { !picture.levels[$0].isOrigin }
    let columns = Columns(width: rect.width - 2, holders: holders)
    let signs = LevelRow.signs(picture.levels)
    drawTitles(columns, holders.map { signs[$0] }, in: rect, on: &canvas)
    guard !list.order.isEmpty else {
      let text =
        list.filter.isEmpty
        ? "nothing is cached yet" + model.hint(":set KEY VALUE stores, :get KEY reads")
        : "no key matches; Esc clears the filter"
      canvas.write(DisplayText(text), x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
      return
    }
    var callers: [String: Int] = [:]
    for flight in picture.flights.flights.values { callers[flight.key] = max(callers[flight.key] ?? 0, flight.callers) }
    let endless = endless(model)
    let window = list.order.window(list.top..<max(list.top, last)).slots
    for (place, slot) in zip(list.top..., window) {
      guard picture.entries.rows.indices.contains(slot) else { continue }
      let row = picture.entries.rows[slot]
      let line = rect.inner.row(1 + place - list.top)
      canvas.write(place == list.cursor ? "▸" : " ", x: line.x, y: line.y, style: .accent)
      let key = Span(DisplayText(model.shown(row.key)), place == list.cursor ? .key : .plain)
      draw(row, key, columns, picture.now, endless, callers: callers[row.key], in: line, on: &canvas)
    }
  }

  private static func drawTitles(_ columns: Columns, _ signs: [String], in rect: Rect, on canvas: inout Canvas) {
    let gap = String(repeating: " ", count: columns.presenceGap)
    let letters = DisplayText(signs.map { String($0.prefix(1)) }.joined(separator: gap))
    var text = " " + DisplayText("KEY").padded(to: columns.key) + " " + letters.padded(to: columns.presence)
    if columns.hasSize { text += DisplayText("SIZE").rightAligned(to: 10) }
    if columns.hasAge { text += DisplayText("AGE").rightAligned(to: 6) }
    text += "  " + DisplayText("TTL LEFT").padded(to: columns.bar + 6)
    if columns.hasHits { text += DisplayText("HITS").rightAligned(to: 7) }
    text += "  " + DisplayText("LAST").padded(to: 5)
    canvas.write(text, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
  }

  private static func draw(
    _ row: EntryTable.Row, _ key: Span, _ columns: Columns, _ now: CacheInstant, _ endless: String, callers: Int?,
    in line: Rect, on canvas: inout Canvas
  ) {
    let (x, y) = (line.x, line.y)
    canvas.write(key.text.shortened(to: columns.key), x: x + 1, y: y, style: key.style)
    var place = x + 1 + columns.key + 1
    for level in columns.holders {
      let (sign, style) = sign(row.presence[level], now)
      canvas.write(sign, x: place, y: y, style: style)
      place += 1 + columns.presenceGap
    }
    place = x + 2 + columns.key + columns.presence
    if columns.hasSize {
      let size = DisplayText(row.size.map { Format.bytes($0) } ?? Format.none)
      place = canvas.write(size.rightAligned(to: 10), x: place, y: y)
    }
    if columns.hasAge {
      let age = row.created.map { Format.age(seconds: wholeSeconds($0.duration(to: now))) } ?? Format.none
      place = canvas.write(DisplayText(age).rightAligned(to: 6), x: place, y: y, style: .faint)
    }
    drawTimeLeft(row.topmost, now, endless, width: columns.bar, x: place + 2, y: y, on: &canvas)
    place += 2 + columns.bar + 6
    if columns.hasHits {
      place = canvas.write(DisplayText(Format.count(row.hits)).rightAligned(to: 7), x: place, y: y)
    }
    if let callers {
      canvas.write(DisplayText("⟳ ×\(callers)").clipped(to: 5), x: place + 2, y: y, style: .join)
    } else {
      let seconds = row.used.map { wholeSeconds($0.duration(to: now)) }
      let last = seconds.map { $0 < 1 ? "now" : Format.age(seconds: $0) } ?? Format.none
      canvas.write(DisplayText(last), x: place + 2, y: y, style: .faint)
    }
  }

  private static func sign(_ presence: EntryTable.Presence?, _ now: CacheInstant) -> (DisplayText, Style) {
    guard let presence else { return ("·", .faint) }
    guard let deadline = presence.deadline else { return ("●", .hit) }
    if deadline <= now { return presence.isStale ? ("≈", .warning) : ("✕", .warning) }
    guard let share = shareLeft(presence, now) else { return ("●", .hit) }
    return share < 0.1 ? ("◐", .warning) : ("●", .hit)
  }

  /// How much of its life is left; `nil` if the beginning or the end is not known.
  private static func shareLeft(_ presence: EntryTable.Presence, _ now: CacheInstant) -> Double? {
    guard let created = presence.created, let deadline = presence.deadline else { return nil }
    let whole = Double(created.duration(to: deadline).clampedNanoseconds)
    return whole > 0 ? Double(now.duration(to: deadline).clampedNanoseconds) / whole : 0
  }

  /// What is said of a copy that its level keeps without a deadline: behind a proxy, HTTP decides how long its responses are fresh.
  private static func endless(_ model: Model, inFull: Bool = false) -> String {
    guard ServedPanel.whyNot(model) == nil else { return "no expiry" }
    return inFull ? "kept while there is room; screen 9 says how long its responses are fresh" : "HTTP: see 9"
  }

  private static func drawTimeLeft(
    _ presence: EntryTable.Presence?, _ now: CacheInstant, _ endless: String, width: Int, x: Int, y: Int,
    on canvas: inout Canvas
  ) {
    guard let presence else { return _ = canvas.write("—", x: x, y: y, style: .faint) }
    guard let deadline = presence.deadline else {
      return _ = canvas.write(DisplayText(endless), x: x, y: y, style: .faint, limit: width + 6)
    }
    let left = now.duration(to: deadline)
    guard left > .zero else {
      let passed = Format.age(seconds: wholeSeconds(deadline.duration(to: now)))
      let text: DisplayText = presence.isStale ? "≈ stale \(passed)" : "expired \(passed)"
      return _ = canvas.write(text, x: x, y: y, style: .warning, limit: width + 6)
    }
    // Rounded up: as long as any time is left, it does not say 0s.
    let seconds = (left.clampedNanoseconds - 1) / 1_000_000_000 + 1
    if let share = shareLeft(presence, now), let created = presence.created {
      // What the number says, and in half cells: a bar that moves by itself keeps a screen at rest busy.
      let whole = Double(created.duration(to: deadline).clampedNanoseconds) / 1e9
      let shown = min(1, Double(Format.steppedTimeLeft(seconds: seconds)) / max(1, whole))
      let halves = max(1, (shown * Double(width * 2)).rounded(.up))
      canvas.bar(
        x: x, y: y, width: width, fraction: halves / Double(width * 2), style: share < 0.1 ? .warning : .hit)
    }
    // What ends soon stands out; the rest looks like the age beside it, so that a change of both is one change of colour.
    canvas.write(
      DisplayText(Format.timeLeft(seconds: seconds)).rightAligned(to: 5), x: x + width, y: y,
      style: seconds <= 20 ? .plain : .faint)
  }

  private static func wholeSeconds(_ duration: Duration) -> Int64 { duration.clampedNanoseconds / 1_000_000_000 }
}
