extension Page {
  /// The levels above, and below them what happens in them.
  package static let overview = Page(
    "Overview", key: "1", does: "Overview, whole",
    panels: [EntriesPanel.self, InFlightPanel.self, LatencyPanel.self, LogPanel.self, LevelsPanel.self])
}
