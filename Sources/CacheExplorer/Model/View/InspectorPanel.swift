import CacheEngine
import ExplorerState
import ExplorerText

/// What is inspected: a request or a value, beside the panels or over them.
enum InspectorPanel {
  static func draw(_ model: Model, _ picture: Picture, _ layout: Layout, on canvas: inout Canvas) {
    let rect = place(model, layout)
    guard let open = model.inspection else {
      if layout.isDocked { drawPreview(model, picture, in: rect, on: &canvas) }
      return
    }
    canvas.fill(rect)
    switch open.subject {
    case .request(let id):
      guard let record = picture.calls[id] else {
        canvas.box(rect, title: "Request \(id.description)", right: "Esc closes", isFocused: true)
        let text: DisplayText = "no longer among the last \(Format.count(RequestLog.capacity)) requests"
        canvas.write(text, x: rect.x + 2, y: rect.y + 1, style: .faint, limit: rect.width - 4)
        return
      }
      draw(record, model, open.choice, isOpen: true, in: rect, on: &canvas)
    case .value(let sight): ValuePanel.draw(sight, model, in: rect, on: &canvas)
    case .row(let panel): RowDetailPanel.draw(panel, model, in: rect, on: &canvas)
    }
  }

  /// Where it stands.
  static func place(_ model: Model, _ layout: Layout) -> Rect {
    let rect = layout.inspector
    guard !layout.isDocked, let lines = count(model, width: rect.width) else { return rect }
    // As low as it needs to be, so that the list it belongs to stays in sight.
    let height = min(rect.height, max(6, lines + 2))
    return Rect(x: rect.x, y: rect.bottom - height, width: rect.width, height: height)
  }

  /// How many lines are inspected; `nil` where they take all the room that there is.
  private static func count(_ model: Model, width: Int) -> Int? {
    switch model.inspection?.subject {
    case .request(let id)?: model.shown.calls[id].map { RequestText($0, model, width: width).lines.count }
    case .row(let panel)?: RowDetailPanel.count(panel, model, width: width)
    case .value?, nil: nil
    }
  }

  /// The first line that is shown: the chosen one stays in sight.
  static func top(of text: RequestText, choice: Int, rows: Int) -> Int {
    let chosen = text.lines.indices.filter { text.lines[$0].target != nil }.dropFirst(choice).first ?? 0
    return min(max(0, chosen - rows + 1), max(0, text.lines.count - rows))
  }

  /// The request of the focused row, for as long as nothing is opened.
  private static func drawPreview(_ model: Model, _ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    guard let id = model.chosenRequest, let record = picture.calls[id] else {
      canvas.box(rect, title: "Inspector")
      let text: DisplayText = "no request is known for the chosen row; Tab and the arrows choose"
      for (line, part) in text.wrapped(to: max(1, rect.width - 4)).prefix(max(0, rect.height - 2)).enumerated() {
        canvas.write(part, x: rect.x + 2, y: rect.y + 1 + line, style: .faint)
      }
      return
    }
    draw(record, model, 0, isOpen: false, in: rect, on: &canvas)
  }

  private static func draw(
    _ record: RequestRecord, _ model: Model, _ choice: Int, isOpen: Bool, in rect: Rect, on canvas: inout Canvas
  ) {
    let text = RequestText(record, model, width: rect.width)
    let hasTargets = !text.targets.isEmpty
    let right: DisplayText = isOpen ? (hasTargets ? "↑↓ ↵ go there · Esc closes" : "Esc closes") : "↵ inspects"
    canvas.box(rect, title: RequestText.title(record, model), right: right, isFocused: isOpen)
    let rows = max(0, rect.height - 2)
    var chosen: Int?
    var target = 0
    for (index, line) in text.lines.enumerated() where line.target != nil {
      if target == choice { chosen = index }
      target += 1
    }
    let top = top(of: text, choice: choice, rows: rows)
    for (row, line) in text.lines.dropFirst(top).prefix(rows).enumerated() {
      let y = rect.y + 1 + row
      if isOpen, line.target != nil, chosen == top + row { canvas.write("▸", x: rect.x + 1, y: y, style: .accent) }
      canvas.write(line.spans, x: rect.x + 2, y: y, limit: rect.width - 3)
    }
    if top + rows < text.lines.count { canvas.writeBelow("↓ more", in: rect) }
  }
}
