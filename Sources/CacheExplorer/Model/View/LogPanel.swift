import CacheEngine
import ExplorerText

/// What the engine's logger says.
enum LogPanel {
  static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    var notes: [String] = []
    if picture.log.lost > 0 { notes.append("lost \(Format.count(picture.log.lost))") }
    notes.append("≥ \(model.log.minimum.name)")
    if !model.log.search.isEmpty {
      notes.append(
        "\"\(model.log.search.text)\" \(Format.counted(model.log.matches(in: picture.log), "hit")) · n/N next")
    }
    if model.log.isWrapped { notes.append("wrapped") }
    notes.append(model.log.isFollowing ? "following" : "scrolled: G follows")
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
    for number in numbers {
      guard let line = picture.log[number] else { continue }
      // Following, the last line is chosen without a sign that would move with every line.
      let isChosen = frame.isFocused && number == chosen && !model.log.isFollowing
      let sign: DisplayText = isChosen ? "▸" : model.log.marks.contains(number) ? "»" : ""
      canvas.write(sign, x: rect.x + 1, y: y, style: isChosen ? .accent : .key)
      let parts = model.log.isWrapped ? lines(of: line, model, in: rect) : [text(of: line, model)]
      draw(line, parts.first ?? "", model, in: rect, y: y, on: &canvas)
      y += 1
      for part in parts.dropFirst() where y < rect.bottom - 1 {
        canvas.write(part, x: rect.x + 2 + lead(rect), y: y, limit: rect.width - 4 - lead(rect))
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
  private static func lead(_ rect: Rect) -> Int { (rect.width >= 100 ? 13 : 7) + 6 + 9 }

  private static func lines(of line: LogLine, _ model: Model, in rect: Rect) -> [DisplayText] {
    let request = line.request.map { $0.description.count + 2 } ?? 0
    return text(of: line, model).wrapped(to: max(10, rect.width - 4 - lead(rect) - request))
  }

  private static func draw(
    _ line: LogLine, _ text: DisplayText, _ model: Model, in rect: Rect, y: Int, on canvas: inout Canvas
  ) {
    let isWide = rect.width >= 100
    let clock = Format.clock(milliseconds: model.timeOfDay(sinceEpoch: line.time))
    let time = DisplayText(isWide ? clock : String(clock.suffix(6)))
    let isMatch = model.log.isMatch(line)
    var x = canvas.write(time + " ", x: rect.x + 2, y: y, style: .faint)
    x = canvas.write(DisplayText(line.level.label).padded(to: 5) + " ", x: x, y: y, style: style(line.level))
    x = canvas.write(DisplayText(line.source).shortened(to: 8).padded(to: 8) + " ", x: x, y: y, style: .accent)
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
