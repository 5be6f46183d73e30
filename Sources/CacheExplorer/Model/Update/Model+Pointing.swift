import CacheEngine
import ExplorerText

/// What the mouse does: a click chooses, a double click is Enter, the wheel scrolls what is under it.
extension Model {
  /// Rows for one notch of the wheel.
  private static let notch = 3

  package mutating func point(_ mouse: InputEvent.Mouse) -> [Effect] {
    if mouse.kind == .press, ignoresClick {
      ignoresClick = false
      return []
    }
    let layout = Layout(self)
    guard isMouseOn, !layout.isTooSmall else { return [] }
    switch (mode, mouse.kind) {
    case (.help, .wheelUp), (.explaining, .wheelUp): helpTop = max(0, helpTop - Self.notch)
    case (.help, .wheelDown), (.explaining, .wheelDown): helpTop = min(HelpOverlay.lastTop(self), helpTop + Self.notch)
    case (.normal, .wheelUp): turnWheel(by: -Self.notch, at: mouse.at, layout)
    case (.normal, .wheelDown): turnWheel(by: Self.notch, at: mouse.at, layout)
    case (.normal, .press): return click(mouse, layout)
    // What is typed or asked is for the keyboard: a slip of the hand must answer no question.
    case (.command, _), (.filter, _), (.confirming, _), (.helpSearch, _), (.help, .press), (.explaining, .press): break
    }
    return []
  }

  private mutating func turnWheel(by distance: Int, at place: Point, _ layout: Layout) {
    if inspection != nil, InspectorPanel.place(self, layout).contains(place) {
      return moveInspection(by: distance.signum())
    }
    guard let panel = layout.panels.first(where: { $0.value.contains(place) })?.key else { return }
    move(panel, by: distance)
  }

  private mutating func click(_ mouse: InputEvent.Mouse, _ layout: Layout) -> [Effect] {
    if let bar = layout.keyBar, bar.contains(mouse.at) {
      return KeyBar.action(at: mouse.at.x, self, in: bar).map { act($0) } ?? []
    }
    if inspection != nil {
      let place = InspectorPanel.place(self, layout)
      if place.contains(mouse.at) {
        guard choose(inspectedLine: mouse.at.y - place.y - 1, in: place) else { return [] }
        return mouse.clicks == 2 ? inspect() : []
      }
      // What lies under it is hidden where it covers the panels.
      guard layout.isDocked else { return [] }
      inspection = nil
    }
    if let level = LevelMap(self).places.first(where: { $0.frame.contains(mouse.at) }) {
      focus = .levels
      history.level = level.level
      if let columns = level.history, columns.contains(mouse.at) {
        history.choose(column: mouse.at.x - columns.x, at: shown.now, columns: columns.width)
      }
      return mouse.clicks == 2 ? inspect() : []
    }
    guard let (panel, rect) = layout.panels.first(where: { $0.value.contains(mouse.at) }) else { return [] }
    if mouse.at.y == rect.y, layout.hasTabs, panel != .entries {
      focus = PanelFrame.tab(at: mouse.at.x - rect.x, shown: panel, in: shown.inFlightCount) ?? panel
      return []
    }
    focus = panel
    guard choose(row: mouse.at.y - rect.y, of: panel, layout) else { return [] }
    return mouse.clicks == 2 ? inspect() : []
  }

  /// Moves the cursor of a panel to a row, counted from its upper edge; whether there is one to choose.
  private mutating func choose(row: Int, of panel: Panel, _ layout: Layout) -> Bool {
    switch panel {
    case .entries:
      let place = list.top + row - 2
      guard row >= 2, row < 2 + layout.rows(panel), list.order.indices.contains(place) else { return false }
      list.move(to: place, in: shown)
    case .requests:
      let place = requestList.top + row - 2
      guard row >= 2, row < 2 + layout.rows(panel), requestList.ids.indices.contains(place) else { return false }
      requestList.move(to: place)
    case .inFlight:
      guard row >= 2, inFlightTop + row - 2 < shown.inFlightCount else { return false }
      moveInFlight(to: inFlightTop + row - 2)
    case .log:
      guard let rect = layout.panels[.log], let number = LogPanel.line(at: row - 1, self, shown, in: rect) else {
        return false
      }
      log.choose(number, in: shown.log, rows: max(1, layout.rows(.log)))
    case .models:
      let top = min(
        max(0, models.cursor - layout.rows(.models) / 2), max(0, models.order.count - layout.rows(.models)))
      let place = top + row - 2
      guard row >= 2, models.order.indices.contains(place) else { return false }
      models.move(by: place - models.cursor)
    case .latency: return row > 0
    case .config, .relations, .levels, .whatIf: return false
    }
    return true
  }

  /// Chooses a line that leads somewhere; whether this one does.
  private mutating func choose(inspectedLine row: Int, in place: Rect) -> Bool {
    guard case .request(let id)? = inspection?.subject, let record = shown.calls[id], row >= 0 else { return false }
    let text = RequestText(record, self, width: place.width)
    let line = InspectorPanel.top(of: text, choice: inspection?.choice ?? 0, rows: place.height - 2) + row
    guard text.lines.indices.contains(line), text.lines[line].target != nil else { return false }
    inspection?.choice = text.lines[..<line].count { $0.target != nil }
    return true
  }
}
