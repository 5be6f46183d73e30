package import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let log = Page("Log", key: "6", panels: [LogPanel.self])
}

extension PanelID {
  package static let log = PanelID(LogPanel.self)
}

extension Model {
  package var log: LogView {
    get { self[LogPanel.self] }
    _modify { yield &self[LogPanel.self] }
  }

  /// The number of the log line under the cursor.
  var logLine: Int? { log.current(in: shown.log, rows: max(1, Layout(self).rows(.log))) }
}

/// What the engine's logger says.
package enum LogPanel: Panel {
  package static let initial = LogView()
  private static let nextMatch = Action.own("next match")
  private static let previousMatch = Action.own("previous match")
  private static let mark = Action.own("mark")
  private static let wrap = Action.own("wrap")
  private static let less = Action.own("less of the log")
  private static let more = Action.own("more of the log")

  package static let keys = [
    KeyTable.bind([.character("n")], "n", nextMatch, "next match in the log", .look),
    KeyTable.bind([.character("N")], "N", previousMatch, "previous match in the log", .look),
    KeyTable.bind([.character("e")], "e", .nextTrouble, "next warning, error or mark in the log", .look),
    KeyTable.bind([.character("E")], "E", .previousTrouble, "previous warning, error or mark in the log", .look),
    KeyTable.bind([.character("m")], "m", mark, "mark this line of the log, or take the mark away", .look),
    KeyTable.bind([.character("W")], "W", wrap, "wrap long lines of the log", .look),
    KeyTable.bind([.character("{")], "{", less, "show less of the log: only what is more severe", .look),
    KeyTable.bind([.character("}")], "}", more, "show more of the log", .look),
  ]

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    switch action {
    case nextMatch: jump(&model, forwards: true) { log, _, line in log.isMatch(line) }
    case previousMatch: jump(&model, forwards: false) { log, _, line in log.isMatch(line) }
    case .nextTrouble: jump(&model, forwards: true) { log, number, line in log.isTrouble(number, line) }
    case .previousTrouble: jump(&model, forwards: false) { log, number, line in log.isTrouble(number, line) }
    case mark: if let line = model.logLine { model.log.toggleMark(line) }
    case wrap: model.log.isWrapped.toggle()
    case less: model.log.minimum = LogLevel(rawValue: model.log.minimum.rawValue + 1) ?? model.log.minimum
    case more: model.log.minimum = LogLevel(rawValue: model.log.minimum.rawValue - 1) ?? model.log.minimum
    default: return nil
    }
    return []
  }

  private static func jump(_ model: inout Model, forwards: Bool, to isWanted: (LogView, Int, LogLine) -> Bool) {
    let rows = max(1, Layout(model).rows(.log))
    let (view, ring) = (model.log, model.shown.log)
    let isFound = model.log.jump(forwards: forwards, in: ring, rows: rows) { isWanted(view, $0, $1) }
    if !isFound { model.refuse("no more \(forwards ? "below" : "above")") }
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    if case .showLog(let minimum) = message { model.log.minimum = minimum }
    return []
  }

  package static func move(_ model: inout Model, by distance: Int) {
    let rows = Layout(model).rows(.log)
    model.log.move(by: distance, in: model.shown.log, rows: rows)
  }

  package static func moveToEnd(_ model: inout Model, isFirst: Bool) {
    guard isFirst else { return model.log.follow() }
    let rows = Layout(model).rows(.log)
    model.log.scrollToStart(in: model.shown.log, rows: rows)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    guard let number = line(at: row - 1, model, model.shown, in: rect) else { return false }
    model.log.choose(number, in: model.shown.log, rows: max(1, rect.height - fixedRows))
    return true
  }

  package static func request(_ model: Model) -> RequestID? { model.logLine.flatMap { model.shown.log[$0]?.request } }
  package static var missing: String { "there is no line" }

  package static func detail(_ model: Model) -> RowDetail? {
    guard let line = model.logLine.flatMap({ model.shown.log[$0] }) else { return nil }
    var detail = RowDetail("Line of the log")
    detail.add("", model.shown(line.text, keys: line.keys))
    detail.add("time", Format.clock(milliseconds: model.timeOfDay(sinceEpoch: line.time)))
    detail.add("severity", line.level.name, style(line.level))
    detail.add("from", line.source, .accent)
    if let event = line.event { detail.add("event", Format.count(event)) }
    detail.add(
      "request",
      line.request.map { "\($0), no longer among the last \(Format.count(RequestLog.capacity))" }
        ?? "none: it is of no call",
      .faint)
    return detail
  }

  package static var prompt: DisplayText { " search the log /" }
  package static func search(_ model: Model) -> String { model.log.search.text }
  package static func search(_ model: inout Model, for text: String) { model.log.search = TextSearch(text) }

  package static func rows(_ model: Model) -> RowTable? {
    let ring = model.shown.log
    let rows = ring.numbers.compactMap { ring[$0] }.filter { model.log.shows($0) }.map { line -> [JSONText?] in
      [
        .text(Format.clock(milliseconds: model.timeOfDay(sinceEpoch: line.time))), .text(line.level.name),
        .text(line.source), .text(model.shown(line.text, keys: line.keys)), line.request.map { .text($0.description) },
      ]
    }
    return RowTable(["time", "level", "source", "text", "request"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Log",
      [
        Figure(
          name: "lost", value: Format.count(model.shown.log.lost),
          definition: "events that came faster than the screen takes them and were dropped, the oldest first",
          unit: "events",
          window: FigureTable.session, source: "the ring between engine and screen"),
        Figure(
          name: "matches", value: Format.count(model.log.matches(in: model.shown.log)),
          definition: "lines of the shown severities that match the search", unit: "lines",
          window: "the last \(Format.count(LogRing.capacity)) lines", source: "the log"),
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    var notes: [String] = []
    if picture.log.lost > 0 { notes.append("lost \(Format.count(picture.log.lost))") }
    notes.append("≥ \(model.log.minimum.name)")
    if !model.log.search.isEmpty {
      let matches = Format.counted(model.log.matches(in: picture.log), "match", "matches")
      notes.append("\"\(model.log.search.text)\" \(matches) · n/N")
    }
    if model.log.isWrapped { notes.append("wrapped") }
    notes.append(
      model.log.isFollowing
        ? "following" : model.log.isOverrun(by: picture.log) ? "too fast to read: Space pauses" : "scrolled: G follows")
    let title = frame.title("Log", as: .log)
    var right = DisplayText(notes.joined(separator: " · "))
    // Where the reader is tells more than what is filtered.
    while notes.count > 1, title.width + right.width + 7 > rect.width {
      notes.removeFirst()
      right = DisplayText(notes.joined(separator: " · "))
    }
    canvas.box(rect, title: title, right: right, isFocused: frame.isFocused)
    let rows = rect.height - 2
    guard rows > 0 else { return }
    let numbers = visible(model, picture, in: rect)
    if numbers.isEmpty {
      let text: DisplayText = picture.log.numbers.isEmpty ? "no lines yet" : "no lines at this level; } shows more"
      canvas.write(text, x: rect.x + 2, y: rect.y + 1, style: .faint, limit: rect.width - 3)
    }
    var y = rect.y + 1
    let chosen = model.log.current(in: picture.log, rows: rows)
    let source = sourceWidth(model, in: rect)
    for number in numbers {
      guard let line = picture.log[number] else { continue }
      // Following, the last line is chosen without a sign that would move with every line.
      let isChosen = frame.isFocused && number == chosen && !model.log.isFollowing
      let sign: DisplayText = isChosen ? "▸" : model.log.marks.contains(number) ? "»" : ""
      canvas.write(sign, x: rect.x + 1, y: y, style: isChosen ? .accent : .key)
      let parts = model.log.isWrapped ? lines(of: line, model, in: rect) : [text(of: line, model)]
      draw(line, parts.first ?? "", model, source: source, in: rect, y: y, on: &canvas)
      y += 1
      for part in parts.dropFirst() where y < rect.bottom - 1 {
        canvas.write(part, x: rect.x + 2 + lead(model, in: rect), y: y, limit: rect.width - 4 - lead(model, in: rect))
        y += 1
      }
    }
  }

  private static func visible(_ model: Model, _ picture: Picture, in rect: Rect) -> [Int] {
    model.log.visible(in: picture.log, rows: rect.height - 2) { line in
      model.log.isWrapped ? lines(of: line, model, in: rect).count : 1
    }
  }

  /// The number of the line that is drawn in a row, counted from the first one.
  static func line(at row: Int, _ model: Model, _ picture: Picture, in rect: Rect) -> Int? {
    guard (0..<max(0, rect.height - 2)).contains(row) else { return nil }
    var y = 0
    for number in visible(model, picture, in: rect) {
      guard let line = picture.log[number] else { continue }
      y += model.log.isWrapped ? lines(of: line, model, in: rect).count : 1
      if row < y { return number }
    }
    return nil
  }

  private static func text(of line: LogLine, _ model: Model) -> DisplayText {
    DisplayText(model.shown(line.text, keys: line.keys))
  }

  /// What stands before the text: time, level, source.
  private static func lead(_ model: Model, in rect: Rect) -> Int {
    (rect.width >= 100 ? 13 : 7) + 6 + sourceWidth(model, in: rect) + 1
  }

  /// How wide the names of levels and operators are: whole where there is room.
  private static func sourceWidth(_ model: Model, in rect: Rect) -> Int {
    // What hears of changes has lines as well, by the name of coherence, though no row of its own.
    let least = model.live.levels.contains { $0.shared != nil } ? 9 : 8
    guard rect.width >= 100 else { return least }
    let names = model.live.levels.map(\.name) + model.live.operators.map(\.name)
    return min(20, names.reduce(least) { max($0, DisplayText($1).width) })
  }

  private static func lines(of line: LogLine, _ model: Model, in rect: Rect) -> [DisplayText] {
    let request = line.request.map { $0.description.count + 2 } ?? 0
    return text(of: line, model).wrapped(to: max(10, rect.width - 4 - lead(model, in: rect) - request))
  }

  private static func draw(
    _ line: LogLine, _ text: DisplayText, _ model: Model, source width: Int, in rect: Rect, y: Int,
    on canvas: inout Canvas
  ) {
    let isWide = rect.width >= 100
    let clock = Format.clock(milliseconds: model.timeOfDay(sinceEpoch: line.time))
    let time = DisplayText(isWide ? clock : String(clock.suffix(6)))
    let isMatch = model.log.isMatch(line)
    var x = canvas.write(time + " ", x: rect.x + 2, y: y, style: .faint)
    x = canvas.write(DisplayText(line.level.label).padded(to: 5) + " ", x: x, y: y, style: style(line.level))
    let source = DisplayText(line.source).shortened(to: width).padded(to: width)
    x = canvas.write(source + " ", x: x, y: y, style: .accent)
    let request = DisplayText(line.request.map { "  \($0)" } ?? "")
    let room = rect.right - 2 - x
    let hasRequest = room - request.width >= 20
    canvas.write(
      text, x: x, y: y, style: isMatch ? Style.plain.reversed : .plain,
      limit: max(0, hasRequest ? room - request.width : room))
    if hasRequest { canvas.write(request, endingAt: rect.right - 2, y: y, style: .faint) }
  }

  private static func style(_ level: LogLevel) -> Style {
    switch level {
    case .trace, .debug: .faint
    case .info, .notice: .plain
    case .warning: .warning
    case .error: .error
    }
  }
}
