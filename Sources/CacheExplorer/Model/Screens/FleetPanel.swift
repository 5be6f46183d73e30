import CacheEngine
package import ExplorerText

extension Page {
  package static let fleet = Page(
    "Fleet", key: "F", does: "Fleet: several apps side by side", panels: [FleetPanel.self, FleetAppsPanel.self])
}

/// What the screen of several apps remembers.
package struct FleetList: Sendable {
  /// `nil` where no apps are looked at side by side.
  package var sheet: FleetSheet?
  package var place = ListPlace()

  static let columns = ["CHANGED", "HOLDERS", "AGE", "KEY"]

  /// The rows that are looked for, in their order.
  var rows: [FleetSheet.Key] {
    guard let sheet else { return [] }
    let found = sheet.keys.filter { place.search.matches($0.name) }
    func weight(_ key: FleetSheet.Key) -> Int64 {
      switch place.column {
      case 0: key.change?.at.nanoseconds ?? .min
      case 1: Int64(key.copies.count { $0 != nil })
      // The oldest copy first.
      case 2: -(key.copies.compactMap { $0?.created.nanoseconds }.min() ?? .max)
      default: 0
      }
    }
    let sorted = found.map { (weight($0), $0) }.sorted { ($1.0, $0.1.name) < ($0.0, $1.1.name) }.map(\.1)
    return place.isReversed ? sorted.reversed() : sorted
  }

  /// The chosen key.
  var current: FleetSheet.Key? {
    let rows = rows
    return rows.isEmpty ? nil : rows[place.cursor(in: rows.map(\.name))]
  }
}

/// Which app holds which key, since when, and who was told of its last change.
package enum FleetPanel: Panel {
  package static let initial = FleetList()
  package static let fixedRows = 3

  package static func whyNot(_ model: Model) -> String? {
    model[Self.self].sheet == nil
      ? "one cache is shown; cache-explorer attach DIRECTORY shows all apps that serve there" : nil
  }

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    guard model.page == .fleet else { return nil }
    switch action {
    case EntriesPanel.sort: model[Self.self].place.nextColumn(of: FleetList.columns.count)
    case EntriesPanel.reverseSort: model[Self.self].place.isReversed.toggle()
    default: return nil
    }
    return []
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    // A picture that stands still keeps its rows.
    if case .fleet(let sheet) = message, model.frozen == nil || model[Self.self].sheet == nil {
      model[Self.self].sheet = sheet
    }
    return []
  }

  private static func names(_ model: Model) -> [String] { model[Self.self].rows.map(\.name) }

  package static func move(_ model: inout Model, by distance: Int) {
    let names = names(model)
    model[Self.self].place.move(by: distance, in: names)
  }

  package static func keepVisible(_ model: inout Model, rows: Int) {
    guard model.page == .fleet else { return }
    let names = names(model)
    model[Self.self].place.keepVisible(rows: rows, in: names)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let (names, place) = (names(model), model[Self.self].place.top + row - 2)
    guard row >= 2, row < rect.height - 1, names.indices.contains(place) else { return false }
    model[Self.self].place.chosen = names[place]
    return true
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    guard model[Self.self].current != nil else {
      model.refuse("no app holds anything yet")
      return []
    }
    model.focus = PanelID(FleetAppsPanel.self)
    return []
  }

  package static func key(_ model: Model) -> String? { model[Self.self].current?.name }
  package static func search(_ model: Model) -> String { model[Self.self].place.search.text }
  package static func search(_ model: inout Model, for text: String) {
    model[Self.self].place.search = TextSearch(text)
  }

  package static func rows(_ model: Model) -> RowTable? {
    guard let sheet = model[Self.self].sheet else { return nil }
    let rows = model[Self.self].rows.map { key -> [JSONText?] in
      let ages = key.copies.map { copy -> JSONText? in
        copy.map { .number(Int($0.created.duration(to: sheet.now).clampedNanoseconds / 1_000_000)) }
      }
      let changed = key.change.map { change -> JSONText in
        .number(Int(change.at.duration(to: sheet.now).clampedNanoseconds / 1_000_000))
      }
      return [.text(model.shown(key.name))] + ages + [changed, key.change.map { .text(sheet.title($0.by)) }]
    }
    return RowTable(
      ["key"] + sheet.apps.indices.map { "\(sheet.title($0)) ageMilliseconds" }
        + ["changedMillisecondsAgo", "changedBy"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Fleet",
      [
        Figure(
          name: "a column for each app", definition: "how old the copy is that the app holds in a level of its own",
          unit: "time", window: "now", source: "the apps’ lists of their levels, and events stored and forgot"),
        Figure(
          name: "CHANGED", definition: "who changed the key last, and how long ago; ⟳ for who loaded it for all",
          unit: "time",
          window: FigureTable.session, source: "events stored and removed of shared levels"),
        Figure(
          name: "TOLD",
          definition: "how long after the change was acknowledged the last app was told; … while some were not",
          unit: "time", window: "the last change", source: "events forgot"),
      ])
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let list = model[Self.self]
    let listed = list.rows
    let rows = max(0, rect.height - 3)
    let last = min(listed.count, list.place.top + rows)
    var title: DisplayText = "Fleet"
    title += listed.isEmpty ? " 0 keys" : " \(list.place.top + 1)–\(last) of \(Format.count(listed.count))"
    if let sheet = list.sheet, sheet.unlisted > 0 { title += " · +\(Format.count(sheet.unlisted)) not listed" }
    if let sheet = list.sheet, sheet.lost > 0 { title += " · told in part" }
    if !list.place.search.isEmpty { title += " · /" + DisplayText(list.place.search.text).clipped(to: 20) }
    let sort = "sort \(FleetList.columns[list.place.column])\(list.place.isReversed ? "▲" : "▼")"
    canvas.box(rect, title: title, right: DisplayText(sort), isFocused: frame.isFocused)
    guard rows > 0, rect.width >= 30, let sheet = list.sheet else { return }
    let columns = Columns(width: rect.width - 2, apps: sheet.apps.count)
    canvas.write(columns.titles(sheet), x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
    guard !listed.isEmpty else {
      let text: DisplayText =
        list.place.search.isEmpty ? "no app holds anything yet" : "no key matches; Esc clears the filter"
      return _ = canvas.write(text, x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let cursor = list.place.cursor(in: listed.map(\.name))
    for place in list.place.top..<max(list.place.top, last) {
      let (key, isChosen) = (listed[place], place == cursor)
      let name = DisplayText(model.shown(key.name))
      canvas.write(
        [
          Span(isChosen ? "▸" : " ", .accent),
          Span(name.shortened(to: columns.name - 1).padded(to: columns.name), isChosen ? .key : .plain),
        ] + columns.spans(key, sheet), x: rect.x + 1, y: rect.y + 2 + place - list.place.top, limit: rect.width - 2)
    }
  }

  /// As many apps as there is room for; what else is known of the key goes before they do.
  private struct Columns {
    static let app = 7
    private static let changed = 15
    private static let told = 8

    var name: Int
    let apps: Int
    let hasChanged: Bool
    let hasTold: Bool

    init(width: Int, apps: Int) {
      let left = width - 1 - 12
      let room = max(1, left / Self.app)
      self.apps = min(apps, room)
      let rest = left - self.apps * Self.app
      hasChanged = rest >= Self.changed
      hasTold = rest >= Self.changed + Self.told
      name =
        width - 1 - self.apps * Self.app - (hasChanged ? Self.changed : 0) - (hasTold ? Self.told : 0)
    }

    func titles(_ sheet: FleetSheet) -> DisplayText {
      var text = " " + DisplayText("KEY").padded(to: name)
      for app in sheet.apps.indices.prefix(apps) {
        text += DisplayText("\(app + 1) \(sheet.apps[app].name.uppercased())").clipped(to: Self.app - 1)
          .rightAligned(to: Self.app)
      }
      if hasChanged { text += DisplayText("CHANGED").rightAligned(to: Self.changed) }
      if hasTold { text += DisplayText("TOLD").rightAligned(to: Self.told) }
      return text
    }

    func spans(_ key: FleetSheet.Key, _ sheet: FleetSheet) -> [Span] {
      var spans = key.copies.prefix(apps).map { copy -> Span in
        guard let copy else { return Span(DisplayText("·").rightAligned(to: Self.app), .faint) }
        let age = Format.span(seconds: copy.created.duration(to: sheet.now).components.seconds)
        let isOver = copy.deadline.map { $0 <= sheet.now } ?? false
        return Span(DisplayText(age).rightAligned(to: Self.app), isOver ? .error : .hit)
      }
      guard hasChanged else { return spans }
      let changed = key.change.map { change in
        "\(change.by.map { "\(change.isLoad ? "⟳ " : "")\($0 + 1) " + sheet.apps[$0].name } ?? "another")"
      }
      let ago = key.change.map { Format.span(seconds: max(0, $0.at.duration(to: sheet.now).components.seconds)) } ?? ""
      let who = DisplayText(changed ?? "").clipped(to: Self.changed - 6)
      spans.append(Span(who.rightAligned(to: Self.changed - 5) + DisplayText(ago).rightAligned(to: 5), .plain))
      if hasTold { spans.append(told(key, sheet)) }
      return spans
    }

    private func told(_ key: FleetSheet.Key, _ sheet: FleetSheet) -> Span {
      func span(_ text: String, _ style: Style) -> Span { Span(DisplayText(text).rightAligned(to: Self.told), style) }
      guard let change = key.change else { return span("", .plain) }
      let waiting = sheet.apps.indices.contains { sheet.isWaiting($0, for: change) }
      let slowest = sheet.apps.indices.compactMap { FleetSheet.lag(change, $0) }.max()
      if waiting { return span("…", .warning) }
      guard let slowest else { return span(Format.none, .faint) }
      return span(slowest == .zero ? "at once" : Format.latency(nanoseconds: slowest.clampedNanoseconds), .faint)
    }
  }
}

extension FleetSheet {
  /// Whether an app that listens has yet to be told of a change.
  func isWaiting(_ app: Int, for change: Change) -> Bool {
    apps[app].listens && apps[app].ended == nil && change.by != app && change.told.indices.contains(app)
      && change.told[app] == nil && !change.isLoad
  }
}
