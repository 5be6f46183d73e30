import CacheEngine
import ExplorerText

/// The reads under way: where each is now, who waits for it, and since when.
enum InFlightPanel {
  static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let flights = picture.inFlight
    let waiting = flights.reduce(0) { $0 + max(0, $1.callers - 1) }
    let title = frame.title("In flight \(flights.count)", as: .inFlight)
    canvas.box(
      rect, title: title,
      right: picture.lost > 0 ? "told in part" : waiting > 0 ? "\(Format.counted(waiting, "caller")) joined" : "",
      isFocused: frame.isFocused)
    guard rect.height >= 4, rect.width >= 30 else { return }
    let x = rect.x + 2
    let key = min(40, max(8, rect.width - 29))
    canvas.write(
      DisplayText("KEY").padded(to: key) + " AT      WAIT ELAPSED", x: x, y: rect.y + 1, style: .faint,
      limit: rect.width - 3)
    guard !flights.isEmpty else {
      return _ = canvas.write("nobody waits", x: x, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let rows = rect.height - 3
    let top = min(max(0, model.inFlightTop), max(0, flights.count - rows))
    for (line, flight) in flights[top..<min(flights.count, top + rows)].enumerated() {
      if frame.isFocused, top + line == model.inFlightCursor {
        canvas.write("▸", x: rect.x + 1, y: rect.y + 2 + line, style: .accent)
      }
      draw(flight, model, picture, key: key, x: x, y: rect.y + 2 + line, limit: rect.right - 1, on: &canvas)
    }
  }

  private static func draw(
    _ flight: FlightTable.Flight, _ model: Model, _ picture: Picture, key: Int, x: Int, y: Int, limit: Int,
    on canvas: inout Canvas
  ) {
    let elapsed = max(0, flight.since.duration(to: picture.now).clampedNanoseconds)
    canvas.write(DisplayText(model.shown(flight.key)).shortened(to: key), x: x, y: y)
    let level = flight.level.flatMap { picture.levels.indices.contains($0) ? picture.levels[$0] : nil }
    let holder = flight.heldBy.flatMap { picture.operators.indices.contains($0) ? picture.operators[$0].name : nil }
    let place = holder ?? level.map { $0.isOrigin ? $0.name : $0.name.uppercased() } ?? "—"
    canvas.write(
      DisplayText(place).shortened(to: 7), x: x + key + 1, y: y,
      style: holder != nil ? .warning : level?.isOrigin == true ? .miss : .plain)
    canvas.write("×\(Format.short(flight.callers))", x: x + key + 9, y: y, style: .join)
    // A full bar is the level's p99; what takes longer is marked.
    let expected = flight.level.flatMap {
      picture.traffic.indices.contains($0) ? picture.traffic[$0].latency.nanoseconds(0.99) : nil
    }
    let share = expected.map { Double(elapsed) / Double(max(1, $0)) }
    let isSlow = (share ?? 0) > 1
    let text: DisplayText = "\(Format.latency(nanoseconds: elapsed))\(isSlow ? "!" : "")"
    let bar = x + key + 14
    canvas.write(Canvas.bar(width: 4, fraction: share ?? 0), x: bar, y: y, style: isSlow ? .error : .accent)
    canvas.write(text, x: bar + 5, y: y, style: isSlow ? .error : .plain, limit: limit - bar - 5)
  }
}
