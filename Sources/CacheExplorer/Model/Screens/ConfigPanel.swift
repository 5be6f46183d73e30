import CacheEngine
package import ExplorerText

extension Page {
  package static let config = Page("Config", key: "5", panels: [ConfigPanel.self])
}

extension PanelID {
  package static let config = PanelID(ConfigPanel.self)
}

extension Model {
  package var config: ConfigSheet {
    get { self[ConfigPanel.self] }
    _modify { yield &self[ConfigPanel.self] }
  }
}

/// The values in force with where they come from, what is probably not meant, and what a reload would change.
package enum ConfigPanel: Panel {
  package static let initial = ConfigSheet()
  private static let reload = Action.own("reload")

  package static let keys = [
    KeyTable.bind(
      [.character("r")], "r", reload, "read the configuration again; asks before it applies", .look)
  ]

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? { action == reload ? [.reload] : nil }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    case .showConfig: model.show(.config)
    case .settings(let settings): model.config.settings = settings
    case .planned(let plan): planned(plan, &model)
    case .replaced(let new), .attachedAgain(_, let new): model.config = new.config
    default: break
    }
    return []
  }

  /// A configuration was read again: asks whether to apply what it changes.
  private static func planned(_ plan: ConfigSheet.Plan, _ model: inout Model) {
    model.show(.config)
    model.config.plan = plan
    model.config.top = 0
    switch plan {
    case .refused(let problems):
      model.refuse("the configuration cannot be loaded: \(problems.first.map(\.description) ?? "no reason given")")
    case .changes([]):
      model.config.plan = nil
      model.say("reload: nothing has changed")
    case .changes(let lines):
      if let whyReadOnly = model.whyReadOnly { return model.refuse(whyReadOnly) }
      let noun = lines.count == 1 ? "change" : "changes"
      model.mode = .confirming(
        Confirmation(command: nil, question: "apply \(lines.count) \(noun)? The levels are closed and opened again"))
    }
  }

  package static func move(_ model: inout Model, by distance: Int) {
    model.config.top = min(max(0, model.config.top + distance), lastTop(model))
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    model.mode = .explaining
    return []
  }

  /// Takes away what a reload would change.
  package static func back(_ model: inout Model) -> Bool {
    defer { model.config.plan = nil }
    return model.config.plan != nil
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Config",
      [
        Figure(
          name: "origin", definition: "where a value is written, or “default”", unit: "file:line",
          window: "when it was loaded",
          source: "the configuration file")
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    let lines = lines(model, width: rect.width - 4)
    let rows = max(0, rect.height - 2)
    let top = min(max(0, model.config.top), max(0, lines.count - rows))
    let warnings = model.config.warnings.count
    var right = warnings == 0 ? "no warnings" : "\(warnings) \(warnings == 1 ? "warning" : "warnings")"
    right += " · r reloads"
    if top + rows < lines.count { right = "↓ more · " + right }
    canvas.box(
      rect, title: "Config " + DisplayText(model.config.file).shortened(to: max(8, rect.width - 40)),
      right: DisplayText(right), isFocused: frame.isFocused)
    for (row, line) in lines.dropFirst(top).prefix(rows).enumerated() {
      canvas.write(line, x: rect.x + 2, y: rect.y + 1 + row, limit: rect.width - 3)
    }
  }

  static func lastTop(_ model: Model) -> Int {
    let layout = Layout(model)
    guard let rect = layout.panels[.config] else { return 0 }
    return max(0, lines(model, width: rect.width - 4).count - max(0, rect.height - 2))
  }

  private static func lines(_ model: Model, width: Int) -> [[Span]] {
    let width = max(10, width)
    let sheet = model.config
    var lines: [[Span]] = []
    switch sheet.plan {
    case .changes(let changes)?:
      lines.append([Span("what a reload would change", .title)])
      for change in changes {
        let style: Style = change.hasPrefix("+") ? .hit : change.hasPrefix("-") ? .miss : .warning
        lines += DisplayText(change).wrapped(to: width).map { [Span($0, style)] }
      }
      lines.append([])
    case .refused(let problems)?:
      lines.append([Span("the file cannot be loaded; what is in force stays", .error)])
      for problem in problems {
        lines += DisplayText(problem.description).wrapped(to: width).map { [Span($0, .error)] }
      }
      lines.append([])
    case nil: break
    }
    for warning in sheet.warnings {
      for (index, text) in DisplayText(warning.description).wrapped(to: width - 2).enumerated() {
        lines.append([Span(index == 0 ? "▲ " : "  ", .warning), Span(text, .warning)])
      }
    }
    if !sheet.warnings.isEmpty { lines.append([]) }
    let titles = sheet.settings.map { $0.depth * 2 + DisplayText($0.field ?? "").width + 2 }
    let column = min(max(18, (titles.max() ?? 0) + 2), width / 2)
    let origins = sheet.settings.map { DisplayText(sheet.origin(of: $0)).width }.max() ?? 0
    let origin = width >= 60 ? min(max(10, origins), width / 3) : 0
    for setting in sheet.settings {
      let indent = DisplayText(repeating: " ", count: setting.depth * 2 + (setting.field == nil ? 0 : 2))
      let title: DisplayText =
        setting.field.map { indent + DisplayText($0) } ?? indent + DisplayText(setting.owner)
      let room = max(4, width - column - origin - 2)
      let isGiven = setting.place != nil && setting.field != nil
      // A level that is called what it is needs no second word.
      let value = setting.field == nil && setting.value == setting.owner ? "" : setting.value
      var spans = [
        Span(title.clipped(to: column - 1).padded(to: column), setting.field == nil ? .title : .plain),
        Span(DisplayText(value).shortened(to: room).padded(to: room + 1), isGiven ? .accent : .faint),
      ]
      if origin > 0 {
        let text = DisplayText(sheet.origin(of: setting)).shortened(to: origin)
        spans.append(Span(text.rightAligned(to: origin), .faint))
      }
      lines.append(spans)
    }
    return lines
  }
}
