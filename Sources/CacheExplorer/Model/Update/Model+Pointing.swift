package import ExplorerState
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
    case (.palette, .wheelUp): palette.move(by: -Self.notch, rows: paletteRows)
    case (.palette, .wheelDown): palette.move(by: Self.notch, rows: paletteRows)
    case (.normal, .wheelUp): turnWheel(by: -Self.notch, at: mouse.at, layout)
    case (.normal, .wheelDown): turnWheel(by: Self.notch, at: mouse.at, layout)
    case (.normal, .press): return click(mouse, layout)
    // What is typed or asked is for the keyboard: a slip of the hand must answer no question.
    case (.command, _), (.filter, _), (.confirming, _), (.helpSearch, _), (.help, .press), (.explaining, .press),
      (.palette, .press):
      break
    }
    return []
  }

  private mutating func turnWheel(by distance: Int, at place: Point, _ layout: Layout) {
    if inspection != nil, InspectorPanel.place(self, layout).contains(place) {
      return moveInspection(by: distance.signum())
    }
    guard let panel = layout.panels.first(where: { $0.value.contains(place) })?.key else { return }
    panel.panel.move(&self, by: distance)
  }

  private mutating func click(_ mouse: InputEvent.Mouse, _ layout: Layout) -> [Effect] {
    if let bar = layout.keyBar, bar.contains(mouse.at) {
      return KeyBar.action(at: mouse.at.x, self, in: bar).map { act($0) } ?? []
    }
    if Header.helpPlace(self, shown, in: layout.header)?.contains(mouse.at) == true { return act(.help) }
    if inspection != nil {
      let place = InspectorPanel.place(self, layout)
      if place.contains(mouse.at) {
        guard choose(inspectedLine: mouse.at.y - place.y - 1, in: place) else { return [] }
        return mouse.clicks == 2 ? inspect() : []
      }
      // What lies under it is hidden where it covers panels.
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
    if mouse.at.y == rect.y, layout.tabs.count > 1, layout.tabs.contains(panel) {
      focus = PanelFrame.tab(at: mouse.at.x - rect.x, shown: panel, of: layout.tabs, in: shown.inFlightCount) ?? panel
      return []
    }
    focus = panel
    guard panel.panel.choose(&self, row: mouse.at.y - rect.y, in: rect) else { return [] }
    return mouse.clicks == 2 ? inspect() : []
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
