/// What a key can do.
///
/// The key table says which key does which.
package enum Action: String, Sendable, CaseIterable {
  // Anywhere.
  case help, command, filter, nextMatch, previousMatch, back, overview
  case entries, requests, latency, config, log, models, whatIf
  case inspect, showValue, mask, explain, recent, latencyPart, reload
  case nextTrouble, previousTrouble, mark, wrap, stepBack, stepForward
  case nextPanel, previousPanel, up, down, pageUp, pageDown, first, last
  case sort, reverseSort, zoom, freeze, live
  case lessLog, moreLog
  case delete, expire, clear, warn
  case columnLeft, columnRight
  case copyKey, copyValue, exportView, resetFigures, undo, slower, faster
  case mouse, theme
  case redraw, suspend, interrupt, quit
  case firstCache, secondCache, bothCaches

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
