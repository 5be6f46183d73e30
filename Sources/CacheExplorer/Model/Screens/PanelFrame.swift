import ExplorerText

/// Where a panel is, and how its frame looks.
package struct PanelFrame {
  var rect: Rect
  var isFocused: Bool
  /// The title names the panels that share this place.
  var hasTabs: Bool

  /// The title, or the tabs with the shown one in brackets.
  func title(_ text: DisplayText, as panel: PanelID) -> DisplayText {
    guard hasTabs else { return text }
    func tab(_ other: PanelID, _ name: DisplayText) -> DisplayText { other == panel ? "[" + text + "]" : name }
    return tab(.log, "Log") + " " + tab(.inFlight, "In flight") + " " + tab(.latency, "Latency")
  }

  /// The panels that a click on the title's cells chooses, from its left.
  static func tab(at column: Int, shown: PanelID, in flights: Int) -> PanelID? {
    var start = 2
    for (panel, name) in [(PanelID.log, "Log"), (.inFlight, "In flight"), (.latency, "Latency")] {
      let count = panel == .inFlight && panel == shown ? " \(flights)".count : 0
      let width = name.count + count + (panel == shown ? 2 : 0)
      if (start..<start + width).contains(column) { return panel }
      start += width + 1
    }
    return nil
  }
}
