import CacheEngineHitRatio
package import ExplorerText

/// What comes from the person or from the terminal.
package enum InputEvent: Equatable, Sendable, Codable {
  case key(Key)
  /// Text pasted in one go (bracketed paste), untrusted.
  case paste(String)
  case resized(Size)
  /// A button of the mouse was pressed, or its wheel turned; only while the mouse is ours.
  case mouse(Mouse)
  /// The window got the focus or lost it; only told while the mouse is ours.
  case focus(Bool)
  /// SIGINT, SIGTERM, SIGHUP or a closed terminal: leave now. `signal` gives the exit status 128 + signal.
  case terminate(signal: Int32)
  /// SIGTSTP from outside: stop as ^Z does.
  case suspend
  /// The process was continued: sizes may have changed and the screen must be redrawn.
  case resumed

  package struct Mouse: Equatable, Sendable, Codable {
    package enum Kind: String, Sendable, CaseIterable, Codable { case press, wheelUp, wheelDown }

    package var kind: Kind
    /// The cell, from the upper left corner.
    package var at: Point
    /// How many presses there were on this cell in quick succession: two make a double click.
    package var clicks = 1

    package init(kind: Kind, at: Point, clicks: Int = 1) {
      self.kind = kind
      self.at = at
      self.clicks = clicks
    }
  }

  package enum Key: Hashable, Sendable {
    case character(Character)
    case control(Character)  // ^A is .control("a")
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, home, end, pageUp, pageDown
    case function(Int)
  }
}
