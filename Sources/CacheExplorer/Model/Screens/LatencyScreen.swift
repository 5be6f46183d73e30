import CacheEngine
import ExplorerState
import ExplorerText

/// How long each level takes, drawn large: columns on a logarithmic axis whose heights are logarithms of the counts.
enum LatencyScreen {
  private static let lowest: Int64 = 100
  private static let decades = 9
  private static let marks = ["100n", "1µ", "10µ", "100µ", "1m", "10m", "100m", "1s", "10s"]
  private static let steps = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let part = model.latencyPart
    let right: DisplayText =
      rect.width >= 70
      ? "a: \(part.rawValue) · \(picture.window) · log x, log counts · ↵ worst" : "a: \(part.rawValue) · log"
    canvas.box(rect, title: "Latency · \(part.rawValue)", right: right, isFocused: frame.isFocused)
    let levels = picture.levels.indices
    let inner = rect.inner
    guard !levels.isEmpty, inner.height >= 2, inner.width >= 24 else { return }
    // Each level: a line of numbers, some of graph, and the axis once at the end.
    let height = min(9, max(1, (inner.height - 1) / levels.count))
    var y = inner.y
    for level in levels {
      guard y + height <= inner.bottom - (height > 1 ? 1 : 0) else {
        canvas.write(
          " \(levels.count - level) more: enlarge the window ", endingAt: rect.right - 1, y: rect.bottom - 1,
          style: .faint)
        break
      }
      draw(
        picture, level, part, in: Rect(x: inner.x + 1, y: y, width: inner.width - 2, height: height), model, on: &canvas
      )
      y += height
    }
    if height > 1, y < inner.bottom {
      drawAxis(in: Rect(x: inner.x + 1, y: y, width: inner.width - 2, height: 1), on: &canvas)
    }
  }

  static func histogram(_ traffic: CacheStatistics.Level, _ part: LatencyPart) -> LatencyHistogram {
    switch part {
    case .all: traffic.latency
    case .hits: traffic.hitLatency
    case .misses: traffic.missLatency
    }
  }

  private static func draw(
    _ picture: Picture, _ index: Int, _ part: LatencyPart, in rect: Rect, _ model: Model, on canvas: inout Canvas
  ) {
    let level = picture.levels[index]
    let histogram = histogram(picture.figures(index), part)
    func text(_ value: Int64?) -> String { value.map { Format.latency(nanoseconds: $0) } ?? Format.none }
    let name = DisplayText(level.isOrigin ? level.name : level.name.uppercased()).shortened(to: 14)
    var items = [50.0, 90, 99, 99.9].map { share in
      "p\(share == 99.9 ? "99.9" : "\(Int(share))") \(text(histogram.nanoseconds(share / 100)))"
    }
    items.append("max \(text(histogram.longest))")
    items.insert("n \(Format.count(Int(clamping: histogram.count)))", at: 0)
    if let worst = picture.traffic[index].worst, part == .all, worst.nanoseconds == histogram.longest {
      let request = worst.request.map { " \($0)" } ?? ""
      items.append("worst at \(Format.clock(seconds: model.timeOfDay(worst.time) / 1_000))\(request)")
    }
    let width = min(15, max(7, rect.width / 6))
    let x = canvas.write(name.shortened(to: width - 1).padded(to: width), x: rect.x, y: rect.y, style: .title)
    canvas.write(LevelBoxes.fitting(items, in: rect.right - x), x: x, y: rect.y)
    guard rect.height > 1 else { return }
    drawColumns(
      histogram, in: Rect(x: rect.x, y: rect.y + 1, width: rect.width, height: rect.height - 1),
      style: level.isOrigin ? .miss : part == .misses ? .miss : part == .hits ? .hit : .accent, on: &canvas)
  }

  private static func drawColumns(_ histogram: LatencyHistogram, in rect: Rect, style: Style, on canvas: inout Canvas) {
    guard rect.height > 0, histogram.count > 0 else {
      return _ = canvas.write("— nothing measured", x: rect.x, y: rect.y, style: .faint)
    }
    let counts = histogram.columns(rect.width, decades: decades, from: lowest)
    let heights = counts.map { Double(Int.bitWidth - $0.leadingZeroBitCount) }
    let top = max(1, heights.max() ?? 1)
    let worst = counts.lastIndex { $0 > 0 }
    for (column, value) in heights.enumerated() where value > 0 {
      var eighths = max(1, Int(value / top * Double(rect.height * 8)))
      var y = rect.bottom - 1
      // The session's worst has a look of its own.
      let look = column == worst ? Style.warning : style
      while eighths > 0, y >= rect.y {
        canvas.write(DisplayText(steps[min(8, eighths) - 1]), x: rect.x + column, y: y, style: look)
        eighths -= 8
        y -= 1
      }
    }
    if let worst, rect.height > 1 {
      let label = DisplayText("▾ max")
      let place = min(rect.x + worst, rect.right - label.width)
      let filled = min(rect.height, Int(heights[worst] / top * Double(rect.height * 8) + 7) / 8)
      let y = rect.bottom - 1 - filled
      if y >= rect.y { canvas.write(label, x: place, y: y, style: .warning) }
    }
  }

  private static func drawAxis(in rect: Rect, on canvas: inout Canvas) {
    var free = rect.x
    for (decade, mark) in marks.enumerated() {
      let place = rect.x + decade * rect.width / decades
      guard place >= free, place + mark.count <= rect.right else { continue }
      free = canvas.write(DisplayText(mark), x: place, y: rect.y, style: .faint) + 1
    }
  }
}
