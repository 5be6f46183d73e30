import ExplorerState
import ExplorerText

/// A row in full: names at the left, and what is said of each in as many lines as it needs.
enum RowDetailPanel {
  static func draw(_ panel: PanelID, _ model: Model, in rect: Rect, on canvas: inout Canvas) {
    let detail = panel.panel.detail(model)
    let lines = lines(detail, width: rect.width - 4)
    let rows = max(0, rect.height - 2)
    let top = min(max(0, model.inspection?.top ?? 0), max(0, lines.count - rows))
    canvas.box(
      rect, title: DisplayText(detail?.title ?? "Row"),
      right: top + rows < lines.count ? "↓ more · Esc closes" : "Esc closes",
      isFocused: true)
    for (row, line) in lines.dropFirst(top).prefix(rows).enumerated() {
      canvas.write(line, x: rect.x + 2, y: rect.y + 1 + row, limit: rect.width - 3)
    }
  }

  /// How many lines it has in a box of that width.
  static func count(_ panel: PanelID, _ model: Model, width: Int) -> Int {
    lines(panel.panel.detail(model), width: width - 4).count
  }

  private static func lines(_ detail: RowDetail?, width: Int) -> [[Span]] {
    guard let detail else { return [[Span("it is no longer there", .faint)]] }
    let names = detail.lines.map { $0.name.width }.max() ?? 0
    let column = min(names + 2, max(6, width / 3))
    return detail.lines.flatMap { line -> [[Span]] in
      let indent = line.name.width == 0 ? 0 : column
      return line.text.wrapped(to: max(8, width - indent)).enumerated().map { index, text in
        let name = (index == 0 ? line.name : "").shortened(to: max(1, column - 1)).padded(to: indent)
        return [Span(name, .faint), Span(text, line.style)]
      }
    }
  }
}
