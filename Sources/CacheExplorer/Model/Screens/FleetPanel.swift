import CacheEngine
package import ExplorerState
package import ExplorerText

extension Page {
  package static let fleet = Page(
    "Fleet", key: "F", does: "Fleet: several apps side by side", panels: [FleetPanel.self, FleetAppsPanel.self])
}

extension FleetSheet.Key: NamedRow {}

/// What the screen of several apps remembers; nothing is shown where no apps are looked at side by side.
package struct FleetList: PlacedList {
  package var sheet: FleetSheet?
  package var place = ListPlace()

  package init() {}

  package static let columns = ["CHANGED", "HOLDERS", "AGE", "KEY"]

  package var all: [FleetSheet.Key] { sheet?.keys ?? [] }

  package var weight: (FleetSheet.Key) -> Int64 {
    switch place.column {
    case 0: { $0.change?.at.nanoseconds ?? .min }
    case 1: { Int64($0.copies.count { $0 != nil }) }
    // The oldest copy first.
    case 2: { -($0.copies.compactMap { $0?.created.nanoseconds }.min() ?? .max) }
    default: { _ in 0 }
    }
  }
}

/// Which app holds which key, since when, and who was told of its last change.
package enum FleetPanel: ListPanel {
  package typealias State = FleetList
  package static let page = Page.fleet
  package static let title: DisplayText = "Fleet"
  package static let leastWidth = 30
  package static let nothing: (there: String, found: String) = (
    "no app holds anything yet", "no key matches; Esc clears the filter"
  )

  package static func whyNot(_ model: Model) -> String? {
    model[Self.self].sheet == nil
      ? "one cache is shown; cache-explorer attach DIRECTORY shows several" : nil
  }

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    if case .fleet(let sheet) = message { take(sheet, &model) }
    return []
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    guard model[Self.self].current != nil else {
      model.refuse(whyEmpty(model[Self.self]))
      return []
    }
    model.focus = PanelID(FleetAppsPanel.self)
    return []
  }

  package static func key(_ model: Model) -> String? { model[Self.self].current?.name }

  package static func rows(_ model: Model) -> RowTable? {
    guard let sheet = model[Self.self].sheet else { return nil }
    let rows = model[Self.self].rows.map { key -> [JSONText?] in
      let ages = key.copies.map { copy -> JSONText? in
        copy.map { .number(Int($0.created.duration(to: sheet.now).clampedNanoseconds / 1_000_000)) }
      }
      let changed = key.change.map { change -> JSONText in
        .number(Int(change.at.duration(to: sheet.now).clampedNanoseconds / 1_000_000))
      }
      return [.text(model.told(key.name))] + ages + [changed, key.change.map { .text(sheet.title($0.by)) }]
    }
    return RowTable(
      ["key"] + sheet.apps.indices.map { "\(sheet.title($0)) ageMilliseconds" }
        + ["changedMillisecondsAgo", "changedBy"], rows)
  }

  package static func figures(_ model: Model) -> FigureTable {
    FigureTable(
      "Fleet",
      [
        Figure(
          name: "a column for each app", definition: "how old the copy is that the app holds in a level of its own",
          unit: "time", window: "now", source: "the apps’ lists of their levels, and events stored and forgot"),
        Figure(
          name: "CHANGED", definition: "who changed the key last, and how long ago; ⟳ for who loaded it for all",
          unit: "time",
          window: FigureTable.session, source: "events stored and removed of shared levels"),
        Figure(
          name: "TOLD",
          definition: "how long after the change was acknowledged the last app was told; … while some were not",
          unit: "time", window: "the last change", source: "events forgot"),
      ])
  }

  package static func notes(_ sheet: FleetSheet) -> DisplayText {
    (sheet.unlisted > 0 ? " · +\(Format.count(sheet.unlisted)) not listed" : "")
      + (sheet.lost > 0 ? " · told in part" : "")
  }

  package static func columns(_ list: FleetList, _ sheet: FleetSheet, width: Int) -> Columns {
    Columns(sheet, width: width)
  }

  /// As many apps as there is room for; what else is known of the key goes before they do.
  package struct Columns: ListColumns {
    private static let leastApp = 7
    /// Most keys are not longer.
    private static let wideName = 16
    private static let changed = 15
    private static let told = 8

    package let name: Int
    private let sheet: FleetSheet
    private let apps: Int
    /// How wide the column of each app is: as its title, where there is room.
    private let app: Int
    private let hasChanged: Bool
    private let hasTold: Bool

    fileprivate init(_ sheet: FleetSheet, width: Int) {
      self.sheet = sheet
      let left = width - 1 - 12
      let room = max(1, left / Self.leastApp)
      apps = min(sheet.apps.count, room)
      let widest = sheet.apps.indices.map { Self.title($0, sheet).width + 1 }.max() ?? 0
      let spare = width - 1 - Self.wideName - Self.changed - Self.told
      app = max(Self.leastApp, min(widest, spare / max(1, apps)))
      let rest = left - apps * app
      hasChanged = rest >= Self.changed
      hasTold = rest >= Self.changed + Self.told
      name =
        width - 1 - apps * app - (hasChanged ? Self.changed : 0) - (hasTold ? Self.told : 0)
    }

    package var titles: DisplayText {
      var text = " " + DisplayText("KEY").padded(to: name)
      for app in sheet.apps.indices.prefix(apps) {
        text += Self.title(app, sheet).clipped(to: self.app - 1).rightAligned(to: self.app)
      }
      if hasChanged { text += DisplayText("CHANGED").rightAligned(to: Self.changed) }
      if hasTold { text += DisplayText("TOLD").rightAligned(to: Self.told) }
      return text
    }

    private static func title(_ app: Int, _ sheet: FleetSheet) -> DisplayText {
      DisplayText("\(app + 1) \(sheet.apps[app].name.uppercased())")
    }

    package func spans(_ key: FleetSheet.Key) -> [Span] {
      var spans = key.copies.prefix(apps).map { copy -> Span in
        guard let copy else { return Span(DisplayText("·").rightAligned(to: app), .faint) }
        let age = Format.span(seconds: copy.created.duration(to: sheet.now).components.seconds)
        let isOver = copy.deadline.map { $0 <= sheet.now } ?? false
        return Span(DisplayText(age).rightAligned(to: app), isOver ? .error : .hit)
      }
      guard hasChanged else { return spans }
      let changed = key.change.map { change in
        "\(change.by.map { "\(change.isLoad ? "⟳ " : "")\($0 + 1) " + sheet.apps[$0].name } ?? "another")"
      }
      let ago = key.change.map { Format.span(seconds: max(0, $0.at.duration(to: sheet.now).components.seconds)) } ?? ""
      let who = DisplayText(changed ?? "").clipped(to: Self.changed - 6)
      spans.append(Span(who.rightAligned(to: Self.changed - 5) + DisplayText(ago).rightAligned(to: 5), .plain))
      if hasTold { spans.append(told(key)) }
      return spans
    }

    private func told(_ key: FleetSheet.Key) -> Span {
      func span(_ text: String, _ style: Style) -> Span { Span(DisplayText(text).rightAligned(to: Self.told), style) }
      guard let change = key.change else { return span("", .plain) }
      let waiting = sheet.apps.indices.contains { sheet.isWaiting($0, for: change) }
      let slowest = sheet.apps.indices.compactMap { FleetSheet.lag(change, $0) }.max()
      if waiting { return span("…", .warning) }
      guard let slowest else { return span(Format.none, .faint) }
      return span(slowest == .zero ? "at once" : Format.latency(nanoseconds: slowest.clampedNanoseconds), .faint)
    }
  }
}

extension FleetSheet {
  /// Whether an app that listens has yet to be told of a change.
  func isWaiting(_ app: Int, for change: Change) -> Bool {
    apps[app].listens && apps[app].ended == nil && change.by != app && change.told.indices.contains(app)
      && change.told[app] == nil && !change.isLoad
  }
}
