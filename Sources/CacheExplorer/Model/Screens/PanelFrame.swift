import ExplorerText

/// Where a panel is, and how its frame looks.
package struct PanelFrame {
  var rect: Rect
  var isFocused: Bool
  /// The panels that share this place, whose names are the title; empty if it is one panel's alone.
  var tabs: [PanelID]

  /// The title, or the tabs with the shown one in brackets.
  func title(_ text: DisplayText, as panel: PanelID) -> DisplayText {
    guard tabs.count > 1 else { return text }
    return tabs.reduce(DisplayText()) { title, other in
      let name = DisplayText(Self.name(other))
      return title + (title.width > 0 ? " " : "")
        + (other == panel ? "[" + (other == .inFlight ? text : name) + "]" : name)
    }
  }

  private static func name(_ panel: PanelID) -> String { PanelArrangement.Name(panel)?.title ?? "" }

  /// The panels that a click on the title's cells chooses, from its left.
  static func tab(at column: Int, shown: PanelID, of tabs: [PanelID], in flights: Int) -> PanelID? {
    var start = 2
    for panel in tabs {
      let count = panel == .inFlight && panel == shown ? " \(flights)".count : 0
      let width = name(panel).count + count + (panel == shown ? 2 : 0)
      if (start..<start + width).contains(column) { return panel }
      start += width + 1
    }
    return nil
  }
}
