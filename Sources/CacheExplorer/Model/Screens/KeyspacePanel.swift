import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let keyspace = Page(
    "Keyspace", key: "K", does: "Keyspace: the keys of a Redis server by prefix",
    panels: [KeyspacePanel.self, ServerPanel.self])
}

extension KeyspaceSheet.Prefix: NamedRow {}

/// What the screen of a Redis server remembers; nothing is shown where no server is looked at.
package struct KeyspaceList: PlacedList {
  package var sheet: KeyspaceSheet?
  package var place = ListPlace()

  package init() {}

  package static let columns = ["BYTES", "KEYS", "LARGEST", "TTL", "READS", "WRITES", "PREFIX"]

  /// What was heard of a prefix, if somebody listened.
  func traffic(of prefix: KeyspaceSheet.Prefix) -> MonitoredTraffic.Prefix? {
    sheet?.traffic?.prefixes.first { $0.name == prefix.name }
  }

  package var all: [KeyspaceSheet.Prefix] { sheet?.sample.prefixes ?? [] }

  package var weight: (KeyspaceSheet.Prefix) -> Int64 {
    let counts = Dictionary(
      (sheet?.traffic?.prefixes ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return switch place.column {
    case 0: { Int64($0.bytes) }
    case 1: { Int64($0.keys) }
    case 2: { Int64($0.largestBytes) }
    // What goes first stands first.
    case 3: { $0.medianLeft.map { -$0.clampedNanoseconds } ?? .min }
    case 4: { Int64(counts[$0.name]?.reads ?? 0) }
    case 5: { Int64(counts[$0.name]?.writes ?? 0) }
    default: { _ in 0 }
    }
  }
}

/// The keys of a Redis server by their prefixes.
package enum KeyspacePanel: ListPanel {
  package typealias State = KeyspaceList
  package static let page = Page.keyspace
  package static let title: DisplayText = "Keyspace"
  package static let leastWidth = 24
  package static let nothing: (there: String, found: String) = (
    "the database has no keys", "no prefix matches; Esc clears the filter"
  )

  package static func whyNot(_ model: Model) -> String? {
    model[Self.self].sheet == nil
      ? "no Redis server is shown; cache-explorer attach redis://localhost shows one" : nil
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    if case .keyspace(let sheet) = message { take(sheet, &model) }
    return []
  }

  /// Shows the keys of the prefix.
  package static func inspect(_ model: inout Model) -> [Effect] {
    guard let name = model[Self.self].current?.name else {
      model.refuse(whyEmpty(model[Self.self]))
      return []
    }
    model.page = .entries
    model.focus = .entries
    EntriesPanel.search(
      &model, for: name == KeyspaceSheet.noPrefix || name == KeyspaceSheet.others ? "" : name)
    return []
  }

  package static var prompt: DisplayText { " filter the prefixes /" }
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
    let row = model[Self.self].current
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

  package static func shown(_ prefix: String, _ model: Model) -> String {
    prefix == KeyspaceSheet.noPrefix || prefix == KeyspaceSheet.others ? prefix : model.shown(prefix)
  }

  package static func columns(_ list: KeyspaceList, _ sheet: KeyspaceSheet, width: Int) -> Columns {
    Columns(list, width: width)
  }

  /// What has no room goes, the largest first.
  package struct Columns: ListColumns {
    package let name: Int
    private let list: KeyspaceList
    private let hasLargest: Bool
    private let hasTraffic: Bool

    fileprivate init(_ list: KeyspaceList, width: Int) {
      self.list = list
      // Marker 1, keys 8, bytes 9, ttl 14, reads and writes 14, largest 9.
      hasTraffic = list.sheet?.traffic != nil && width >= 58
      hasLargest = width - (hasTraffic ? 14 : 0) >= 56
      name = max(6, width - 1 - 31 - (hasTraffic ? 14 : 0) - (hasLargest ? 9 : 0))
    }

    package var titles: DisplayText {
      var text = " " + DisplayText("PREFIX").padded(to: name)
      text += DisplayText("KEYS").rightAligned(to: 8) + DisplayText("BYTES").rightAligned(to: 9)
      if hasLargest { text += DisplayText("LARGEST").rightAligned(to: 9) }
      text += DisplayText("TTL").rightAligned(to: 14)
      if hasTraffic { text += DisplayText("READS").rightAligned(to: 7) + DisplayText("WRITES").rightAligned(to: 7) }
      return text
    }

    package func spans(_ prefix: KeyspaceSheet.Prefix) -> [Span] {
      let counts = list.traffic(of: prefix)
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
      return [Span(text)]
    }
  }
}
