import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let http = Page(
    "HTTP", key: "9", does: "HTTP: what clients asked the proxy", panels: [ServedPanel.self, ServedAnswerPanel.self])
}

extension PanelID {
  package static let served = PanelID(ServedPanel.self)
}

/// What clients asked the proxy, the newest first, and where one looks in that.
package struct ServedList: Sendable {
  static let capacity = 1_000

  /// The oldest first.
  private(set) var exchanges: [ServedExchange] = []
  private(set) var counts: ServedCounts?
  /// How many requests are not listed because they came too fast.
  private(set) var lost = 0
  /// What came while the picture stood still.
  private var held: (exchanges: [ServedExchange], counts: ServedCounts, lost: Int)?
  fileprivate(set) var cursor = 0
  fileprivate(set) var top = 0
  fileprivate(set) var search = TextSearch("")
  /// What was chosen, which stays so when others come.
  private var chosen: Int?
  /// What is stored for the address that was asked for last.
  fileprivate(set) var variants: (key: String, variants: [ServedVariant])?

  /// What tells another model as much; `nil` if there is no proxy.
  package var message: Message? {
    var known = self
    known.release()
    return known.counts.map { .served(known.exchanges, $0, lost: known.lost) }
  }

  /// What is listed, the newest first.
  var listed: [ServedExchange] {
    exchanges.reversed().filter {
      search.isEmpty
        || search.matches("\($0.method) \($0.path) \($0.status) \($0.outcome.rawValue) \($0.cacheStatus ?? "")")
    }
  }

  var current: ServedExchange? {
    let listed = listed
    return listed.indices.contains(cursor) ? listed[cursor] : nil
  }

  mutating func hold(_ new: [ServedExchange], _ counts: ServedCounts, lost: Int) {
    let exchanges = Array(((held?.exchanges ?? []) + new).suffix(Self.capacity))
    held = (exchanges, counts, (held?.lost ?? 0) + lost)
  }

  /// Lists what came; `false` if nothing did.
  @discardableResult
  mutating func release() -> Bool {
    guard let held else { return false }
    self.held = nil
    exchanges = Array((exchanges + held.exchanges).suffix(Self.capacity))
    counts = held.counts
    lost += held.lost
    // The first row stays the newest; another one stays what it is.
    if cursor > 0, let chosen { cursor = listed.firstIndex { $0.number == chosen } ?? max(0, listed.count - 1) }
    note()
    return true
  }

  mutating func move(to place: Int) {
    cursor = min(max(0, place), max(0, listed.count - 1))
    note()
  }

  mutating func look(for text: String) {
    search = TextSearch(text)
    move(to: 0)
  }

  mutating func keepVisible(rows: Int) {
    guard rows > 0 else { return }
    top = min(max(top, cursor - rows + 1), cursor)
    top = max(0, min(top, listed.count - rows))
  }

  private mutating func note() { chosen = current?.number }
}

extension Model {
  /// What to do where nothing has come yet; no commands where they are refused.
  func hint(_ commands: String) -> String {
    if ServedPanel.whyNot(self) == nil { return "   what clients ask for comes here" }
    return whyReadOnly == nil ? "   \(commands)" : ""
  }

  /// A path as it may be shown.
  func shown(_ exchange: ServedExchange) -> String {
    isMasked ? mask.name(of: exchange.key ?? exchange.path) : exchange.path
  }
}

/// The requests of clients: what they asked, how the cache dealt with it, and why it asked the server.
package enum ServedPanel: Panel {
  package static let initial = ServedList()
  package static let fixedRows = 3

  package static func whyNot(_ model: Model) -> String? {
    model[Self.self].counts == nil ? "no proxy stands before this cache; begin one with cache-explorer serve" : nil
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    case .served(let exchanges, let counts, let lost): model[Self.self].hold(exchanges, counts, lost: lost)
    case .variants(let key, let variants): model[Self.self].variants = (key, variants)
    default: break
    }
    // A picture that stands still keeps its rows.
    guard !model.isFrozen || model[Self.self].counts == nil, model[Self.self].release() else { return [] }
    return asked(model, isNew: true)
  }

  /// Asks what is stored for the chosen address, if somebody looks and it is not known.
  static func asked(_ model: Model, isNew: Bool) -> [Effect] {
    guard model.page == .http, let key = model[Self.self].current?.key else { return [] }
    return isNew || model[Self.self].variants?.key != key ? [.readVariants(key: key)] : []
  }

  package static func move(_ model: inout Model, by distance: Int) {
    model[Self.self].move(to: model[Self.self].cursor + max(-1_000_000, min(distance, 1_000_000)))
  }

  package static func keepVisible(_ model: inout Model, rows: Int) { model[Self.self].keepVisible(rows: rows) }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let place = model[Self.self].top + row - 2
    guard row >= 2, row < rect.height - 1, model[Self.self].listed.indices.contains(place) else { return false }
    model[Self.self].move(to: place)
    return true
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    guard model[Self.self].current != nil else {
      model.refuse(nothing(model[Self.self]))
      return []
    }
    model.focus = PanelID(ServedAnswerPanel.self)
    return asked(model, isNew: true)
  }

  package static func key(_ model: Model) -> String? { model[Self.self].current?.key }

  /// Why no request is listed.
  static func nothing(_ list: ServedList) -> String {
    list.search.isEmpty ? "no client has asked anything yet" : "no request matches; Esc clears the filter"
  }

  package static var prompt: DisplayText { " filter the requests /" }
  package static func search(_ model: Model) -> String { model[Self.self].search.text }
  package static func search(_ model: inout Model, for text: String) { model[Self.self].look(for: text) }

  package static func rows(_ model: Model) -> RowTable? {
    let rows = model[Self.self].listed.map { exchange -> [JSONText?] in
      [
        .number(exchange.number), .text(Format.clock(milliseconds: model.timeOfDay(sinceEpoch: exchange.time))),
        .text(exchange.method), .text(model.shown(exchange)), .number(exchange.status),
        .text(exchange.outcome.rawValue),
        exchange.reason.map { .text($0) }, exchange.detail.map { .text($0) }, exchange.age.map { .number($0) },
        exchange.left.map { .number($0) }, .number(exchange.bytes),
        .microseconds(nanoseconds: exchange.duration.clampedNanoseconds),
      ]
    }
    return RowTable(
      [
        "request", "time", "method", "path", "status", "outcome", "reason", "detail", "age", "ttl", "bytes",
        "microseconds",
      ], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    let counts = model[Self.self].counts ?? ServedCounts()
    return FigureTable(
      "HTTP",
      [
        Figure(
          name: "without the server", value: FigureTable.percent(counts.hits, counts.answered),
          definition: "requests answered without asking the server ÷ requests that cache or server answered",
          unit: "percent of requests", window: FigureTable.session,
          source: "the proxy's counts; expect calls it http.hit"),
        Figure(
          name: "validated", value: Format.count(counts.validated),
          definition: "requests for which the server said that what is stored is still right (304)", unit: "requests",
          window: FigureTable.session, source: "the proxy's counts"),
        Figure(
          name: "collapsed", value: Format.count(counts.collapsed),
          definition: "requests that took part in the request of another client", unit: "requests",
          window: FigureTable.session, source: "the proxy's counts"),
        Figure(
          name: "saved", value: Format.bytes(counts.savedBytes),
          definition: "content sent to clients that the server did not have to send", unit: "bytes",
          window: FigureTable.session, source: "the proxy's counts"),
        Figure(
          name: "AGE", definition: "how long ago the server made the answer, as its field Age told the client",
          unit: "seconds", window: "the request", source: "RFC 9111, section 4.2.3"),
        Figure(
          name: "LEFT", definition: "how much longer it was fresh when it went out; below zero it was stale",
          unit: "seconds", window: "the request", source: "ttl of Cache-Status (RFC 9211)"),
      ])
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let list = model[Self.self]
    let listed = list.listed
    let rows = max(0, rect.height - 3)
    let last = min(listed.count, list.top + rows)
    var title: DisplayText = "HTTP"
    title += listed.isEmpty ? " 0" : " \(list.top + 1)–\(last) of the last \(Format.count(listed.count))"
    if !list.search.isEmpty { title += " · /" + DisplayText(list.search.text).clipped(to: 20) }
    canvas.box(
      rect, title: title, right: summary(list, room: rect.width - title.width - 8), isFocused: frame.isFocused)
    guard rows > 0, rect.width >= 24 else { return }
    let shown = listed.dropFirst(list.top).prefix(rows)
    let columns = Columns(
      width: rect.width - 2, path: shown.reduce(0) { max($0, DisplayText(model.shown($1)).width) },
      why: shown.reduce(0) { max($0, DisplayText($1.why).width) })
    canvas.write(columns.titles, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
    guard !listed.isEmpty else {
      canvas.write(DisplayText(nothing(list)), x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
      return
    }
    for place in list.top..<max(list.top, last) {
      draw(
        listed[place], model, columns, isChosen: place == list.cursor, in: rect, y: rect.y + 2 + place - list.top,
        on: &canvas)
    }
  }

  private static func summary(_ list: ServedList, room: Int) -> DisplayText {
    guard let counts = list.counts else { return "" }
    var text: DisplayText = ""
    let parts =
      ["without the server \(FigureTable.percent(counts.hits, counts.answered)) of \(Format.count(counts.answered))"]
      + (list.lost > 0 ? ["not listed \(Format.count(list.lost))"] : [])
      + (counts.validated > 0 ? ["validated \(Format.count(counts.validated))"] : [])
      + ["saved \(Format.bytes(counts.savedBytes))"]
      + (counts.collapsed > 0 ? ["collapsed \(Format.count(counts.collapsed))"] : [])
      + (counts.refused > 0 ? ["refused \(Format.count(counts.refused))"] : [])
    for part in parts {
      let next = (text.width == 0 ? text : text + " · ") + DisplayText(part)
      guard next.width <= room else { break }
      text = next
    }
    return text
  }

  /// What has no room goes, the time first; reasons have what short paths leave them.
  private struct Columns {
    var path: Int
    var why: Int
    let hasTime: Bool
    let hasSize: Bool
    let hasTimes: Bool

    /// `path`, `why`: How wide the widest of those are that are shown.
    init(width: Int, path widestPath: Int, why widestWhy: Int) {
      hasTime = width >= 100
      hasSize = width >= 70
      hasTimes = width >= 58
      // Marker 1, method 7, status 4, outcome 10, age and left 12, size 9, took 8.
      let left = width - 1 - 7 - 4 - 10 - (hasTime ? 13 : 0) - (hasTimes ? 12 : 0) - (hasSize ? 17 : 0)
      why = left >= 34 ? max(min(24, left / 3), min(widestWhy, left - widestPath - 2) + 1) : 0
      path = max(4, left - why)
    }

    var titles: DisplayText {
      var text: DisplayText = " "
      if hasTime { text += DisplayText("TIME").padded(to: 13) }
      text += DisplayText("METHOD").padded(to: 7) + DisplayText("PATH").padded(to: path)
      text += DisplayText("ST").padded(to: 4) + DisplayText("CACHE").padded(to: 10)
      if why > 0 { text += DisplayText("WHY").padded(to: why) }
      if hasTimes { text += DisplayText("AGE").rightAligned(to: 6) + DisplayText("LEFT").rightAligned(to: 6) }
      if hasSize { text += DisplayText("SIZE").rightAligned(to: 9) + DisplayText("TOOK").rightAligned(to: 8) }
      return text
    }
  }

  private static func draw(
    _ exchange: ServedExchange, _ model: Model, _ columns: Columns, isChosen: Bool, in rect: Rect, y: Int,
    on canvas: inout Canvas
  ) {
    var x = canvas.write(isChosen ? "▸" : " ", x: rect.x + 1, y: y, style: .accent)
    func write(_ text: DisplayText, _ style: Style = .plain) { x = canvas.write(text, x: x, y: y, style: style) }
    if columns.hasTime {
      let time = Format.clock(milliseconds: model.timeOfDay(sinceEpoch: exchange.time))
      write(DisplayText(time).padded(to: 13), .faint)
    }
    write(DisplayText(exchange.method).clipped(to: 6).padded(to: 7), .faint)
    let path = DisplayText(model.shown(exchange))
    write(path.shortened(to: max(1, columns.path - 1)).padded(to: columns.path), isChosen ? .key : .plain)
    write(DisplayText(String(exchange.status)).padded(to: 4), exchange.status >= 500 ? .error : .plain)
    write(DisplayText(exchange.outcome.rawValue).clipped(to: 9).padded(to: 10), exchange.style)
    if columns.why > 0 {
      write(DisplayText(exchange.why).clipped(to: columns.why - 1).padded(to: columns.why), .faint)
    }
    if columns.hasTimes {
      write(DisplayText(exchange.age.map { Format.span(seconds: Int64($0)) } ?? "").rightAligned(to: 6))
      write(
        DisplayText(exchange.left.map { ServedAnswerPanel.span($0) } ?? "").rightAligned(to: 6),
        exchange.left ?? 0 < 0 ? .warning : .plain)
    }
    if columns.hasSize {
      write(DisplayText(Format.bytes(exchange.bytes)).rightAligned(to: 9))
      let took = Format.latency(nanoseconds: exchange.duration.clampedNanoseconds)
      write(DisplayText(exchange.isWhole ? took : "broken").rightAligned(to: 8), exchange.isWhole ? .plain : .error)
    }
  }
}
