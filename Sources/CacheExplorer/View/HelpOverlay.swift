/// Every key and what it does, from the key table.
enum HelpOverlay {
  private static let lines: [(keys: String, does: String)] = {
    var result: [(String, String)] = []
    for scope in KeyTable.Scope.allCases {
      result.append(("", scope.rawValue))
      for binding in KeyTable.bindings where binding.scope == scope { result.append((binding.name, binding.does)) }
    }
    result.append(("", "Signs"))
    result.append(("● ◐ ✕ ·", "fresh, less than 10 % of its time left, expired but not dropped yet, not there"))
    result.append(("≈", "stale: served after its time was over, as better than nothing"))
    result.append(("◇", "where keys take one of two lanes"))
    result.append(("a › b", "operators, as a read meets them"))
    result.append(("⟳ ×n", "being fetched; n callers wait for it"))
    result.append(("═▶ ◀─", "look-ups passed on, values copied back, each in a second"))
    result.append(("hit, miss", "of the look-ups of this level; served by: of all reads"))
    return result
  }()

  /// How many lines the window shows.
  static func rows(_ model: Model) -> Int { max(1, Layout(model).middle.height - 2) }

  static func lastTop(_ model: Model) -> Int { max(0, lines.count - rows(model)) }

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    let width = min(rect.width, 92)
    let window = Rect(x: rect.x + (rect.width - width) / 2, y: rect.y, width: width, height: rect.height)
    canvas.fill(window)
    let rows = max(0, window.height - 2)
    let top = min(max(0, model.helpTop), max(0, lines.count - rows))
    let more: DisplayText = top + rows < lines.count ? "↓ more · Esc closes" : "Esc closes"
    canvas.box(window, title: "Help · Overview", right: more, isFocused: true)
    for (row, line) in lines[top..<min(lines.count, top + rows)].enumerated() {
      let y = window.y + 1 + row
      if line.keys.isEmpty {
        canvas.write(DisplayText(line.does), x: window.x + 2, y: y, style: .title, limit: width - 3)
      } else {
        canvas.write(DisplayText(line.keys), x: window.x + 4, y: y, style: .key)
        canvas.write(DisplayText(line.does), x: window.x + 19, y: y, limit: max(0, width - 20))
      }
    }
  }
}
