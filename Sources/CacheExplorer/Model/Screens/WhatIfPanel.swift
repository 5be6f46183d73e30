import CacheEngine
import CacheEngineHitRatio
package import ExplorerState
package import ExplorerText

extension Page {
  package static let whatIf = Page(
    "What if", key: "8", does: "What if: other capacities and policies", panels: [WhatIfPanel.self])
}

extension Model {
  package var whatIf: WhatIfSheet {
    get { self[WhatIfPanel.self] }
    _modify { yield &self[WhatIfPanel.self] }
  }
}

/// What each level would answer with other capacities and other policies, with the error beside each number.
package enum WhatIfPanel: Panel {
  package static let initial = WhatIfSheet()
  package static let questions = [Effect.refreshWhatIf]

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    case .whatIf(let reports, let unseen):
      if !model.isFrozen || model.whatIf.reports.isEmpty {
        (model.whatIf.reports, model.whatIf.unseen) = (reports, unseen)
      }
    case .showWhatIf:
      model.show(.whatIf)
      model.isZoomed = false
      return questions
    case .replaced, .attachedAgain: model.whatIf = WhatIfSheet()
    default: break
    }
    return []
  }

  package static func move(_ model: inout Model, by distance: Int) {
    let last = max(0, model.whatIf.reports.reduce(0) { $0 + WhatIfText.rows($1).count } - 1)
    model.whatIf.row = min(max(0, model.whatIf.row + min(max(distance, -1_000_000), 1_000_000)), last)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let lines = lines(model, width: rect.width - 4)
    guard let chosen = lines.row(atLine: row - 1, chosen: model.whatIf.row, room: rect.height - 2) else { return false }
    model.whatIf.row = chosen
    return true
  }

  package static var missing: String { "no level of this cache has a capacity that could be another" }

  package static func detail(_ model: Model) -> RowDetail? {
    var row = model.whatIf.row
    for report in model.whatIf.reports {
      let rows = WhatIfText.rows(report)
      guard row >= rows.count else { return WhatIfText.detail(rows[row], report) }
      row -= rows.count
    }
    return nil
  }

  package static func rows(_ model: Model) -> RowTable? {
    let rows = model.whatIf.reports.flatMap { report in
      report.estimates.map { estimate -> [JSONText?] in
        [
          .text(report.level.name), .text(estimate.eviction.name), .number(estimate.capacity),
          .text(report.level.unit.rawValue), .fraction(estimate.value), .fraction(estimate.margin),
        ]
      }
    }
    return RowTable(["level", "policy", "capacity", "unit", "hitRatio", "margin"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "What if",
      [
        Figure(
          name: "HIT RATE",
          definition: "what share of the look-ups the level would have answered; “now” is counted, not estimated",
          unit: "percent of the level's look-ups", window: FigureTable.session + " or the last whatif --reset",
          source: "ghost caches of hashes, asked for a sample of the keys (SHARDS, FAST 2015)"),
        Figure(
          name: "ERROR", definition: "how far the estimate may be off: 95 of 100 are closer", unit: "points",
          window: "as the hit rate", source: "the spread between 64 groups of keys"),
        Figure(
          name: "1 key in n",
          definition:
            "how many keys are looked at: fewer, whenever it takes more than 5 % of the requests' time or 8 MiB",
          unit: "keys", window: "now", source: "the time of the processor that the ghost caches took"),
        Figure(
          name: "the cheapest that helps",
          definition:
            "another policy or else the least capacity, if it gains a point, more than its error, and more than chance",
          unit: "points", window: "as the hit rate", source: "the estimates"),
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    let lines = lines(model, width: rect.width - 4)
    var right = "estimated from live look-ups"
    if lines.hasMore(chosen: model.whatIf.row, room: rect.height - 2) { right = "↓ more · " + right }
    canvas.box(rect, title: "What if", right: DisplayText(right), isFocused: frame.isFocused)
    lines.draw(chosen: model.whatIf.row, in: rect, isFocused: frame.isFocused, on: &canvas)
  }

  private static func lines(_ model: Model, width: Int) -> RowLines {
    let reports = model.whatIf.reports
    var lines = RowLines()
    if reports.isEmpty { lines.add([Span(DisplayText(missing), .faint)]) }
    if let warning = WhatIfText.unseen(model.whatIf.unseen) {
      for line in DisplayText(warning).wrapped(to: max(20, width)) { lines.add([Span(line, .warning)]) }
    }
    for report in reports {
      if !lines.lines.isEmpty { lines.add() }
      add(report, width: max(20, width), to: &lines)
    }
    return lines
  }

  private static func add(_ report: HitRatioReport, width: Int, to lines: inout RowLines) {
    let name = DisplayText(report.level.name.uppercased()).shortened(to: 20)
    lines.add([Span(name, .title), Span("  " + DisplayText(WhatIfText.basis(report)), .faint)])
    let isKnown = !report.estimates.isEmpty
    let helps = report.cheapestImprovement != nil
    for (index, text) in DisplayText(width < 60 ? WhatIfText.shortAdvice(report) : WhatIfText.advice(report)).wrapped(
      to: width - 2
    ).enumerated() {
      let style: Style = helps ? .accent : isKnown ? .plain : .faint
      lines.add([Span(index == 0 ? "▸ " : "  ", helps ? .key : .faint), Span(text, style)])
    }
    let rows = WhatIfText.rows(report)
    let columns = Columns(rows, width: width)
    lines.add([Span(columns.titles, .faint)])
    for row in rows { lines.addRow([columns.spans(row)]) }
  }

  /// How wide each column is; what has no room goes, the bar first.
  private struct Columns {
    let title: Int
    let setting: Int
    let bar: Int
    private static let (rate, gain, error) = (7, 8, 10)

    init(_ rows: [WhatIfText.Row], width: Int) {
      title = 12
      let numbers = Self.rate + Self.gain + Self.error
      let settings = (rows.map { DisplayText($0.setting).width }.max() ?? 0) + 2
      setting = width >= title + numbers + settings ? settings : 0
      let rest = width - title - numbers - setting - 2
      bar = rest >= 8 ? min(rest, 60) : 0
    }

    var titles: DisplayText {
      var text = DisplayText("  WHAT IF").padded(to: title)
      if setting > 0 { text += DisplayText("").padded(to: setting) }
      if bar > 0 { text += DisplayText("HIT RATE").padded(to: bar + 1) }
      text +=
        DisplayText(bar > 0 ? "" : "HIT").rightAligned(to: Self.rate)
        + DisplayText("CHANGE").rightAligned(to: Self.gain)
      return text + DisplayText("ERROR").rightAligned(to: Self.error)
    }

    func spans(_ row: WhatIfText.Row) -> [Span] {
      let isNow = row.title == "now"
      let style: Style = row.isAdvised ? .hit.bold : isNow ? .plain.bold : row.value == nil ? .faint : .plain
      var spans = [Span(DisplayText((row.isAdvised ? "✓ " : "  ") + row.title).padded(to: title), style)]
      if setting > 0 { spans.append(Span(DisplayText(row.setting).padded(to: setting), isNow ? .plain : .faint)) }
      if bar > 0 {
        let filled = Canvas.bar(width: bar, fraction: row.value ?? 0)
        spans.append(Span(filled, row.isAdvised ? .hit : isNow ? .accent : .fill))
        spans.append(Span(DisplayText(repeating: "░", count: bar - filled.width) + " ", .faint))
      }
      spans.append(Span(DisplayText(WhatIfText.percent(row.value)).rightAligned(to: Self.rate), style))
      spans.append(
        Span(DisplayText(isNow ? "" : WhatIfText.gain(row.gain)).rightAligned(to: Self.gain), style))
      let error = row.value == nil ? Format.none : WhatIfText.margin(row.margin)
      spans.append(Span(DisplayText(error).rightAligned(to: Self.error), .faint))
      return spans
    }
  }
}
