import ExplorerText

/// Every key and what it does, from the key table; or what the figures of the focused panel mean.
enum HelpOverlay {
  private static let help: [(keys: String, does: String)] = {
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

  static func lastTop(_ model: Model) -> Int {
    max(0, lines(model, width: min(Layout(model).middle.width, widest)).count - rows(model))
  }

  private static let widest = 92

  /// A title has no key; what has no words is empty.
  private static func lines(_ model: Model, width: Int) -> [(keys: String, does: String)] {
    let room = max(10, width - 20)
    guard model.mode == .explaining else {
      let found = help.filter { line in
        model.helpSearch.isEmpty
          || !line.keys.isEmpty && (model.helpSearch.matches(line.does) || model.helpSearch.matches(line.keys))
      }
      return found.flatMap { line in
        line.does.wrappedWords(to: room).enumerated().map { ($0 == 0 ? line.keys : " ", $1) }
      }
    }
    var lines: [(String, String)] = []
    for figure in model.focus.panel.figures(model).figures {
      lines.append(("", figure.name + (figure.value.isEmpty ? "" : "   \(figure.value)")))
      for (name, text) in [
        ("is", figure.definition), ("unit", figure.unit), ("window", figure.window), ("source", figure.source),
      ] {
        for (index, part) in text.wrappedWords(to: room).enumerated() { lines.append((index == 0 ? name : " ", part)) }
      }
    }
    return lines
  }

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    let width = min(rect.width, widest)
    let lines = lines(model, width: width)
    let window = Rect(x: rect.x + (rect.width - width) / 2, y: rect.y, width: width, height: rect.height)
    canvas.fill(window)
    let rows = max(0, window.height - 2)
    let top = min(max(0, model.helpTop), max(0, lines.count - rows))
    let more: DisplayText = top + rows < lines.count ? "↓ more · Esc closes" : "Esc closes"
    var title: DisplayText
    if model.mode == .explaining {
      title = DisplayText("Figures · \(model.focus.panel.figures(model).title)")
    } else {
      title = DisplayText("Help · \(model.page.title)")
      if !model.helpSearch.isEmpty { title += " · /" + DisplayText(model.helpSearch.text).clipped(to: 20) }
    }
    canvas.box(window, title: title, right: more, isFocused: true)
    if lines.isEmpty {
      canvas.write("no key does that; Esc shows all", x: window.x + 2, y: window.y + 1, style: .faint)
    }
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

extension String {
  /// Lines of at most so many characters, broken between words.
  fileprivate func wrappedWords(to room: Int) -> [String] {
    var lines: [String] = []
    for word in split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= room {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.isEmpty ? [""] : lines
  }
}
