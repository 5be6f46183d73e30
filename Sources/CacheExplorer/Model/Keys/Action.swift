/// What a key can do.
///
/// The key table says which key does which.
package enum Action: Hashable, Sendable {
  // Anywhere.
  case help, command, palette, filter, back
  case inspect, showValue, mask, explain, recent
  case stepBack, stepForward, nextTrouble, previousTrouble
  case nextPanel, previousPanel, up, down, pageUp, pageDown, first, last
  case zoom, freeze, live
  case hidePanel, movePanel, usualPanels
  case delete, expire, clear, warn
  case columnLeft, columnRight
  case copyKey, copyValue, exportView, resetFigures, undo, slower, faster
  case mouse, theme
  case redraw, suspend, interrupt, quit
  case firstCache, secondCache, bothCaches
  /// What a panel understands, or the key of a screen: each declares it by a name of its own.
  case own(String)

  // While a recording is replayed.
  case playSlower, playFaster, earlier, later

  // In a line that is typed.
  case accept, cancel, complete
  case cursorLeft, cursorRight, lineStart, lineEnd
  case deleteBack, deleteForwards, deleteWord, deleteToStart
  case older, newer, searchHistory

  // In a question.
  case confirm
}
