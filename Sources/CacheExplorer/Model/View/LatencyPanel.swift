import CacheEngine
import ExplorerText

/// How long each level takes to answer, on a logarithmic axis.
///
/// Heights are logarithms too: one slow miss is visible.
enum LatencyPanel {
  private static let lowest: Int64 = 100
  private static let decades = 8
  private static let marks = ["100n", "1µ", "10µ", "100µ", "1m", "10m", "100m", "1s"]

  static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let part = model.latencyPart
    canvas.box(
      rect, title: frame.title("Latency", as: .latency),
      right: DisplayText((part == .all ? "" : "\(part.rawValue) ") + "\(picture.window) · log x"),
      isFocused: frame.isFocused)
    let rows = rect.height - 2
    let x = rect.x + 1
    let longest = picture.levels.map { DisplayText($0.name).width }.max() ?? 0
    let name = min(max(4, longest), rect.width >= 60 ? 12 : 6)
    let numbers = rect.width >= 60 ? 24 : 12
    let columns = rect.width - 2 - name - numbers - 2
    guard rows >= 2, columns >= decades else { return }
    drawAxis(x: x + name + 1, y: rect.y + 1, columns: columns, on: &canvas)
    let heads: [DisplayText] = numbers == 24 ? ["p50", "p99", "max", "n"] : ["p50", "p99"]
    let head = heads.reduce(DisplayText()) { $0 + $1.rightAligned(to: 6) }
    canvas.write(head, endingAt: rect.right - 1, y: rect.y + 1, style: .faint)
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
