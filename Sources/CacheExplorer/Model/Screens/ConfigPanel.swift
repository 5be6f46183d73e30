import ExplorerCommands
package import ExplorerState
package import ExplorerText

extension Page {
  package static let config = Page("Config", key: "5", panels: [ConfigPanel.self])
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
    model.config.row = 0
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
    let last = max(0, model.config.warnings.count + model.config.settings.count - 1)
    model.config.row = min(max(0, model.config.row + min(max(distance, -1_000_000), 1_000_000)), last)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let lines = lines(model, width: rect.width - 4)
    guard let chosen = lines.row(atLine: row - 1, chosen: model.config.row, room: rect.height - 2) else { return false }
    model.config.row = chosen
    return true
  }

  package static func detail(_ model: Model) -> RowDetail? {
    let sheet = model.config
    if sheet.warnings.indices.contains(sheet.row) {
      let warning = sheet.warnings[sheet.row]
      var detail = RowDetail("Warning")
      detail.add("", warning.message, .warning)
      detail.add("mend", warning.remedy)
      if let place = warning.place { detail.add("written", "\(warning.file):\(place.line):\(place.column)", .accent) }
      return detail
    }
    let place = sheet.row - sheet.warnings.count
    guard sheet.settings.indices.contains(place) else { return nil }
    let setting = sheet.settings[place]
    let word = sheet.settings[...place].last { $0.owner == setting.owner && $0.field == nil }?.value ?? setting.owner
    var detail = RowDetail(setting.title)
    let meaning = setting.field.map { SettingMeaning.of(field: $0, in: word) } ?? SettingMeaning.of(word: word)
    if let meaning { detail.add("", meaning) }
    detail.add(setting.field == nil ? "kind" : "value", setting.value, .key)
    // What another program tells stands in no file.
    guard model.attachment == nil else { return detail }
    if setting.place != nil {
      detail.add("written", sheet.origin(of: setting), .accent)
    } else if setting.field != nil {
      detail.add("written", "nowhere: this is the default", .faint)
    }
    if sheet.isFixed == nil {
      detail.add("change", "edit the file, and r reads it again and asks before it applies", .faint)
    }
    return detail
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
    let warnings = model.config.warnings.count
    var notes: [String] = []
    if lines.hasMore(chosen: model.config.row, room: rect.height - 2) { notes.append("↓ more") }
    if model.attachment == nil {
      notes.append(warnings == 0 ? "no warnings" : "\(warnings) \(warnings == 1 ? "warning" : "warnings")")
      if model.config.isFixed == nil { notes.append("r reloads") }
    }
    canvas.box(
      rect, title: "Config " + DisplayText(model.config.file).shortened(to: max(8, rect.width - 40)),
      right: DisplayText(notes.joined(separator: " · ")), isFocused: frame.isFocused)
    lines.draw(chosen: model.config.row, in: rect, isFocused: frame.isFocused, on: &canvas)
  }

  private static func lines(_ model: Model, width: Int) -> RowLines {
    let width = max(10, width)
    let sheet = model.config
    var lines = RowLines()
    func add(_ text: String, _ style: Style) {
      for line in DisplayText(text).wrapped(to: width) { lines.add([Span(line, style)]) }
    }
    switch sheet.plan {
    case .changes(let changes)?:
      lines.add([Span("what a reload would change", .title)])
      for change in changes {
        add(change, change.hasPrefix("+") ? .hit : change.hasPrefix("-") ? .miss : .warning)
      }
      lines.add()
    case .refused(let problems)?:
      lines.add([Span("the file cannot be loaded; what is in force stays", .error)])
      for problem in problems { add(problem.description, .error) }
      lines.add()
    case nil: break
    }
    for warning in sheet.warnings {
      lines.addRow(
        DisplayText(warning.description).wrapped(to: width - 2).enumerated().map { index, text in
          [Span(index == 0 ? "▲ " : "  ", .warning), Span(text, .warning)]
        })
    }
    if !sheet.warnings.isEmpty { lines.add() }
    let titles = sheet.settings.map { $0.indentation + DisplayText($0.field ?? "").width + 2 }
    let column = min(max(18, (titles.max() ?? 0) + 2), width / 2)
    let origins = sheet.settings.map { DisplayText(sheet.origin(of: $0)).width }.max() ?? 0
    let origin = width >= 60 && model.attachment == nil ? min(max(10, origins), width / 3) : 0
    for setting in sheet.settings {
      let indent = DisplayText(repeating: " ", count: setting.indentation + (setting.field == nil ? 0 : 2))
      let title: DisplayText =
        setting.field.map { indent + DisplayText($0) } ?? indent + DisplayText(setting.owner)
      let room = max(4, width - column - origin - 2)
      let isGiven = setting.place != nil && setting.field != nil
      // A level that is named after its kind needs no second word.
      let value = setting.field == nil && setting.value == setting.owner ? "" : setting.value
      var spans = [
        Span(title.clipped(to: column - 1).padded(to: column), setting.field == nil ? .title : .plain),
        Span(DisplayText(value).shortened(to: room).padded(to: room + 1), isGiven ? .accent : .faint),
      ]
      if origin > 0 {
        let text = DisplayText(sheet.origin(of: setting)).shortened(to: origin)
        spans.append(Span(text.rightAligned(to: origin), .faint))
      }
      lines.addRow([spans])
    }
    return lines
  }
}
