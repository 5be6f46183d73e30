import CacheEngine
import ExplorerState
import ExplorerText

/// The levels as rows, for screens on which boxes have no room.
enum LevelTable {
  private enum Column: CaseIterable {
    case share, rate, errors, history, median, high, used, keys, evicted

    var title: DisplayText {
      switch self {
      case .share: "HIT%"
      case .rate: "REQ/S"
      case .errors: "ERR \(SecondRing.rateWindow)s"
      case .history: "HISTORY"
      case .median: "p50"
      case .high: "p99"
      case .used: "USED"
      case .keys: "KEYS"
      case .evicted: "EVICT"
      }
    }

    var width: Int {
      switch self {
      case .share, .rate, .errors, .median, .high, .keys, .evicted: 6
      case .history: 10
      case .used: 14
      }
    }

    var isLeftAligned: Bool { self == .history || self == .used }

    /// The first to go when there is no room.
    static let dropped: [Column] = [.history, .evicted, .keys, .used, .high, .median, .rate]
    /// The same where errors have taken the place of what was evicted.
    static let droppedBesideErrors: [Column] = [.evicted, .history, .keys, .used, .high, .median, .rate, .errors]
  }

  private static let nameWidth = 9

  /// How many rows the table has for every level and operator, or with operators in as few rows as can be.
  static func height(_ chain: [ChainPart], isCompact: Bool) -> Int {
    1 + ChainTree.rows(chain, isCompact: isCompact).count
  }

  /// What the table consists of where it has so much room.
  private struct Arrangement {
    var rows: [ChainTree.Row]
    /// How many of the rows have room.
    var shown: Int
    /// The width of a level's name.
    var name: Int
    var columns: [Column]

    init(_ picture: Picture, in rect: Rect) {
      let full = ChainTree.rows(picture.chain, isCompact: false)
      rows = full.count < rect.height ? full : ChainTree.rows(picture.chain, isCompact: true)
      name = nameWidth(rows, picture, in: rect.width)
      let hasErrors = picture.levels.indices.contains { ErrorShare(picture, level: $0).hasAny }
      columns = Column.allCases.filter { $0 != .errors || hasErrors }
      for column in hasErrors ? Column.droppedBesideErrors : Column.dropped
      where 3 + name + columns.reduce(0, { $0 + $1.width + 1 }) > rect.width {
        columns.removeAll { $0 == column }
      }
      let room = rect.height - 1
      shown = rows.count > room ? max(0, room - 1) : rows.count
    }
  }

  /// Where each level's row and its history stand.
  static func places(_ picture: Picture, in rect: Rect) -> [LevelPlace] {
    let table = Arrangement(picture, in: rect)
    let before = table.columns.firstIndex(of: .history).map { table.columns[..<$0].reduce(0) { $0 + $1.width + 1 } }
    return table.rows.prefix(table.shown).enumerated().compactMap { line, row in
      guard case .level(let index) = row.content else { return nil }
      let y = rect.y + 1 + line
      let history = before.map {
        Rect(x: rect.x + 3 + table.name + $0 + 1, y: y, width: Column.history.width, height: 1)
      }
      return LevelPlace(
        level: index, frame: Rect(x: rect.x, y: y, width: rect.width, height: 1), history: history)
    }
  }

  static func draw(_ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    let table = Arrangement(picture, in: rect)
    let (rows, shown) = (table.rows, table.shown)
    drawTitles(table, in: rect, on: &canvas)
    for (line, row) in rows.prefix(shown).enumerated() {
      let y = rect.y + 1 + line
      let x = rect.x + 3
      canvas.write(DisplayText(row.branch), x: x, y: y, style: .border)
      let branch = DisplayText(row.branch).width
      switch row.content {
      case .level(let index):
        drawLevel(picture, index, table, branch: branch, in: rect.row(1 + line), on: &canvas)
      case .operators(let held):
        let texts = held.map { OperatorText(picture, $0) }
        let limit = rect.width - 4 - branch
        let spans =
          texts.count == 1
          ? texts[0].row(newsAt: table.name + 1 - branch, in: limit) : OperatorText.line(texts, in: limit)
        canvas.write(spans, x: x + branch, y: y, limit: limit)
      case .lane(let index, let isFirst, let levels):
        let place = Rect(x: x + branch, y: y, width: rect.width - 4 - branch, height: 1)
        drawLane(picture, index, isFirst, levels, in: place, on: &canvas)
      }
    }
    guard shown < rows.count else { return }
    let hidden = rows.count - shown
    let levels = rows[shown...].count { if case .level = $0.content { true } else { false } }
    let what: [DisplayText] = [
      hidden == levels ? "\(hidden) more levels" : "\(hidden) more rows, \(levels) of them levels",
      "\(hidden) more rows",
    ]
    let texts = what.map { "   … " + $0 + ": enlarge the window" }
    let text = texts.first { $0.width <= rect.width } ?? texts[1]
    canvas.write(text, x: rect.x, y: rect.bottom - 1, style: .faint, limit: rect.width)
  }

  /// Wide enough for every level with what joins it, within bounds.
  private static func nameWidth(_ rows: [ChainTree.Row], _ picture: Picture, in width: Int) -> Int {
    let widest = rows.reduce(0) { widest, row in
      guard case .level(let index) = row.content, !row.branch.isEmpty else { return widest }
      return max(widest, DisplayText(row.branch).width + DisplayText(picture.levels[index].name).width + 5)
    }
    return max(nameWidth, min(widest, width >= 100 ? 30 : width >= 60 ? 18 : 12))
  }

  private static func drawLane(
    _ picture: Picture, _ index: Int, _ isFirst: Bool, _ levels: [Int], in place: Rect, on canvas: inout Canvas
  ) {
    let row = picture.operators[index]
    let label: DisplayText = isFirst ? "◇ " + DisplayText(row.setting) : "◇ else"
    let title = row.isNamed && isFirst ? DisplayText(row.name) + " " + label : label
    let rate = levels.first.flatMap { picture.traffic[$0].seconds.rate(at: picture.now) { $0.asked } }
    canvas.write(
      [Span(title.clipped(to: place.width - 10), .key), Span("  \(Format.perSecond(rate))", .faint)], x: place.x,
      y: place.y, limit: place.width)
  }

  private static func drawTitles(_ table: Arrangement, in rect: Rect, on canvas: inout Canvas) {
    var x = canvas.write("   " + DisplayText("LEVEL").padded(to: table.name), x: rect.x, y: rect.y, style: .faint)
    for column in table.columns {
      let title =
        column.isLeftAligned ? column.title.padded(to: column.width) : column.title.rightAligned(to: column.width)
      x = canvas.write(" " + title, x: x, y: rect.y, style: .faint)
    }
  }

  private static func drawLevel(
    _ picture: Picture, _ index: Int, _ table: Arrangement, branch: Int, in row: Rect, on canvas: inout Canvas
  ) {
    let (level, y) = (picture.levels[index], row.y)
    let number = DisplayText(LevelRow.number(index, of: picture.levels))
    canvas.write(number, endingAt: row.x + 3, y: y, style: .faint)
    let room = table.name - branch
    let name = DisplayText(level.isOrigin ? level.name : level.name.uppercased()).shortened(to: max(1, room))
    canvas.write(name, x: row.x + 3 + branch, y: y, style: .title)
    drawMarks(picture, index, room: room - name.width - 1, endingAt: row.x + 3 + table.name, y: y, on: &canvas)
    var x = row.x + 3 + table.name
    for column in table.columns {
      x += 1
      if column == .used {
        drawUsed(level, picture, index, x: x, y: y, on: &canvas)
      } else {
        let (text, style) = cell(column, picture, index)
        let shown = text.clipped(to: column.width)
        canvas.write(
          column.isLeftAligned ? shown : shown.rightAligned(to: column.width), x: x, y: y, style: style)
      }
      if column == .history { drawWarnings(picture.traffic[index], picture.now, x: x, y: y, on: &canvas) }
      x += column.width
    }
    if let fault = level.fault {
      canvas.write(" ✕ " + DisplayText(fault).clipped(to: 24), endingAt: row.right, y: y, style: .warning)
    }
    if let warning = picture.warning, warning.parts.contains(where: { $0.level == index }),
      warning.time.duration(to: picture.now) < WarningReport.flash
    {
      canvas.reverse(Rect(x: row.x, y: y, width: row.width, height: 1))
    }
  }

  /// The signs of the level's states, and how often it served what had expired.
  private static func drawMarks(
    _ picture: Picture, _ index: Int, room: Int, endingAt end: Int, y: Int, on canvas: inout Canvas
  ) {
    var (x, left) = (end, room)
    var marks = LevelState.all(picture, level: index).map { Span($0.sign, $0.style) }
    if picture.traffic[index].stale > 0 {
      marks.append(Span("≈\(Format.short(picture.traffic[index].stale))", .warning))
    }
    for mark in marks where mark.text.width <= left {
      canvas.write(mark.text, endingAt: x, y: y, style: mark.style)
      (x, left) = (x - mark.text.width, left - mark.text.width)
    }
  }

  private static func drawWarnings(
    _ traffic: LevelTraffic, _ now: CacheInstant, x: Int, y: Int, on canvas: inout Canvas
  ) {
    for (place, second) in traffic.seconds.last(Column.history.width, at: now).enumerated() where second.hasWarning {
      canvas.write("▲", x: x + place, y: y, style: .warning)
    }
  }

  private static func cell(_ column: Column, _ picture: Picture, _ index: Int) -> (DisplayText, Style) {
    let (level, figures, now) = (picture.levels[index], picture.figures(index), picture.now)
    let seconds = picture.traffic[index].seconds
    func latency(_ share: Double) -> DisplayText {
      DisplayText(figures.latency.nanoseconds(share).map { Format.latency(nanoseconds: $0) } ?? Format.none)
    }
    switch column {
    case .share:
      // Whoever asks an origin gets an answer: a hit rate would say nothing.
      return (DisplayText(level.isOrigin ? Format.none : Format.percent(figures.hits, of: figures.answered)), .hit)
    case .rate: return (DisplayText(Format.rate(seconds.rate(at: now) { $0.asked })), .plain)
    case .errors:
      let errors = ErrorShare(picture, level: index)
      return (DisplayText(errors.recentShare), errors.hasRecent ? .error : .faint)
    case .history:
      let last = seconds.last(column.width, at: now)
      return (Canvas.sparkline(last.map { Double($0.asked) }), .accent)
    case .median: return (latency(0.5), .plain)
    case .high: return (latency(0.99), .plain)
    case .keys: return (DisplayText(level.usage.map { Format.count($0.count) } ?? Format.none), .plain)
    case .evicted:
      guard !level.isOrigin else { return (DisplayText(Format.none), .faint) }
      return (DisplayText(Format.perSecond(seconds.rate(at: now) { $0.evicted })), .faint)
    case .used: return ("", .plain)
    }
  }

  private static func drawUsed(
    _ level: LevelRow, _ picture: Picture, _ index: Int, x: Int, y: Int, on canvas: inout Canvas
  ) {
    guard !level.isOrigin else {
      let errors = ErrorShare(picture, level: index)
      let items = errors.items(isRecent: picture.isRecent)
      return _ = canvas.write(LevelBoxes.fitting(items, in: Column.used.width), x: x, y: y, style: errors.style)
    }
    if let shared = level.shared {
      let style: Style = shared.deafFor != nil || !shared.isConnected ? .warning : .plain
      return _ = canvas.write(LevelBoxes.fitting(shared.items, in: Column.used.width), x: x, y: y, style: style)
    }
    guard let usage = level.usage else { return _ = canvas.write("—", x: x, y: y, style: .faint) }
    guard let fraction = usage.fraction else {
      return _ = canvas.write(DisplayText(Format.bytes(usage.cost)), x: x, y: y)
    }
    guard fraction <= LevelUsage.full else {
      let text: DisplayText = "\(usage.percent) full"
      let bar = Column.used.width - text.width - 1
      canvas.bar(x: x, y: y, width: bar, fraction: fraction, style: .warning)
      return canvas.write(text, endingAt: x + Column.used.width, y: y, style: .warning)
    }
    canvas.bar(x: x, y: y, width: 9, fraction: fraction, style: .accent)
    canvas.write(DisplayText(usage.percent).rightAligned(to: 5), x: x + 9, y: y)
  }
}

/// Where a level stands on the overview.
struct LevelPlace {
  /// The index of the level.
  var level: Int
  /// Its box, or its row.
  var frame: Rect
  /// A column for each second, the newest at the right; `nil` if there is no room for it.
  var history: Rect?
}
