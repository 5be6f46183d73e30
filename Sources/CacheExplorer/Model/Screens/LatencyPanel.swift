package import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let latency = Page("Latency", key: "4", panels: [LatencyPanel.self])
}

extension PanelID {
  package static let latency = PanelID(LatencyPanel.self)
}

extension Model {
  package var latencyPart: LatencyPart {
    get { self[LatencyPanel.self] }
    _modify { yield &self[LatencyPanel.self] }
  }
}

/// Which answers of a level count.
package enum LatencyPart: String, Sendable, CaseIterable {
  case all, hits, misses

  var next: LatencyPart {
    switch self {
    case .all: .hits
    case .hits: .misses
    case .misses: .all
    }
  }
}

/// How long each level takes to answer, on a logarithmic axis.
///
/// Heights are logarithms too: one slow miss is visible.
package enum LatencyPanel: Panel {
  package static let initial = LatencyPart.all
  private static let part = Action.own("latencies of hits or misses")

  package static let keys = [
    KeyTable.bind([.character("a")], "a", part, "latencies of hits, of misses, of all", .look)
  ]

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    guard action == part else { return nil }
    model.latencyPart = model.latencyPart.next
    return []
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool { row > 0 }

  package static func inspect(_ model: inout Model) -> [Effect] {
    if let worst = request(model), model.shown.calls[worst] != nil {
      model.open(worst)
    } else {
      model.mode = .explaining
    }
    return []
  }

  /// The longest that was told.
  package static func request(_ model: Model) -> RequestID? {
    model.shown.traffic.compactMap(\.worst).max { $0.nanoseconds < $1.nanoseconds }?.request
  }

  package static func figures(_ model: Model) -> FigureTable {
    let counts = model.shown.traffic.map { Format.count(Int(clamping: $0.latency.count)) }.joined(separator: " · ")
    return FigureTable(
      "Latency",
      [
        Figure(
          name: "p50 p90 p99 p99.9", definition: "the latency that this share of the look-ups did not exceed",
          unit: "time",
          window: FigureTable.windows,
          source: "the engine's histogram, 16 steps for each doubling: exact to 6 %, rounded up"),
        Figure(
          name: "n", value: counts, definition: "look-ups measured, level by level; “a” tells hits from misses",
          unit: "look-ups", window: FigureTable.windows, source: "the same histogram"),
        Figure(
          name: "columns",
          definition: "x is the logarithm of the latency, the height that of the count: one slow miss shows",
          unit: "look-ups", window: FigureTable.windows, source: "the same histogram"),
        Figure(
          name: "max, worst",
          definition: "the longest look-up; Enter opens the request of the longest one reported", unit: "time",
          window: FigureTable.windows, source: "the same histogram; its request from the events"),
      ])
  }

  private static let lowest: Int64 = 100
  private static let decades = 8
  private static let marks = ["100n", "1µ", "10µ", "100µ", "1m", "10m", "100m", "1s"]

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    if model.page == .latency || model.isZoomed { return LatencyScreen.draw(model, picture, in: frame, on: &canvas) }
    let rect = frame.rect
    let part = model.latencyPart
    canvas.box(
      rect, title: frame.title("Latency", as: .latency),
      right: DisplayText((part == .all ? "" : "\(part.rawValue) ") + "\(picture.window) · log x"),
      isFocused: frame.isFocused)
    let rows = rect.height - 2
    let x = rect.x + 1
    let longest = picture.levels.map { DisplayText($0.name).width }.max() ?? 0
    let numbers = rect.width >= 60 ? 24 : 12
    // Names are whole as long as the columns keep two cells for each power of ten.
    let name = min(max(4, longest), max(rect.width >= 60 ? 12 : 6, rect.width - 4 - numbers - 2 * decades))
    let columns = rect.width - 2 - name - numbers - 2
    guard rows >= 2, columns >= decades else { return }
    drawAxis(x: x + name + 1, y: rect.y + 1, columns: columns, on: &canvas)
    let heads: [DisplayText] = numbers == 24 ? ["p50", "p99", "max", "n"] : ["p50", "p99"]
    let head = heads.reduce(DisplayText()) { $0 + $1.rightAligned(to: 6) }
    canvas.write(head, endingAt: rect.right - 1, y: rect.y + 1, style: .faint)
    if picture.levels.count > rows - 1 {
      canvas.write(
        " \(rows - 1) of \(picture.levels.count), 4 shows all ", endingAt: rect.right - 1, y: rect.bottom - 1,
        style: .warning)
    }
    for (index, level) in picture.levels.prefix(rows - 1).enumerated() {
      let y = rect.y + 2 + index
      let histogram = LatencyScreen.histogram(picture.figures(index), part)
      let label = DisplayText(level.isOrigin ? level.name : level.name.uppercased()).shortened(to: name)
      canvas.write(label, x: x, y: y, style: .title)
      canvas.write(graph(histogram, columns), x: x + name + 1, y: y, style: level.isOrigin ? .miss : .accent)
      var values = [histogram.nanoseconds(0.5), histogram.nanoseconds(0.99)]
      if numbers == 24 { values.append(histogram.longest) }
      var text = values.reduce(DisplayText()) {
        $0 + DisplayText($1.map { Format.latency(nanoseconds: $0) } ?? Format.none).rightAligned(to: 6)
      }
      if numbers == 24 { text += DisplayText(Format.short(Int(clamping: histogram.count))).rightAligned(to: 6) }
      canvas.write(text, endingAt: rect.right - 1, y: y)
    }
  }

  private static func drawAxis(x: Int, y: Int, columns: Int, on canvas: inout Canvas) {
    var free = x
    for (decade, mark) in marks.enumerated() {
      let place = x + decade * columns / decades
      guard place >= free, place + mark.count <= x + columns else { continue }
      free = canvas.write(DisplayText(mark), x: place, y: y, style: .faint) + 1
    }
  }

  private static func graph(_ histogram: LatencyHistogram, _ columns: Int) -> DisplayText {
    let counts = histogram.columns(columns, decades: decades, from: lowest)
    let heights = counts.map { Double(Int.bitWidth - $0.leadingZeroBitCount) }
    let top = max(1, heights.max() ?? 1)
    let steps = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    return DisplayText(heights.map { $0 == 0 ? " " : steps[min(7, Int($0 / top * 7.999))] }.joined())
  }
}
