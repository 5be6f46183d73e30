import ExplorerState
package import ExplorerText

/// What can be done, with what is typed of its name above.
package enum ActionPaletteOverlay {
  private static let widest = 92

  /// How many actions a window of this height shows: without its frame, and the row in which one types.
  package static func rows(in height: Int) -> Int { max(1, height - 3) }

  /// `isReadOnly`: What changes the cache is shown as what will be refused.
  package static func draw(
    _ palette: ActionPalette, isReadOnly: Bool, in rect: Rect, on canvas: inout Canvas
  ) {
    let width = min(rect.width, widest)
    guard width >= 8, rect.height >= 4 else { return }
    let window = Rect(x: rect.x + (rect.width - width) / 2, y: rect.y, width: width, height: rect.height)
    canvas.fill(window)
    let count = "\(palette.found.count) of \(palette.items.count)"
    canvas.box(window, title: "Actions \(count)", right: "↵ does it · Esc leaves", isFocused: true)
    drawQuery(palette.editor, in: window.inner.row(0), on: &canvas)
    guard !palette.found.isEmpty else {
      return _ = canvas.write(
        "nothing is called that", x: window.x + 3, y: window.y + 2, style: .faint, limit: width - 4)
    }
    let rows = rows(in: window.height)
    let top = min(palette.top, max(0, palette.found.count - rows))
    for (line, item) in palette.found[top..<min(palette.found.count, top + rows)].enumerated() {
      draw(
        item, isChosen: top + line == palette.cursor, isRefused: isReadOnly && item.isChange,
        in: window.inner.row(1 + line), on: &canvas)
    }
  }

  private static func drawQuery(_ editor: LineEditor, in row: Rect, on canvas: inout Canvas) {
    let x = canvas.write(" › ", x: row.x, y: row.y, style: .key)
    let room = max(1, row.right - x - 1)
    var before = DisplayText(editor.beforeCursor, atMost: LineEditor.longest * 2)
    // Glyphs of two cells may leave one cell more out than is needed.
    var skipped = max(0, before.width - room)
    let whole = before
    before = whole.dropping(cells: skipped)
    while before.width > room {
      skipped += 1
      before = whole.dropping(cells: skipped)
    }
    let cursor = canvas.write(before, x: x, y: row.y)
    canvas.cursor = Point(x: min(cursor, row.right - 1), y: row.y)
    canvas.write(
      DisplayText(String(editor.characters[editor.cursor...])), x: cursor, y: row.y, limit: max(0, row.right - cursor))
  }

  private static func draw(
    _ item: ActionPalette.Item, isChosen: Bool, isRefused: Bool, in row: Rect, on canvas: inout Canvas
  ) {
    let key = DisplayText(item.key).clipped(to: max(4, row.width / 2))
    if isChosen { canvas.write("▸", x: row.x, y: row.y, style: .accent) }
    canvas.write(
      DisplayText(item.text), x: row.x + 1, y: row.y, style: isRefused ? .faint : isChosen ? Style.plain.bold : .plain,
      limit: max(0, row.width - key.width - 3))
    canvas.write(key, endingAt: row.right - 1, y: row.y, style: .key)
  }
}
