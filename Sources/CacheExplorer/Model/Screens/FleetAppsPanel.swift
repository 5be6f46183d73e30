import CacheEngine
package import ExplorerState
package import ExplorerText

/// The apps one by one, the loads that they share, and the story of the chosen key.
package enum FleetAppsPanel: Panel {
  /// The place of the chosen app.
  package static let initial = 0

  private static func sheet(_ model: Model) -> FleetSheet? { model[FleetPanel.self].sheet }

  private static func cursor(_ model: Model) -> Int {
    min(max(0, model[Self.self]), max(0, (sheet(model)?.apps.count ?? 0) - 1))
  }

  package static func move(_ model: inout Model, by distance: Int) {
    let last = max(0, (sheet(model)?.apps.count ?? 0) - 1)
    model[Self.self] = min(max(0, cursor(model) + max(-1_000_000, min(distance, 1_000_000))), last)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    guard row >= 1, let sheet = sheet(model) else { return false }
    // Two or three rows for each app.
    var first = 1
    for (place, app) in sheet.apps.enumerated() {
      let next = first + 1 + figures(of: app, width: rect.width - 3).count
      if (first..<next).contains(row) {
        model[Self.self] = place
        return true
      }
      first = next
    }
    return false
  }

  /// Shows the chosen app on the other screens.
  package static func inspect(_ model: inout Model) -> [Effect] {
    guard let sheet = sheet(model), !sheet.apps.isEmpty else { return [] }
    return [.chooseApp(cursor(model))]
  }

  package static func back(_ model: inout Model) -> Bool {
    guard model.page == .fleet, model.focus == PanelID(Self.self) else { return false }
    model.focus = PanelID(FleetPanel.self)
    return true
  }

  package static func key(_ model: Model) -> String? { FleetPanel.key(model) }
  package static func search(_ model: Model) -> String { FleetPanel.search(model) }
  package static func search(_ model: inout Model, for text: String) { FleetPanel.search(&model, for: text) }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Apps",
      [
        Figure(
          name: "told", definition: "changes by others that the app heard, and how long after the change at most",
          unit: "changes, time", window: FigureTable.session, source: "events forgot and stored"),
        Figure(
          name: "stale",
          definition:
            "reads that began after another’s change was acknowledged and were answered by a copy of before, and by how much the worst was late",
          unit: "reads, time", window: FigureTable.session, source: "events hit, stored and forgot"),
        Figure(
          name: "loads, waits",
          definition: "loads that the app made for all, and loads of others that it waited for, and how long at most",
          unit: "loads, time", window: FigureTable.session, source: "events leads, led, follows, followed"),
        Figure(
          name: "hit", definition: "reads that a level of the app’s own answered ÷ reads", unit: "percent of reads",
          window: FigureTable.session, source: "events hit, ended"),
      ])
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    canvas.box(
      rect, title: "Apps \(sheet(model)?.apps.count ?? 0)", right: "Enter shows one on the other screens",
      isFocused: frame.isFocused)
    let lines = lines(model, width: rect.width - 3)
    let rows = max(0, rect.height - 2)
    for (row, line) in lines.prefix(rows).enumerated() {
      canvas.write(line, x: rect.x + 1, y: rect.y + 1 + row, limit: rect.width - 2)
    }
    if rows < lines.count { canvas.writeBelow("… more", in: rect) }
  }

  private static func lines(_ model: Model, width: Int) -> [[Span]] {
    guard let sheet = sheet(model) else { return [] }
    var lines: [[Span]] = []
    for (place, app) in sheet.apps.enumerated() {
      let mark: DisplayText = place == cursor(model) ? "▸" : " "
      let (state, style) = state(of: app, sheet)
      let line = [
        Span(mark, .accent), Span(DisplayText("\(place + 1) \(app.name)"), place == sheet.chosen ? .key : .plain),
        Span(DisplayText(" \(app.pid)  "), .faint), Span(DisplayText(state), style),
      ]
      let hit = DisplayText("  hit \(FigureTable.percent(app.hits, app.lookups))")
      let whole = hit + DisplayText(" of \(Format.count(app.lookups))")
      let room = width - line.reduce(0) { $0 + $1.text.width }
      // A figure that is cut is another figure.
      lines.append(line + [whole, hit].filter { $0.width <= room }.prefix(1).map { Span($0, .faint) })
      lines += figures(of: app, width: width)
    }
    if !sheet.leases.isEmpty {
      lines.append([])
      for lease in sheet.leases.prefix(6) {
        let since = Format.latency(nanoseconds: lease.since.duration(to: sheet.now).clampedNanoseconds)
        let waiting = lease.waiting.map { sheet.title($0) }.joined(separator: ", ")
        var line = [
          Span(DisplayText(" ⟳ \(model.shown(lease.key))"), .join),
          Span(DisplayText(" loaded by \(sheet.title(lease.leader)) for \(since)")),
        ]
        if !waiting.isEmpty {
          let waits = DisplayText(waiting + (lease.waiting.count == 1 ? " waits" : " wait"))
          // On one line if there is room.
          if line.reduce(waits.width + 2, { $0 + $1.text.width }) > width {
            lines.append(line)
            line = [Span("   " + waits, .join)]
          } else {
            line.append(Span("; " + waits, .join))
          }
        }
        lines.append(line)
      }
    }
    guard let key = model[FleetPanel.self].current else { return lines }
    lines.append([])
    lines.append([Span(DisplayText(" " + model.shown(key.name)), .title)])
    func add(_ text: String, _ style: Style = .plain) {
      for line in DisplayText(text).wrapped(to: max(8, width - 2)) { lines.append([Span("  "), Span(line, style)]) }
    }
    guard let change = key.change else {
      add("has not been changed since", .faint)
      return lines
    }
    let ago = Format.behind(nanoseconds: change.at.duration(to: sheet.now).clampedNanoseconds)
    add("\(change.isLoad ? "loaded for all" : "changed") by \(sheet.title(change.by)) \(ago) ago")
    for app in sheet.apps.indices where app != change.by {
      if let lag = FleetSheet.lag(change, app) {
        let after = lag == .zero ? "at once" : "after \(Format.latency(nanoseconds: lag.clampedNanoseconds))"
        add("\(sheet.title(app)) was told \(after)", .hit)
      } else if sheet.isWaiting(app, for: change) {
        add("\(sheet.title(app)) has not been told", .warning)
      } else {
        add("\(sheet.title(app)) does not say", .faint)
      }
    }
    return lines
  }

  private static func state(of app: FleetSheet.App, _ sheet: FleetSheet) -> (String, Style) {
    if let why = app.ended { return ("gone: \(why)", .error) }
    if let since = app.silentSince {
      return ("✕ not answering for \(FigureTable.span(since.duration(to: sheet.now)))", .error)
    }
    guard app.listens else { return ("does not listen", .faint) }
    guard let since = app.deafSince else { return ("● hears", .hit) }
    return ("deaf for \(FigureTable.span(since.duration(to: sheet.now)))", .warning)
  }

  /// On one line if there is room.
  private static func figures(of app: FleetSheet.App, width: Int) -> [[Span]] {
    let (hearing, loading) = (hearing(of: app), loading(of: app))
    guard (hearing + loading).reduce(3, { $0 + $1.text.width }) > width else {
      return [[Span("   ")] + hearing + loading]
    }
    return [[Span("   ")] + hearing, [Span(" ")] + loading]
  }

  private static func hearing(of app: FleetSheet.App) -> [Span] {
    func time(_ duration: Duration) -> String { Format.latency(nanoseconds: duration.clampedNanoseconds) }
    let slowest = app.slowestTelling.map { $0 == .zero ? " at once" : " ≤ \(time($0))" } ?? ""
    var spans = [Span(DisplayText("told \(Format.count(app.told))\(slowest)"))]
    if app.staleReads > 0 {
      let worst = app.stalest.map { " ≤ \(time($0.by))" } ?? ""
      spans.append(Span(DisplayText("  stale \(Format.count(app.staleReads))\(worst)"), .warning))
    } else {
      spans.append(Span("  never stale", .faint))
    }
    return spans
  }

  private static func loading(of app: FleetSheet.App) -> [Span] {
    guard app.loads + app.waits > 0 else { return [] }
    let longest = app.longestWait.map { " ≤ \(Format.latency(nanoseconds: $0.clampedNanoseconds))" } ?? ""
    return [Span(DisplayText("  loads \(Format.count(app.loads)) waits \(Format.count(app.waits))\(longest)"), .faint)]
  }
}
