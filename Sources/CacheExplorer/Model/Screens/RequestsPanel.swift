package import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let requests = Page("Requests", key: "3", panels: [RequestsPanel.self])
}

extension PanelID {
  package static let requests = PanelID(RequestsPanel.self)
}

extension Model {
  package var requestList: RequestList {
    get { self[RequestsPanel.self] }
    _modify { yield &self[RequestsPanel.self] }
  }
}

/// The last requests: those under way first, then the newest.
package enum RequestsPanel: Panel {
  package static let initial = RequestList()
  package static let fixedRows = 3

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    case .tick, .events, .replaced, .attachedAgain: refresh(&model)
    default: break
    }
    return []
  }

  /// Lists what is known now; not while nobody sees it.
  package static func refresh(_ model: inout Model) {
    guard model.page == .requests else { return }
    model.requestList.refresh(model.shown.calls)
  }

  package static func move(_ model: inout Model, by distance: Int) { model.requestList.move(by: distance) }
  package static func keepVisible(_ model: inout Model, rows: Int) { model.requestList.keepVisible(rows: rows) }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let place = model.requestList.top + row - 2
    guard row >= 2, row < rect.height - 1, model.requestList.ids.indices.contains(place) else { return false }
    model.requestList.move(to: place)
    return true
  }

  /// Leaves the second that was chosen in a history.
  package static func back(_ model: inout Model) -> Bool {
    guard model.focus == .requests, model.requestList.moment != nil else { return false }
    model.requestList.moment = nil
    refresh(&model)
    return true
  }

  package static func request(_ model: Model) -> RequestID? { model.requestList.current }

  package static var prompt: DisplayText { " filter the requests /" }
  package static func search(_ model: Model) -> String { model.requestList.search.text }
  package static func search(_ model: inout Model, for text: String) {
    model.requestList.search = TextSearch(text)
    refresh(&model)
  }

  package static func rows(_ model: Model) -> RowTable? {
    let rows = model.requestList.ids.compactMap { model.shown.calls[$0] }.map { call -> [JSONText?] in
      [
        .text(call.id.description), .text(Format.clock(milliseconds: model.timeOfDay(call.began))),
        .text(call.operation.rawValue), call.key.map { .text(model.told($0)) }, .text(call.outcomeText),
        call.duration.map { .microseconds(nanoseconds: $0.clampedNanoseconds) }, .number(call.callers),
      ]
    }
    return RowTable(["request", "began", "operation", "key", "outcome", "microseconds", "callers"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    let reads = model.shown.requests.count
    let writes = reads.writes
    return FigureTable(
      "Requests",
      [
        Figure(
          name: "requests", value: Format.count(reads.requests + writes.requests),
          definition: "calls to the whole cache: served + joined + missed + written + failed + cancelled + under way",
          unit: "calls", window: FigureTable.session, source: "the engine's counts"),
        Figure(
          name: "served", value: Format.count(reads.answered),
          definition: "reads that a level or an operator answered; the sum of all “served by”", unit: "reads",
          window: FigureTable.session, source: "the engine's counts served"),
        Figure(
          name: "joined", value: Format.count(reads.joined),
          definition: "reads answered by a load that another caller had begun", unit: "reads",
          window: FigureTable.session,
          source: "the engine's count joined"),
        Figure(
          name: "TOOK", definition: "from the call to its answer; … is still under way", unit: "time",
          window: "the request",
          source: "end of the request"),
        Figure(
          name: "lost", value: Format.count(model.shown.lost),
          definition:
            "events that never came to the screen: requests, entries and reads in flight are a part then, the figures are whole",
          unit: "events",
          window: FigureTable.session, source: "the ring between engine and screen"),
      ])
  }

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {
    let rect = frame.rect
    let list = model.requestList
    let rows = max(0, rect.height - 3)
    let last = min(list.ids.count, list.top + rows)
    var title: DisplayText = "Requests"
    title += list.ids.isEmpty ? " 0" : " \(list.top + 1)–\(last) of the last \(Format.count(list.ids.count))"
    if let moment = list.moment, picture.levels.indices.contains(moment.level) {
      title +=
        " · " + DisplayText(picture.levels[moment.level].name.uppercased())
        + " at \(model.time(ofSecond: moment.second))"
    }
    if !list.search.isEmpty { title += " · /" + DisplayText(list.search.text).clipped(to: 20) }
    let right = summary(picture, room: rect.width - title.width - 8)
    canvas.box(rect, title: title, right: right, isFocused: frame.isFocused)
    guard rows > 0, rect.width >= 30 else { return }
    let columns = Columns(width: rect.width - 2)
    drawTitles(columns, in: rect, on: &canvas)
    guard !list.ids.isEmpty else {
      let text =
        list.moment != nil
        ? "no request was there then; Esc shows all"
        : list.search.isEmpty
          ? "no request yet" + model.hint(":get KEY reads, :run WORKLOAD reads a lot")
          : "no request matches; Esc clears the filter"
      canvas.write(DisplayText(text), x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
      return
    }
    for place in list.top..<max(list.top, last) {
      guard let record = picture.calls[list.ids[place]] else { continue }
      draw(
        record, model, picture, columns, isChosen: place == list.cursor, in: rect.inner.row(1 + place - list.top),
        on: &canvas)
    }
  }

  /// All requests by what became of them: the parts add up to the whole.
  private static func summary(_ picture: Picture, room: Int) -> DisplayText {
    let reads = picture.figures
    let writes = reads.writes
    let items: [(String, Int)] = [
      ("served", reads.answered), ("joined", reads.joined),
      ("missed", reads.missed), ("written", writes.done), ("failed", reads.failed + writes.failed),
      ("under way", reads.pending + writes.pending), ("lost", picture.lost),
    ]
    let head = DisplayText(Format.counted(reads.requests + writes.requests, "request"))
    guard head.width <= room else { return "" }
    let parts = items.filter { $0.1 > 0 || $0.0 == "lost" }
    for count in (1...parts.count).reversed() {
      // Figures that do not add up say that some have no room.
      let rest = parts[count...].contains { $0.1 > 0 } ? " …" : ""
      let figures = parts[..<count].map { "\($0.0) \(Format.count($0.1))" }.joined(separator: " ")
      let text = head + DisplayText(": \(figures)\(rest)")
      if text.width <= room { return text }
    }
    return head
  }

  private struct Columns {
    var key: Int
    var outcome: Int
    var hasTime: Bool
    var hasOperation: Bool

    init(width: Int) {
      hasTime = width >= 76
      hasOperation = width >= 56
      // Marker 1, number 9, time 13, operation 7, latency 8.
      let left = width - 2 - 9 - (hasTime ? 13 : 0) - (hasOperation ? 7 : 0) - 8
      outcome = max(8, min(44, left * 2 / 5))
      key = max(4, left - outcome - 1)
    }
  }

  private static func drawTitles(_ columns: Columns, in rect: Rect, on canvas: inout Canvas) {
    var text: DisplayText = " " + DisplayText("REQUEST").padded(to: 9)
    if columns.hasTime { text += DisplayText("BEGAN").padded(to: 13) }
    if columns.hasOperation { text += DisplayText("WHAT").padded(to: 7) }
    text += DisplayText("KEY").padded(to: columns.key) + " "
    text += DisplayText("OUTCOME").padded(to: columns.outcome) + DisplayText("TOOK").rightAligned(to: 8)
    canvas.write(text, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
  }

  private static func draw(
    _ record: RequestRecord, _ model: Model, _ picture: Picture, _ columns: Columns, isChosen: Bool, in row: Rect,
    on canvas: inout Canvas
  ) {
    let y = row.y
    var x = canvas.write(isChosen ? "▸" : " ", x: row.x, y: y, style: .accent)
    x = canvas.write(DisplayText(record.id.description).padded(to: 9), x: x, y: y, style: .faint)
    if columns.hasTime {
      let time = Format.clock(milliseconds: model.timeOfDay(record.began))
      x = canvas.write(DisplayText(time).padded(to: 13), x: x, y: y, style: .faint)
    }
    if columns.hasOperation { x = canvas.write(DisplayText(record.operation.rawValue).padded(to: 7), x: x, y: y) }
    let key = DisplayText(record.key.map { model.shown($0) } ?? "—").shortened(to: columns.key).padded(to: columns.key)
    x = canvas.write(key + " ", x: x, y: y, style: isChosen ? .key : .plain)
    var outcome = DisplayText(record.outcomeText)
    if record.callers > 1 { outcome += " ×\(record.callers)" }
    x = canvas.write(
      outcome.clipped(to: columns.outcome - 1).padded(to: columns.outcome), x: x, y: y, style: record.style
    )
    let took = record.duration ?? record.began.duration(to: picture.now)
    let time = Format.latency(nanoseconds: took.clampedNanoseconds) + (record.isUnderWay ? "…" : "")
    canvas.write(DisplayText(record.isLost ? Format.none : time).rightAligned(to: 8), x: x, y: y)
  }
}

extension RequestRecord {
  /// The colour of its outcome.
  var style: Style {
    switch outcome {
    case nil: .accent
    case .hit: leader == nil ? .hit : .join
    case .miss: .miss
    case .done: .plain
    case .failed: .error
    case .cancelled: .warning
    }
  }
}
