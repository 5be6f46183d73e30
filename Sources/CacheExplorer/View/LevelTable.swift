import CacheEngine

/// The levels as rows, for screens on which boxes have no room.
enum LevelTable {
  private enum Column: CaseIterable {
    case share, rate, history, median, high, used, keys, evicted

    var title: DisplayText {
      switch self {
      case .share: "HIT%"
      case .rate: "REQ/S"
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
      case .share, .rate, .median, .high, .keys, .evicted: 6
      case .history: 10
      case .used: 14
      }
    }

    var isLeftAligned: Bool { self == .history || self == .used }

    /// The first to go when there is no room.
    static let dropped: [Column] = [.history, .evicted, .keys, .used, .high, .median, .rate]
  }

  private static let nameWidth = 9

  static func draw(_ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    var columns = Column.allCases
    func needed() -> Int { 3 + nameWidth + columns.reduce(0) { $0 + $1.width + 1 } }
    for column in Column.dropped where needed() > rect.width { columns.removeAll { $0 == column } }

    drawTitles(columns, in: rect, on: &canvas)
    let room = rect.height - 1
    let shown = picture.levels.count > room ? max(0, room - 1) : picture.levels.count
    for index in 0..<shown {
      drawLevel(picture, index, columns, in: rect, y: rect.y + 1 + index, on: &canvas)
    }
    if shown < picture.levels.count {
      canvas.write(
        "   … \(picture.levels.count - shown) more levels: enlarge the window", x: rect.x, y: rect.bottom - 1,
        style: .faint, limit: rect.width)
    }
  }

  private static func drawTitles(_ columns: [Column], in rect: Rect, on canvas: inout Canvas) {
    var x = canvas.write("   " + DisplayText("LEVEL").padded(to: nameWidth), x: rect.x, y: rect.y, style: .faint)
    for column in columns {
      let title =
        column.isLeftAligned ? column.title.padded(to: column.width) : column.title.rightAligned(to: column.width)
      x = canvas.write(" " + title, x: x, y: rect.y, style: .faint)
    }
  }

  private static func drawLevel(
    _ picture: Picture, _ index: Int, _ columns: [Column], in rect: Rect, y: Int, on canvas: inout Canvas
  ) {
    let level = picture.levels[index]
    let number: DisplayText = level.isOrigin ? "   " : DisplayText("\(index + 1)").rightAligned(to: 2) + " "
    var x = canvas.write(number, x: rect.x, y: y, style: .faint)
    let name = DisplayText(level.isOrigin ? level.name : level.name.uppercased()).shortened(to: nameWidth)
    x = canvas.write(name.padded(to: nameWidth), x: x, y: y, style: .title)
    for column in columns {
      x += 1
      if column == .used {
        drawUsed(level, picture.traffic[index], x: x, y: y, on: &canvas)
      } else {
        let (text, style) = cell(column, level, picture.traffic[index], picture.now)
        let shown = text.clipped(to: column.width)
        canvas.write(
          column.isLeftAligned ? shown : shown.rightAligned(to: column.width), x: x, y: y, style: style)
      }
      if column == .history { drawWarnings(picture.traffic[index], picture.now, x: x, y: y, on: &canvas) }
      x += column.width
    }
    if let warning = picture.warning, warning.parts.contains(where: { $0.level == index }),
      warning.time.duration(to: picture.now) < WarningReport.flash
    {
      canvas.reverse(Rect(x: rect.x, y: y, width: rect.width, height: 1))
    }
  }

  private static func drawWarnings(
    _ traffic: LevelTraffic, _ now: CacheInstant, x: Int, y: Int, on canvas: inout Canvas
  ) {
    for (place, second) in traffic.seconds.last(Column.history.width, at: now).enumerated() where second.hasWarning {
      canvas.write("▲", x: x + place, y: y, style: .warning)
    }
  }

  private static func cell(
    _ column: Column, _ level: LevelRow, _ traffic: LevelTraffic, _ now: CacheInstant
  ) -> (DisplayText, Style) {
    func latency(_ share: Double) -> DisplayText {
      DisplayText(traffic.latency.percentile(share).map { Format.latency(nanoseconds: $0) } ?? Format.none)
    }
    switch column {
    case .share:
      // Whoever asks an origin gets an answer: a hit rate would say nothing.
      return (DisplayText(level.isOrigin ? Format.none : Format.percent(traffic.hits, of: traffic.answered)), .hit)
    case .rate: return (DisplayText(Format.rate(traffic.seconds.rate(at: now) { $0.asked })), .plain)
    case .history:
      let seconds = traffic.seconds.last(column.width, at: now)
      return (Canvas.sparkline(seconds.lazy.map { Double($0.asked) }), .accent)
    case .median: return (latency(0.5), .plain)
    case .high: return (latency(0.99), .plain)
    case .keys: return (DisplayText(level.usage.map { Format.count($0.count) } ?? Format.none), .plain)
    case .evicted:
      guard !level.isOrigin else { return (DisplayText(Format.none), .faint) }
      return (DisplayText(Format.perSecond(traffic.seconds.rate(at: now) { $0.evicted })), .faint)
    case .used: return ("", .plain)
    }
  }

  private static func drawUsed(_ level: LevelRow, _ traffic: LevelTraffic, x: Int, y: Int, on canvas: inout Canvas) {
    guard !level.isOrigin else {
      let errors = Format.percent(traffic.errors, of: traffic.answered)
      canvas.write(
        "err \(errors == Format.none ? errors : errors + "%")", x: x, y: y, style: traffic.errors > 0 ? .error : .faint)
      return
    }
    guard let usage = level.usage else { return _ = canvas.write("—", x: x, y: y, style: .faint) }
    guard let fraction = usage.fraction else {
      return _ = canvas.write(DisplayText(Format.bytes(usage.cost)), x: x, y: y)
    }
    canvas.bar(x: x, y: y, width: 9, fraction: fraction, style: fraction > 0.95 ? .warning : .accent)
    canvas.write(DisplayText(usage.percent).rightAligned(to: 5), x: x + 9, y: y)
  }
}
