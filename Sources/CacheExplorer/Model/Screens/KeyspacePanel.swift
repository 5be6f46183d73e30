import CacheEngine
package import ExplorerText

extension Page {
  package static let keyspace = Page(
    "Keyspace", key: "K", does: "Keyspace: the keys of a Redis server by prefix",
    panels: [KeyspacePanel.self, ServerPanel.self])
}

/// What the screen of a Redis server remembers.
package struct KeyspaceList: Sendable {
  /// `nil` where no server is looked at.
  package var sheet: KeyspaceSheet?
  package var place = ListPlace()

  static let columns = ["BYTES", "KEYS", "LARGEST", "TTL", "READS", "WRITES", "PREFIX"]

  /// What was heard of a prefix, if somebody listened.
  func traffic(of prefix: KeyspaceSheet.Prefix) -> MonitoredTraffic.Prefix? {
    sheet?.traffic?.prefixes.first { $0.name == prefix.name }
  }

  /// The rows that are looked for, in their order.
  var rows: [KeyspaceSheet.Prefix] {
    let found = (sheet?.sample.prefixes ?? []).filter { place.search.matches($0.name) }
    let counts = Dictionary(
      (sheet?.traffic?.prefixes ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    func weight(_ prefix: KeyspaceSheet.Prefix) -> Int64 {
      switch place.column {
      case 0: Int64(prefix.bytes)
      case 1: Int64(prefix.keys)
      case 2: Int64(prefix.largestBytes)
      // What goes first stands first.
      case 3: prefix.medianLeft.map { -$0.clampedNanoseconds } ?? .min
      case 4: Int64(counts[prefix.name]?.reads ?? 0)
      case 5: Int64(counts[prefix.name]?.writes ?? 0)
      default: 0
      }
    }
    let sorted = found.map { (weight($0), $0) }.sorted { ($1.0, $0.1.name) < ($0.0, $1.1.name) }.map(\.1)
    return place.isReversed ? sorted.reversed() : sorted
  }
}

/// The keys of a Redis server by their prefixes.
package enum KeyspacePanel: Panel {
  package static let initial = KeyspaceList()
  package static let fixedRows = 3

  package static func whyNot(_ model: Model) -> String? {
    model[Self.self].sheet == nil
      ? "no Redis server is looked at; begin with cache-explorer attach redis://localhost" : nil
  }

  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? {
    guard model.page == .keyspace else { return nil }
    switch action {
    case EntriesPanel.sort: model[Self.self].place.nextColumn(of: KeyspaceList.columns.count)
    case EntriesPanel.reverseSort: model[Self.self].place.isReversed.toggle()
    default: return nil
    }
    return []
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    switch message {
    // A picture that stands still keeps its rows.
    case .keyspace(let sheet) where model.frozen == nil || model[Self.self].sheet == nil:
      model[Self.self].sheet = sheet
    default: break
    }
    return []
  }

  private static func names(_ model: Model) -> [String] { model[Self.self].rows.map(\.name) }

  package static func move(_ model: inout Model, by distance: Int) {
    let names = names(model)
    model[Self.self].place.move(by: distance, in: names)
  }

  package static func keepVisible(_ model: inout Model, rows: Int) {
    guard model.page == .keyspace else { return }
    let names = names(model)
    model[Self.self].place.keepVisible(rows: rows, in: names)
  }

  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool {
    let (names, place) = (names(model), model[Self.self].place.top + row - 2)
    guard row >= 2, row < rect.height - 1, names.indices.contains(place) else { return false }
    model[Self.self].place.chosen = names[place]
    return true
  }

  /// Shows the keys of the prefix.
  package static func inspect(_ model: inout Model) -> [Effect] {
    let (rows, place) = (model[Self.self].rows, model[Self.self].place)
    guard !rows.isEmpty else {
      model.refuse("no keys were found")
      return []
    }
    let name = rows[place.cursor(in: rows.map(\.name))].name
    model.page = .entries
    model.focus = .entries
    EntriesPanel.search(
      &model, for: name == KeyspaceSheet.noPrefix || name == KeyspaceSheet.others ? "" : name)
    return []
  }

  package static var prompt: DisplayText { " filter the prefixes /" }
  package static func search(_ model: Model) -> String { model[Self.self].place.search.text }
  package static func search(_ model: inout Model, for text: String) {
    model[Self.self].place.search = TextSearch(text)
  }

  package static func key(_ model: Model) -> String? { nil }

  package static func rows(_ model: Model) -> RowTable? {
    let list = model[Self.self]
    let rows = list.rows.map { prefix -> [JSONText?] in
      let counts = list.traffic(of: prefix)
      return [
        .text(shown(prefix.name, model)), .number(prefix.keys), .number(prefix.bytes), .number(prefix.largestBytes),
        .number(prefix.unlimited), prefix.medianLeft.map { .number(Int($0.clampedNanoseconds / 1_000_000)) },
        counts.map { .number($0.reads) }, counts.map { .number($0.writes) },
      ]
    }
    return RowTable(
      ["prefix", "keys", "bytes", "largestBytes", "unlimited", "medianTimeLeftMilliseconds", "reads", "writes"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    let rows = model[Self.self].rows
    let row = rows.isEmpty ? nil : rows[model[Self.self].place.cursor(in: rows.map(\.name))]
    return FigureTable(
      "Keyspace",
      [
        Figure(
          name: "KEYS", value: row.map { Format.count($0.keys) } ?? Format.none,
          definition: "keys that begin so, among those that were looked at", unit: "keys", window: "the last look",
          source: "SCAN"),
        Figure(
          name: "BYTES, LARGEST",
          value: row.map { "\(Format.bytes($0.bytes)), \(Format.bytes($0.largestBytes))" } ?? "",
          definition: "what these keys take with their values, and the largest of them", unit: "bytes",
          window: "the last look", source: "MEMORY USAGE"),
        Figure(
          name: "TTL", value: row.flatMap(\.medianLeft).map { FigureTable.span($0) } ?? "no expiry",
          definition: "within which time half of those expire that do; ∞ and how many never do", unit: "time",
          window: "the last look", source: "PTTL"),
        Figure(
          name: "READS, WRITES", definition: "commands that read or change these keys", unit: "commands",
          window: "while “monitor” listened", source: "MONITOR"),
      ])
  }

  static func shown(_ prefix: String, _ model: Model) -> String {
    prefix == KeyspaceSheet.noPrefix || prefix == KeyspaceSheet.others ? prefix : model.shown(prefix)
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let list = model[Self.self]
    let listed = list.rows
    let rows = max(0, rect.height - 3)
    let last = min(listed.count, list.place.top + rows)
    var title: DisplayText = "Keyspace"
    title += listed.isEmpty ? " 0" : " \(list.place.top + 1)–\(last) of \(Format.count(listed.count))"
    if !list.place.search.isEmpty { title += " · /" + DisplayText(list.place.search.text).clipped(to: 20) }
    let sort = "sort \(KeyspaceList.columns[list.place.column])\(list.place.isReversed ? "▲" : "▼")"
    canvas.box(rect, title: title, right: DisplayText(sort), isFocused: frame.isFocused)
    guard rows > 0, rect.width >= 24 else { return }
    let columns = Columns(width: rect.width - 2, hasTraffic: list.sheet?.traffic != nil)
    canvas.write(columns.titles, x: rect.x + 1, y: rect.y + 1, style: .faint, limit: rect.width - 2)
    guard !listed.isEmpty else {
      let text: DisplayText =
        list.place.search.isEmpty ? "the database has no keys" : "no prefix matches; Esc clears the filter"
      return _ = canvas.write(text, x: rect.x + 2, y: rect.y + 2, style: .faint, limit: rect.width - 3)
    }
    let cursor = list.place.cursor(in: listed.map(\.name))
    for place in list.place.top..<max(list.place.top, last) {
      let (prefix, isChosen) = (listed[place], place == cursor)
      let name = DisplayText(shown(prefix.name, model))
      canvas.write(
        [
          Span(isChosen ? "▸" : " ", .accent),
          Span(name.shortened(to: columns.name - 1).padded(to: columns.name), isChosen ? .key : .plain),
          Span(columns.text(prefix, list.traffic(of: prefix))),
        ], x: rect.x + 1, y: rect.y + 2 + place - list.place.top, limit: rect.width - 2)
    }
  }

  /// What has no room goes, the largest first.
  private struct Columns {
    var name: Int
    let hasLargest: Bool
    let hasTraffic: Bool

    init(width: Int, hasTraffic: Bool) {
      // Marker 1, keys 8, bytes 9, ttl 14, reads and writes 14, largest 9.
      self.hasTraffic = hasTraffic && width >= 58
      hasLargest = width - (self.hasTraffic ? 14 : 0) >= 56
      name = max(6, width - 1 - 31 - (self.hasTraffic ? 14 : 0) - (hasLargest ? 9 : 0))
    }

    var titles: DisplayText {
      var text = " " + DisplayText("PREFIX").padded(to: name)
      text += DisplayText("KEYS").rightAligned(to: 8) + DisplayText("BYTES").rightAligned(to: 9)
      if hasLargest { text += DisplayText("LARGEST").rightAligned(to: 9) }
      text += DisplayText("TTL").rightAligned(to: 14)
      if hasTraffic { text += DisplayText("READS").rightAligned(to: 7) + DisplayText("WRITES").rightAligned(to: 7) }
      return text
    }

    func text(_ prefix: KeyspaceSheet.Prefix, _ counts: MonitoredTraffic.Prefix?) -> DisplayText {
      var text = DisplayText(Format.short(prefix.keys)).rightAligned(to: 8)
      text += DisplayText(Format.bytes(prefix.bytes)).rightAligned(to: 9)
      if hasLargest { text += DisplayText(Format.bytes(prefix.largestBytes)).rightAligned(to: 9) }
      let left = prefix.medianLeft.map { Format.span(seconds: $0.components.seconds) }
      let unlimited = prefix.unlimited > 0 ? "∞ \(Format.short(prefix.unlimited))" : nil
      text += DisplayText([left, unlimited].compactMap(\.self).joined(separator: " · ")).rightAligned(to: 14)
      if hasTraffic {
        text += DisplayText(Format.short(counts?.reads ?? 0)).rightAligned(to: 7)
        text += DisplayText(Format.short(counts?.writes ?? 0)).rightAligned(to: 7)
      }
      return text
    }
  }
}
