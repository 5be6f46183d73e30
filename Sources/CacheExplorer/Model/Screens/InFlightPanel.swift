package import CacheEngine
package import ExplorerState
package import ExplorerText

extension PanelID {
  package static let inFlight = PanelID(InFlightPanel.self)
}

extension Model {
  var inFlightList: InFlightPanel.State {
    get { self[InFlightPanel.self] }
    _modify { yield &self[InFlightPanel.self] }
  }
}

/// The reads under way: where each is now, who waits for it, and since when.
package enum InFlightPanel: Panel {
  package struct State: Sendable {
    fileprivate(set) var top = 0
    fileprivate(set) var cursor = 0
  }

  package static let initial = State()
  package static let fixedRows = 3

  package static func move(_ model: inout Model, by distance: Int) {
    move(&model, to: model.inFlightList.cursor.addingReportingOverflow(distance).partialValue)
  }

  private static func move(_ model: inout Model, to place: Int) {
    let rows = max(1, Layout(model).rows(.inFlight))
    let cursor = min(max(0, place), max(0, model.shown.inFlightCount - 1))
    model.inFlightList.cursor = cursor
    model.inFlightList.top = min(max(model.inFlightList.top, cursor - rows + 1), cursor)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let place = model.inFlightList.top + row - 2
    guard row >= 2, place < model.shown.inFlightCount else { return false }
    move(&model, to: place)
    return true
  }

  package static func request(_ model: Model) -> RequestID? {
    let (flights, cursor) = (model.shown.inFlight, model.inFlightList.cursor)
    return flights.indices.contains(cursor) ? flights[cursor].leader : nil
  }

  package static var missing: String { "nobody waits" }

  package static func detail(_ model: Model) -> RowDetail? {
    let (picture, cursor) = (model.shown, model.inFlightList.cursor)
    let flights = picture.inFlight
    guard flights.indices.contains(cursor) else { return nil }
    let flight = flights[cursor]
    var detail = RowDetail("Load of \(model.shown(flight.key))")
    let elapsed = max(0, flight.since.duration(to: picture.now).clampedNanoseconds)
    detail.add(
      "callers", "\(Format.counted(flight.callers, "caller")) \(flight.callers == 1 ? "waits" : "wait") for it")
    detail.add("since", Format.latency(nanoseconds: elapsed))
    if let level = flight.level.flatMap({ picture.levels.indices.contains($0) ? picture.levels[$0] : nil }) {
      detail.add("at", level.name, level.isOrigin ? .miss : .plain)
    }
    if let held = flight.heldBy.flatMap({ picture.operators.indices.contains($0) ? picture.operators[$0] : nil }) {
      detail.add("held by", "\(held.name) \(held.setting)", .warning)
    }
    detail.add(
      "led by",
      flight.leader.map { "\($0), no longer among the last \(Format.count(RequestLog.capacity)) requests" }
        ?? "nobody knows",
      .faint)
    return detail
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "In flight",
      [
        Figure(
          name: "WAIT ×n", value: Format.count(model.shown.inFlight.reduce(0) { $0 + $1.callers }),
          definition: "callers that wait for this load, its leader included", unit: "callers", window: "now",
          source: "events load, join, leave"),
        Figure(
          name: "ELAPSED", definition: "since the load began; the bar is full at the level's p99, ! is past it",
          unit: "time", window: "now, p99 since the start", source: "event load, latencies of the level"),
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
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
    let place = placeWidth(picture, in: rect.width)
    let key = min(40, max(8, rect.width - 22 - place))
    canvas.write(
      DisplayText("KEY").padded(to: key) + " " + DisplayText("AT").padded(to: place) + " WAIT ELAPSED", x: x,
      y: rect.y + 1, style: .faint, limit: rect.width - 3)
    guard !flights.isEmpty else {
      return _ = canvas.write("nobody waits", x: x, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let rows = rect.height - 3
    let top = min(max(0, model.inFlightList.top), max(0, flights.count - rows))
    for (line, flight) in flights[top..<min(flights.count, top + rows)].enumerated() {
      if frame.isFocused, top + line == model.inFlightList.cursor {
        canvas.write("▸", x: rect.x + 1, y: rect.y + 2 + line, style: .accent)
      }
      draw(flight, model, picture, key: key, place: place, in: rect.inner.row(1 + line), on: &canvas)
    }
    if flights.count > rows {
      let part = "\(Format.count(top + 1))–\(Format.count(min(flights.count, top + rows)))"
      canvas.write(
        " \(part) of \(Format.count(flights.count)) ", endingAt: rect.right - 1, y: rect.bottom - 1, style: .warning)
    }
  }

  /// How wide the names are of where a read can be: whole, if keys keep as much.
  private static func placeWidth(_ picture: Picture, in width: Int) -> Int {
    let names = picture.levels.map(\.name) + picture.operators.map(\.name)
    let longest = names.reduce(0) { max($0, DisplayText($1).width) }
    return max(7, min(longest, 24, (width - 22) / 2))
  }

  private static func draw(
    _ flight: FlightTable.Flight, _ model: Model, _ picture: Picture, key: Int, place width: Int, in row: Rect,
    on canvas: inout Canvas
  ) {
    let (x, y) = (row.x + 1, row.y)
    let elapsed = max(0, flight.since.duration(to: picture.now).clampedNanoseconds)
    canvas.write(DisplayText(model.shown(flight.key)).shortened(to: key), x: x, y: y)
    let level = flight.level.flatMap { picture.levels.indices.contains($0) ? picture.levels[$0] : nil }
    let holder = flight.heldBy.flatMap { picture.operators.indices.contains($0) ? picture.operators[$0].name : nil }
    let place = holder ?? level.map { $0.isOrigin ? $0.name : $0.name.uppercased() } ?? "—"
    canvas.write(
      DisplayText(place).shortened(to: width), x: x + key + 1, y: y,
      style: holder != nil ? .warning : level?.isOrigin == true ? .miss : .plain)
    canvas.write("×\(Format.short(flight.callers))", x: x + key + 2 + width, y: y, style: .join)
    // A full bar is the level's p99; what takes longer is marked.
    let expected = flight.level.flatMap {
      picture.traffic.indices.contains($0) ? picture.traffic[$0].latency.nanoseconds(0.99) : nil
    }
    let share = expected.map { Double(elapsed) / Double(max(1, $0)) }
    let isSlow = (share ?? 0) > 1
    let text: DisplayText = "\(Format.latency(nanoseconds: elapsed))\(isSlow ? "!" : "")"
    let bar = x + key + 7 + width
    canvas.write(Canvas.bar(width: 4, fraction: share ?? 0), x: bar, y: y, style: isSlow ? .warning : .accent)
    canvas.write(text, x: bar + 5, y: y, style: isSlow ? .warning : .plain, limit: row.right - bar - 5)
  }
}
