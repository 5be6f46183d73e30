import CacheEngine

/// What is inspected: a request or a value, beside the panels or over them.
enum InspectorPanel {
  static func draw(_ model: Model, _ picture: Picture, _ layout: Layout, on canvas: inout Canvas) {
    var rect = layout.inspector
    guard let open = model.inspection else {
      if layout.isDocked { drawPreview(model, picture, in: rect, on: &canvas) }
      return
    }
    if !layout.isDocked, case .request(let id) = open.subject, let record = picture.calls[id] {
      // As low as it needs to be, so that the list it belongs to stays in sight.
      let height = min(rect.height, max(6, RequestText(record, model, width: rect.width).lines.count + 2))
      rect = Rect(x: rect.x, y: rect.bottom - height, width: rect.width, height: height)
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
    }
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
    canvas.box(rect, title: RequestText.title(record), right: right, isFocused: isOpen)
    let rows = max(0, rect.height - 2)
    var chosen: Int?
    var target = 0
    for (index, line) in text.lines.enumerated() where line.target != nil {
      if target == choice { chosen = index }
      target += 1
    }
    // The chosen line stays in sight.
    let top = min(max(0, (chosen ?? 0) - rows + 1), max(0, text.lines.count - rows))
    for (row, line) in text.lines.dropFirst(top).prefix(rows).enumerated() {
      let y = rect.y + 1 + row
      if isOpen, line.target != nil, chosen == top + row { canvas.write("▸", x: rect.x + 1, y: y, style: .accent) }
      canvas.write(line.spans, x: rect.x + 2, y: y, limit: rect.width - 3)
    }
    if top + rows < text.lines.count, rows > 0 {
      canvas.write("↓ more ", endingAt: rect.right - 1, y: rect.bottom - 1, style: .faint)
    }
  }
}
