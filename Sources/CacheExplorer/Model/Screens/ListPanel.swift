package import ExplorerState
package import ExplorerText

/// A row of a list, which is found by its name.
package protocol NamedRow {
  var name: String { get }
}

/// What a list of rows remembers: what it shows, and where its reader is.
package protocol PlacedList: Sendable {
  associatedtype Sheet: Sendable
  associatedtype Row: NamedRow
  init()
  /// What is shown; `nil` where there is nothing of the kind.
  var sheet: Sheet? { get set }
  var place: ListPlace { get set }
  /// What it can be sorted by.
  static var columns: [String] { get }
  /// The rows that are not looked through yet.
  var all: [Row] { get }
  /// What a row counts for in the column that the list is sorted by: the most stands first.
  var weight: (Row) -> Int64 { get }
}

extension PlacedList {
  /// The rows that are looked for, in their order.
  var rows: [Row] {
    let weight = weight
    let found = all.filter { place.search.matches($0.name) }.map { (weight($0), $0) }
    let sorted = found.sorted { ($1.0, $0.1.name) < ($0.0, $1.1.name) }.map(\.1)
    return place.isReversed ? sorted.reversed() : sorted
  }

  /// The chosen row.
  var current: Row? {
    let rows = rows
    return rows.isEmpty ? nil : rows[place.cursor(in: rows.map(\.name))]
  }
}

/// How the rows of a list are drawn in so much width.
package protocol ListColumns {
  associatedtype Row
  /// How wide the name is, which stands first.
  var name: Int { get }
  var titles: DisplayText { get }
  /// What stands behind the name.
  func spans(_ row: Row) -> [Span]
}

/// A screen's main panel that is a list, which is sorted by its columns and filtered.
package protocol ListPanel: Panel where State: PlacedList {
  associatedtype Columns: ListColumns where Columns.Row == State.Row
  static var page: Page { get }
  static var title: DisplayText { get }
  static var leastWidth: Int { get }
  /// What is said in place of rows: where there are none, and where none is found.
  static var nothing: (there: String, found: String) { get }
  /// What the title says beside how many rows there are.
  static func notes(_ sheet: State.Sheet) -> DisplayText
  static func columns(_ list: State, _ sheet: State.Sheet, width: Int) -> Columns
  static func shown(_ name: String, _ model: Model) -> String
}

extension ListPanel {
  package static var initial: State { State() }
  package static var fixedRows: Int { 3 }
  package static func notes(_ sheet: State.Sheet) -> DisplayText { "" }
  package static func shown(_ name: String, _ model: Model) -> String { model.shown(name) }

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    guard model.page == page else { return nil }
    switch action {
    case EntriesPanel.sort: model[Self.self].place.nextColumn(of: State.columns.count)
    case EntriesPanel.reverseSort: model[Self.self].place.isReversed.toggle()
    default: return nil
    }
    return []
  }

  /// Shows what came, unless the picture stands still: then it keeps its rows.
  static func take(_ sheet: State.Sheet, _ model: inout Model) {
    if !model.isFrozen || model[Self.self].sheet == nil { model[Self.self].sheet = sheet }
  }

  /// Why no row is listed.
  static func whyEmpty(_ list: State) -> String { list.place.search.isEmpty ? nothing.there : nothing.found }

  private static func names(_ model: Model) -> [String] { model[Self.self].rows.map(\.name) }

  package static func move(_ model: inout Model, by distance: Int) {
    let names = names(model)
    model[Self.self].place.move(by: distance, in: names)
  }

  package static func keepVisible(_ model: inout Model, rows: Int) {
    guard model.page == page else { return }
    let names = names(model)
    model[Self.self].place.keepVisible(rows: rows, in: names)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let (names, place) = (names(model), model[Self.self].place.top + row - 2)
    guard row >= 2, row < rect.height - 1, names.indices.contains(place) else { return false }
    model[Self.self].place.chosen = names[place]
    return true
  }

  package static func search(_ model: Model) -> String { model[Self.self].place.search.text }
  package static func search(_ model: inout Model, for text: String) {
    model[Self.self].place.search = TextSearch(text)
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let list = model[Self.self]
    let listed = list.rows
    let rows = max(0, rect.height - fixedRows)
    let last = min(listed.count, list.place.top + rows)
    var title = title
    title += listed.isEmpty ? " 0" : " \(list.place.top + 1)–\(last) of \(Format.count(listed.count))"
    if let sheet = list.sheet { title += notes(sheet) }
    if !list.place.search.isEmpty { title += " · /" + DisplayText(list.place.search.text).clipped(to: 20) }
    let sort = "sort \(State.columns[list.place.column])\(list.place.isReversed ? "▲" : "▼")"
    canvas.box(rect, title: title, right: DisplayText(sort), isFocused: frame.isFocused)
    guard rows > 0, rect.width >= leastWidth, let sheet = list.sheet else { return }
    let columns = columns(list, sheet, width: rect.width - 2)
    canvas.write(columns.titles, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
    guard !listed.isEmpty else {
      let text = DisplayText(whyEmpty(list))
      return _ = canvas.write(text, x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let cursor = list.place.cursor(in: listed.map(\.name))
    for place in list.place.top..<max(list.place.top, last) {
      let (row, isChosen) = (listed[place], place == cursor)
      let name = DisplayText(shown(row.name, model))
      canvas.write(
        [
          Span(isChosen ? "▸" : " ", .accent),
          Span(name.shortened(to: columns.name - 1).padded(to: columns.name), isChosen ? .key : .plain),
        ] + columns.spans(row), x: rect.x + 1, y: rect.y + 2 + place - list.place.top, limit: rect.width - 2)
    }
  }
}
