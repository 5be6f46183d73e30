import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let models = Page(
    "Models", key: "7", does: "Models, if there are any", panels: [ModelsPanel.self, RelationsPanel.self])
}

extension PanelID {
  package static let relations = PanelID(RelationsPanel.self)
}

extension Model {
  package var models: ModelSheet {
    get { self[ModelsPanel.self] }
    _modify { yield &self[ModelsPanel.self] }
  }
}

/// The models of a store by their types.
package enum ModelsPanel: Panel {
  package static let initial = ModelSheet()
  package static let fixedRows = 3

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    if case .models(let content) = message {
      model.models.content = content
      model.models.keepVisible()
    }
    return []
  }

  package static func whyNot(_ model: Model) -> String? {
    model.models.content == nil ? "there are no models here; “cache-explorer demo models” has some" : nil
  }

  package static func move(_ model: inout Model, by distance: Int) { model.models.move(by: distance) }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let rows = max(0, rect.height - fixedRows)
    let top = min(max(0, model.models.cursor - rows / 2), max(0, model.models.order.count - rows))
    let place = top + row - 2
    guard row >= 2, model.models.order.indices.contains(place) else { return false }
    model.models.move(by: place - model.models.cursor)
    return true
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    if model.models.current == nil { model.refuse(whyEmpty(model.models)) } else { model.focus = .relations }
    return []
  }

  /// Why no model is listed.
  private static func whyEmpty(_ sheet: ModelSheet) -> String {
    sheet.search.isEmpty ? "no models yet" : "no model matches; Esc clears the filter"
  }

  package static var prompt: DisplayText { " filter the models /" }
  package static func search(_ model: Model) -> String { model.models.search.text }
  package static func search(_ model: inout Model, for text: String) { model.models.search = TextSearch(text) }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Models",
      [
        Figure(
          name: "TO, FROM", definition: "relations to other models, and from others to this one", unit: "relations",
          window: "now", source: "the model cache"),
        Figure(
          name: "OBS", definition: "observers of this very model", unit: "observers", window: "now",
          source: "the model cache"),
        Figure(
          name: "TOLD", definition: "since an observer of it was last called", unit: "time",
          window: FigureTable.session,
          source: "calls of the explorer's observers"),
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    let sheet = model.models
    let rows = max(0, rect.height - 3)
    let types = sheet.types.map { "\($0.type) \($0.stored)" + ($0.known > $0.stored ? "+\($0.known - $0.stored)" : "") }
    var title: DisplayText = "Models \(Format.count(sheet.order.count))"
    if !sheet.search.isEmpty { title += " · /" + DisplayText(sheet.search.text).clipped(to: 20) }
    canvas.box(
      rect, title: title, right: DisplayText(types.joined(separator: " · ")), isFocused: frame.isFocused)
    guard rows > 0, let content = sheet.content else { return }
    let columns = Columns(width: rect.width - 2)
    var titles: DisplayText =
      " " + DisplayText("MODEL").padded(to: columns.name) + DisplayText("TO").rightAligned(to: 5)
    titles +=
      DisplayText("FROM").rightAligned(to: 6) + DisplayText("OBS").rightAligned(to: 5)
      + DisplayText("TOLD").rightAligned(to: 7)
    if columns.isWide {
      titles += DisplayText("SIZE").rightAligned(to: 9) + DisplayText("TTL LEFT").rightAligned(to: 9)
    }
    canvas.write(titles, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
    if let problem = content.problem {
      return _ = canvas.write(DisplayText(problem), x: rect.x + 2, y: rect.y + 2, style: .error, limit: rect.width - 3)
    }
    guard !sheet.order.isEmpty else {
      return _ = canvas.write(
        DisplayText(whyEmpty(sheet)), x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let top = min(max(0, sheet.cursor - rows / 2), max(0, sheet.order.count - rows))
    for (line, place) in sheet.order.dropFirst(top).prefix(rows).enumerated() {
      draw(
        content.rows[place], model, picture, columns, isChosen: top + line == sheet.cursor,
        in: rect.inner.row(1 + line), on: &canvas)
    }
  }

  private struct Columns {
    var name: Int
    /// There is room for sizes and lifetimes.
    var isWide: Bool

    init(width: Int) {
      isWide = width >= 58
      name = max(8, width - 1 - (isWide ? 43 : 25))
    }
  }

  private static func draw(
    _ row: ModelSheet.Row, _ model: Model, _ picture: Picture, _ columns: Columns, isChosen: Bool, in place: Rect,
    on canvas: inout Canvas
  ) {
    let title = DisplayText(row.name.type) + " " + DisplayText(model.shown(row.name.id))
    var text: DisplayText = DisplayText("\(row.relations.count)").rightAligned(to: 5)
    text += DisplayText("\(row.dependents.count)").rightAligned(to: 6)
    text += DisplayText(row.observers == 0 ? "·" : "\(row.observers)").rightAligned(to: 5)
    text += DisplayText(row.toldAt.map { moment($0, picture) } ?? "·").rightAligned(to: 7)
    if columns.isWide {
      text += DisplayText(row.cost.map { Format.bytes($0) } ?? Format.none).rightAligned(to: 9)
      text += DisplayText(timeLeft(row, picture)).rightAligned(to: 9)
    }
    let style: Style = isChosen ? .key : row.isStored ? .plain : .faint
    canvas.write(
      [
        Span(isChosen ? "▸" : " ", .accent),
        Span(title.shortened(to: columns.name - 1).padded(to: columns.name), style),
        Span(text, row.isStored ? .plain : .faint),
      ], x: place.x, y: place.y, limit: place.width)
  }

  static func moment(_ instant: CacheInstant, _ picture: Picture) -> String {
    let seconds = instant.duration(to: picture.now).clampedNanoseconds / 1_000_000_000
    return seconds < 1 ? "now" : Format.span(seconds: seconds)
  }

  static func timeLeft(_ row: ModelSheet.Row, _ picture: Picture) -> String {
    guard row.isStored else { return "absent" }
    guard let deadline = row.deadline else { return "·" }
    let left = picture.now.duration(to: deadline).clampedNanoseconds
    return left <= 0 ? "expired" : Format.span(seconds: (left - 1) / 1_000_000_000 + 1)
  }
}

/// Whom the chosen model points to, who points to it, and what it says.
package enum RelationsPanel: Panel {
  package static func move(_ model: inout Model, by distance: Int) { model.models.moveRelation(by: distance) }

  package static func back(_ model: inout Model) -> Bool {
    guard model.focus == .relations else { return false }
    model.focus = PanelID(ModelsPanel.self)
    return true
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    if !model.models.follow() { model.inspection = Inspection(.row(PanelID(Self.self))) }
    return []
  }

  package static func detail(_ model: Model) -> RowDetail? {
    guard let row = model.models.current else { return nil }
    var detail = RowDetail("\(row.name.type) \(model.shown(row.name.id))")
    detail.add("", "it points to no model, and none points to it", .faint)
    detail.add("value", model.isMasked ? "•••••••• hidden, P shows it" : row.detail)
    return detail
  }

  package static var prompt: DisplayText { ModelsPanel.prompt }
  package static func search(_ model: Model) -> String { ModelsPanel.search(model) }
  package static func search(_ model: inout Model, for text: String) { ModelsPanel.search(&model, for: text) }
  package static func figures(_ model: Model) -> FigureTable { ModelsPanel.figures(model) }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    guard let row = model.models.current else {
      return canvas.box(rect, title: "Relations", isFocused: frame.isFocused)
    }
    let title = DisplayText(row.name.type) + " " + DisplayText(model.shown(row.name.id))
    canvas.box(rect, title: title, right: "↵ goes there", isFocused: frame.isFocused)
    var lines: [(spans: [Span], place: Int?)] = []
    func add(_ names: [ModelSheet.Name], _ arrow: DisplayText, from start: Int, none: DisplayText) {
      if names.isEmpty { lines.append(([Span(none, .faint)], nil)) }
      for (index, name) in names.enumerated() {
        lines.append(
          (
            [
              Span(arrow, .accent), Span(DisplayText(name.type) + " ", .faint), Span(DisplayText(model.shown(name.id))),
            ],
            start + index
          ))
      }
    }
    let guess: DisplayText = row.isGuessed ? " (identifiers found in its value)" : ""
    lines.append(([Span("points to" + guess, .title)], nil))
    add(row.relations, "─▶ ", from: 0, none: "nobody")
    lines.append(([Span("pointed to by", .title)], nil))
    add(row.dependents, "◀─ ", from: row.relations.count, none: "nobody")
    let told = row.toldAt.map { "last told \(ModelsPanel.moment($0, picture)) ago" } ?? "not told yet"
    let watch = row.observers == 0 ? "nobody observes it" : "observers \(row.observers), \(told)"
    lines.append(([Span("observed", .title)], nil))
    lines.append(([Span(DisplayText(watch), row.observers == 0 ? .faint : .plain)], nil))
    lines.append(([Span("value", .title)], nil))
    if model.isMasked {
      lines.append(([Span("•••••••• hidden, P shows it", .faint)], nil))
    } else {
      for part in DisplayText(row.detail, atMost: 4_096).wrapped(to: max(8, rect.width - 4)) {
        lines.append(([Span(part)], nil))
      }
    }
    let rows = max(0, rect.height - 2)
    let chosen = lines.firstIndex { $0.place == model.models.relation && $0.place != nil }
    let top = min(max(0, (chosen ?? 0) - rows + 1), max(0, lines.count - rows))
    for (index, line) in lines.dropFirst(top).prefix(rows).enumerated() {
      let y = rect.y + 1 + index
      if frame.isFocused, let chosen, chosen == top + index { canvas.write("▸", x: rect.x + 1, y: y, style: .accent) }
      canvas.write(line.spans, x: rect.x + 2, y: y, limit: rect.width - 3)
    }
    if top + rows < lines.count { canvas.writeBelow("… more", in: rect) }
  }
}
