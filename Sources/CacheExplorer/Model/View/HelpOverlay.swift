import ExplorerCommands
import ExplorerState
import ExplorerText

/// Every key and verb and what it does, from their tables; how one verb is used; or what the figures of the focused panel mean.
///
/// It is wrapped to the window and scrolls: nothing of it is ever cut.
enum HelpOverlay {
  private enum Line {
    case title(String)
    /// What is explained; blank where the explanation before goes on.
    case item(String, String)
    case text(String)
  }

  private static let keys: [Line] = KeyTable.Scope.allCases.flatMap { scope in
    [.title(scope.rawValue)]
      + KeyTable.bindings.filter { $0.scope == scope }.map { .item($0.name, $0.does) }
  }

  private static let signs: [Line] = [
    .title("Signs"),
    .item("● ◐ ✕ ·", "fresh, less than 10 % of its time left, expired but not dropped yet, not there"),
    .item("≈", "stale: served after its time was over, as better than nothing"),
    .item("◇", "where keys take one of two lanes"),
    .item("a › b", "operators, as a read meets them"),
    .item("⟳ ×n", "being fetched; n callers wait for it"),
    .item("═▶ ◀─", "look-ups passed on, values copied back, each in a second"),
    .item("hit, miss", "of the look-ups of this level; served by: of all reads"),
  ]

  /// How many lines the window shows.
  static func rows(_ model: Model) -> Int { max(1, Layout(model).middle.height - 2) }

  static func lastTop(_ model: Model) -> Int {
    max(0, lines(model, width: min(Layout(model).middle.width, widest)).count - rows(model))
  }

  private static let widest = 92
  /// Where explanations begin, from the edge of the window.
  private static let column = 19

  private static func lines(_ model: Model, width: Int) -> [Line] {
    all(model).filter { isShown($0, model) }.flatMap { wrapped($0, to: width) }
  }

  private static func all(_ model: Model) -> [Line] {
    guard model.mode != .explaining else { return figures(model) }
    if let name = model.helpTopic, let verb = model.command.grammar.named(name) { return topic(verb) }
    let verbs = model.command.grammar.verbs
    let commands = verbs.isEmpty ? [] : [.title("Commands, typed behind :")] + verbs.map { Line.item($0.name, $0.line) }
    return keys + commands + signs
  }

  private static func figures(_ model: Model) -> [Line] {
    model.focus.panel.figures(model).figures.flatMap { figure -> [Line] in
      [
        .title(figure.name + (figure.value.isEmpty ? "" : "   \(figure.value)")), .item("is", figure.definition),
        .item("unit", figure.unit), .item("window", figure.window), .item("source", figure.source),
      ]
    }
  }

  private static func topic(_ verb: VerbSyntax) -> [Line] {
    [.title(verb.usage), .text(verb.line)]
      + verb.details.split(separator: "\n").map { line in .text(String(line.drop { $0 == " " })) }
  }

  private static func isShown(_ line: Line, _ model: Model) -> Bool {
    let search = model.helpSearch
    guard model.mode != .explaining, !search.isEmpty else { return true }
    return switch line {
    case .title: false
    case .item(let name, let text): search.matches(text) || search.matches(name)
    case .text(let text): search.matches(text)
    }
  }

  private static func wrapped(_ line: Line, to width: Int) -> [Line] {
    switch line {
    case .title(let text): text.wrappedWords(to: max(10, width - 4)).map { .title($0) }
    case .item(let name, let text):
      text.wrappedWords(to: max(10, width - column - 2)).enumerated().map { .item($0 == 0 ? name : " ", $1) }
    // Continuations are indented a little.
    case .text(let text):
      text.wrappedWords(to: max(10, width - 8)).enumerated().map { .text(($0 == 0 ? "" : "  ") + $1) }
    }
  }

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    let width = min(rect.width, widest)
    let lines = lines(model, width: width)
    let window = Rect(x: rect.x + (rect.width - width) / 2, y: rect.y, width: width, height: rect.height)
    canvas.fill(window)
    let rows = max(0, window.height - 2)
    let top = min(max(0, model.helpTop), max(0, lines.count - rows))
    let more: DisplayText = top + rows < lines.count ? "↓ more · Esc closes" : "Esc closes"
    canvas.box(window, title: title(model), right: more, isFocused: true)
    if lines.isEmpty {
      canvas.write("nothing here says that; Esc shows all", x: window.x + 2, y: window.y + 1, style: .faint)
    }
    for (row, line) in lines[top..<min(lines.count, top + rows)].enumerated() {
      let y = window.y + 1 + row
      switch line {
      case .title(let text):
        canvas.write(DisplayText(text), x: window.x + 2, y: y, style: .title, limit: width - 3)
      case .item(let name, let text):
        canvas.write(DisplayText(name), x: window.x + 4, y: y, style: .key)
        canvas.write(DisplayText(text), x: window.x + column, y: y, limit: max(0, width - column - 1))
      case .text(let text): canvas.write(DisplayText(text), x: window.x + 4, y: y, limit: max(0, width - 5))
      }
    }
  }

  private static func title(_ model: Model) -> DisplayText {
    guard model.mode != .explaining else { return DisplayText("Figures · \(model.focus.panel.figures(model).title)") }
    var title = DisplayText("Help · \(model.helpTopic ?? model.page.title)")
    if !model.helpSearch.isEmpty { title += " · /" + DisplayText(model.helpSearch.text).clipped(to: 20) }
    return title
  }
}

extension String {
  /// Lines of at most so many characters, broken between words, and within a word that has no room on a line.
  fileprivate func wrappedWords(to room: Int) -> [String] {
    guard count > room else { return [self] }
    var lines: [String] = []
    for word in split(separator: " ") {
      var rest = word
      if let last = lines.last, last.count + 1 + rest.count <= room {
        lines[lines.count - 1] = last + " " + rest
        continue
      }
      while rest.count > room {
        lines.append(String(rest.prefix(room)))
        rest = rest.dropFirst(room)
      }
      lines.append(String(rest))
    }
    return lines.isEmpty ? [""] : lines
  }
}
